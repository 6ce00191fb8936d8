package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// OrganizationFile returns a function that fetches the list of organizations in the
// file of an issuer, for platform.Options. The guard decides which issuers may be asked.
// If the issuer has no such file, the list is empty.
func OrganizationFile(guard *Guard) func(ctx context.Context, issuer string) ([]core.UID, error) {
	return newOrganizationReader(guard.Client(fetchTimeout, maxDocument))
}

func newOrganizationReader(client *http.Client) func(ctx context.Context, issuer string) ([]core.UID, error) {
	return func(ctx context.Context, issuer string) ([]core.UID, error) {
		listed, err := fetchOrganizations(ctx, client, issuer)
		if err != nil {
			return nil, errors.New(shorten(err.Error()))
		}
		return listed, nil
	}
}

// fetchOrganizations fetches the file of issuer and returns its list.
func fetchOrganizations(ctx context.Context, client *http.Client, issuer string) ([]core.UID, error) {
	if err := checkIssuerURL(issuer); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, iam.IssuerFileURL(issuer), nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	default:
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read response body: %w", err)
	}
	var document struct {
		Organizations []core.UID `json:"organizations"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, errors.New("the file is not a JSON object with a list of organizations")
	}
	return document.Organizations, nil
}
