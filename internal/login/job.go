package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A Job is the job of a CI system that this program runs in.
type Job struct {
	// IDToken is the token that GitLab has put into a variable.
	IDToken string

	// RequestURL is where a job of GitHub Actions gets its token with RequestToken.
	RequestURL, RequestToken string
}

// FindJob finds the job in whose environment the program runs, if it has an ID token.
func FindJob(env func(name string) string) (job Job, found bool) {
	job = Job{env("ATRIUM_ID_TOKEN"), env("ACTIONS_ID_TOKEN_REQUEST_URL"), env("ACTIONS_ID_TOKEN_REQUEST_TOKEN")}
	return job, job.IDToken != "" || job.RequestURL != "" && job.RequestToken != ""
}

// JobToken returns an ID token of a job for a server. Without an audience it is for the first that the server names, if that is not
// the name of another server.
func (c *Client) JobToken(ctx context.Context, job Job, server *url.URL, audience string) (string, error) {
	if err := checkURL(server.String()); err != nil {
		return "", fmt.Errorf("the ID token of this job is not sent: the server %s %w", server, err)
	}
	if job.IDToken != "" {
		for _, named := range ReadClaims(job.IDToken).Audience {
			if err := CheckAudience(server, named); err != nil && named != audience {
				return "", fmt.Errorf("$ATRIUM_ID_TOKEN is a token for %s, and not for %s; if both are one service, say so with --audience %[1]s", named, server)
			}
		}
		return job.IDToken, nil
	}
	if audience == "" {
		said, err := c.Describe(ctx, server)
		if err != nil {
			return "", fmt.Errorf("the audience of the ID token is not known (name it with --audience): %w", err)
		}
		if len(said.Audiences) == 0 {
			return "", fmt.Errorf("%s does not name the audience of its tokens; name it with --audience", server)
		}
		audience = said.Audiences[0]
		if of, err := url.Parse(audience); !IsThisMachine(server.Hostname()) && (err != nil || of.Host == "") {
			return "", fmt.Errorf("%s asks for an ID token for %q, which other servers may accept too; name the audience with --audience", server, audience)
		}
		if err := CheckAudience(server, audience); err != nil {
			return "", err
		}
	}
	return c.requestJobToken(ctx, job, audience)
}

func (c *Client) requestJobToken(ctx context.Context, job Job, audience string) (string, error) {
	from, err := url.Parse(job.RequestURL)
	if err != nil || checkURL(job.RequestURL) != nil {
		return "", errors.New("$ACTIONS_ID_TOKEN_REQUEST_URL must be an https URL")
	}
	query := from.Query()
	query.Set("audience", audience)
	from.RawQuery = query.Encode()
	response, err := c.get(ctx, from.String(), job.RequestToken)
	if err != nil {
		return "", fmt.Errorf("GitHub gives no ID token: %w", unwrapURL(err))
	}
	defer response.Body.Close()
	var answer struct{ Value string }
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&answer) != nil || answer.Value == "" {
		return "", fmt.Errorf("GitHub gives no ID token (status %d); the job needs the permission id-token: write", response.StatusCode)
	}
	return answer.Value, nil
}
