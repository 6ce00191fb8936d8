package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// resourcePath is where clients find which issuers give tokens for this service (RFC 9728).
const resourcePath = "/.well-known/oauth-protected-resource"

// resource describes the service to clients that have no token yet. It names the issuers that
// the operator has configured. Those of organizations are for their own people only. The last two
// members are of our own: what `atrium login` needs, as the page of the console has it.
func (c *Config) resource(service string) http.Handler {
	type provider struct {
		Name       string            `json:"name,omitempty"`
		Issuer     string            `json:"issuer"`
		ClientID   string            `json:"client_id"`
		Scope      string            `json:"scope"`
		Parameters map[string]string `json:"parameters,omitempty"`
	}
	providers := []provider{}
	for _, p := range c.ConsoleProviders {
		providers = append(providers, provider{p.Name, p.Issuer, cmp.Or(p.LoginClientID, p.ClientID), p.Scope, p.Parameters})
	}
	text, err := json.Marshal(struct {
		Resource      string   `json:"resource"`
		Issuers       []string `json:"authorization_servers,omitempty"`
		Methods       []string `json:"bearer_methods_supported"`
		Documentation string   `json:"resource_documentation"`

		Providers []provider `json:"sign_in_providers"`
		Audiences []string   `json:"audiences"`
	}{service, c.signInIssuers(), []string{"header"}, service + "/guide", providers, c.Audience})
	if err != nil {
		panic(err) // Texts can always be encoded.
	}
	return readOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}))
}

// signInIssuers returns the issuers at which anyone may ask for a token.
func (c *Config) signInIssuers() []string {
	issuers := slices.Clone(c.TrustedIssuers)
	for _, provider := range c.ConsoleProviders {
		if !slices.Contains(issuers, provider.Issuer) {
			issuers = append(issuers, provider.Issuer)
		}
	}
	return issuers
}

// challenge completes the header WWW-Authenticate of a response with status 401: whether the
// token of the request was at fault (RFC 6750), and where the service describes itself. Clients
// know its address only if the operator has set one.
func (r *recorder) challenge(request *http.Request) string {
	var parameters []string
	if scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && token != "" {
		parameters = append(parameters, `error="invalid_token"`)
	}
	if r.publicURL != "" {
		parameters = append(parameters, `resource_metadata="`+r.publicURL+resourcePath+`"`)
	}
	return strings.TrimSuffix("Bearer "+strings.Join(parameters, ", "), " ")
}
