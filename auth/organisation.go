package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"atrium/platform"
)

// OrganisationFile gives a reader of the organisations that an issuer lists, for
// platform.Options. It asks under the same guard as for keys: allowHosts are the
// hosts that may be private or plain http. Where the issuer answers that there is
// no such file it lists none.
func OrganisationFile(allowHosts []string) func(ctx context.Context, issuer string) ([]platform.UID, error) {
	return organisationFile(NewGuard(allowHosts).Client(fetchTimeout, maxDocument))
}

func organisationFile(client *http.Client) func(ctx context.Context, issuer string) ([]platform.UID, error) {
	return func(ctx context.Context, issuer string) ([]platform.UID, error) {
		listed, err := listedOrganisations(ctx, client, issuer)
		if err != nil {
			return nil, errors.New(shorten(err.Error()))
		}
		return listed, nil
	}
}

func listedOrganisations(ctx context.Context, client *http.Client, issuer string) ([]platform.UID, error) {
	if err := checkIssuerURL(issuer); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, platform.IssuerFileURL(issuer), nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // only read from
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	default:
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("unable to read response body: %w", err)
	}
	var document struct {
		Organisations []platform.UID `json:"organisations"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, errors.New("the file is no JSON object with a list of organisations")
	}
	return document.Organisations, nil
}
