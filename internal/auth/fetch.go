package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	fetchTimeout = 5 * time.Second // time limit of discovery and keys together
	maxDocument  = 1 << 20         // largest size in bytes
	maxErrorText = 200             // largest size in bytes of an error, which can contain an answer of the issuer
)

// A fetcher asks issuers for their keys.
type fetcher struct {
	guard  *Guard
	client *http.Client
}

// fetch returns the keys to which the discovery document of issuer points. It
// leaves out keys that cannot verify a token. An empty set is a valid result: the
// issuer has withdrawn its keys.
func (f fetcher) fetch(ctx context.Context, issuer string) ([]publicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	keys, err := f.discover(ctx, issuer)
	if err != nil {
		return nil, errors.New(shorten(err.Error()))
	}
	return keys, nil
}

// discover fetches the discovery document of issuer, and the keys to which it points.
func (f fetcher) discover(ctx context.Context, issuer string) ([]publicKey, error) {
	if err := checkIssuerURL(issuer); err != nil {
		return nil, err
	}
	// NewProvider compares the document's issuer with ours byte for byte.
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, f.client), issuer)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var document struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	keys, err := f.fetchKeys(ctx, document.KeysURL)
	if err != nil {
		return nil, fmt.Errorf("get key set: %w", err)
	}
	return keys, nil
}

// fetchKeys fetches a key set.
func (f fetcher) fetchKeys(ctx context.Context, address string) ([]publicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read response body: %w", err)
	}
	return parseKeySet(body)
}

// parseKeySet reads a JWKS and leaves out the keys that cannot verify a token.
func parseKeySet(document []byte) ([]publicKey, error) {
	raw, err := splitKeySet(document)
	if err != nil {
		return nil, err
	}
	return parseKeys(raw), nil
}

// splitKeySet reads a JWKS, but not its keys.
func splitKeySet(document []byte) ([]json.RawMessage, error) {
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, err
	}
	switch {
	case set.Keys == nil:
		return nil, errors.New("there are no keys in the document")
	case len(set.Keys) > maxKeys:
		return nil, fmt.Errorf("there are more than %d keys in the document", maxKeys)
	}
	return set.Keys, nil
}

// parseKeys reads keys and leaves out those that cannot verify a token.
func parseKeys(all []json.RawMessage) []publicKey {
	keys := []publicKey{}
	for _, raw := range all {
		// A key of an unknown kind must not prevent the use of the others.
		if key, ok := parseKey(raw); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// parseKey reads a key. It reports false if the key cannot verify a token.
func parseKey(raw []byte) (publicKey, bool) {
	var members map[string]json.RawMessage
	var use struct {
		Operations []string `json:"key_ops"`
	}
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(raw, &use) != nil {
		return publicKey{}, false
	}
	if use.Operations != nil && !slices.Contains(use.Operations, "verify") {
		return publicKey{}, false
	}
	// go-jose drops a key whose certificates it cannot read, and nothing here uses them.
	for _, name := range []string{"x5c", "x5t", "x5t#S256", "x5u"} {
		delete(members, name)
	}
	var jwk jose.JSONWebKey
	if rest, err := json.Marshal(members); err != nil || json.Unmarshal(rest, &jwk) != nil {
		return publicKey{}, false
	}
	return toPublicKey(jwk)
}

// checkIssuerURL refuses an issuer from which discovery would build a different URL.
func checkIssuerURL(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(issuer, "?#") {
		return errors.New("the issuer is not a URL of scheme, host and path")
	}
	return nil
}

// shorten limits a text from outside to maxErrorText bytes, for logs.
func shorten(s string) string {
	if len(s) > maxErrorText {
		s = s[:maxErrorText]
	}
	return strings.ToValidUTF8(s, "")
}
