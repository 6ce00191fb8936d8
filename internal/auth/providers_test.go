package auth

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

// A providerCase imitates what a provider gives, as its public documentation shows it: Microsoft's references of the claims of access
// tokens, those of Okta, Auth0 and Google, and the source of Dex (server/oauth2.go). The issuer is path below the URL of a test server.
type providerCase struct {
	path     string // of the issuer
	keysPath string
	key      map[string]any // members of the key in the key set, beside those of RSA
	header   string
	claims   map[string]any // beside iss, iat and exp
	says     string         // "" if the token is accepted
}

// The audiences of the server under test.
const (
	apiAudience = "https://atrium.test"
	appID       = "9f2c1a5e-6f0a-4d65-b6cf-2e3f6c0de0aa" // a client, as Entra ID, Google and Dex name it in aud
)

const jwtHeader = `{"typ":"JWT","alg":"RS256","kid":"k1"}`

func providerCases() map[string]providerCase {
	entra := map[string]any{
		"sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ", "oid": "00000000-0000-0000-66f3-3332eca7ea81", "tid": "9122040d-6c67-4c5b-b112-36a304b66dad",
		"aud": appID, "azp": appID, "azpacr": "0", "ver": "2.0", "name": "Ada", "preferred_username": "ada@example.com", "scp": "access", "uti": "0123", "aio": "AXQAi", "rh": "0.ARoA", "nbf": json.Number("1774619000"), "groups": []string{"b4d1a9a1-6f1e-4a3c-9a53-4a9d7f5f3a11"},
	}
	entraOld := map[string]any{ // version 1 has another issuer, another audience and other names
		"sub": entra["sub"], "oid": entra["oid"], "tid": entra["tid"], "aud": "api://" + appID, "appid": appID, "appidacr": "0", "acr": "1", "amr": []string{"pwd"}, "ver": "1.0", "scp": "access", "uti": "0123", "nbf": json.Number("1774619000"),
		"idp": "https://sts.windows.net/9122040d-6c67-4c5b-b112-36a304b66dad/", "unique_name": "ada@example.com", "upn": "ada@example.com", "ipaddr": "192.0.2.1",
	}
	entraKey := map[string]any{"x5t": "k1", "x5c": []string{"MIIC"}, "cloud_instance_name": "microsoftonline.com", "issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"}
	auth0 := map[string]any{"sub": "auth0|5f7c8ec7c33c6c004bbafe82", "aud": []string{apiAudience, "https://acme.eu.auth0.com/userinfo"}, "azp": "my_client_id", "scope": "openid profile email", "permissions": []string{}, "https://acme.example.com/groups": []string{"developers"}}
	okta := map[string]any{"ver": 1, "jti": "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE", "aud": apiAudience, "cid": "0oa1gjh63g214q0Iq0g4", "uid": "00u1gib5imj6MTJ0P0g4", "scp": []string{"openid", "groups"}, "auth_time": json.Number("1774619000"), "sub": "ada@example.com", "groups": []string{"Everyone"}}
	keycloak := map[string]any{
		"auth_time": json.Number("1774619000"), "jti": "onrtac:1f8b", "aud": []string{apiAudience, "account"}, "sub": "36fa0f91-f94d-4a0c-afed-6b7d952e47da", "typ": "Bearer", "azp": "console", "sid": "2a88c258", "acr": "1",
		"allowed-origins": []string{"https://atrium.test"}, "realm_access": map[string]any{"roles": []string{"offline_access", "uma_authorization"}}, "resource_access": map[string]any{"account": map[string]any{"roles": []string{"view-profile"}}},
		"scope": "openid email profile", "email_verified": true, "preferred_username": "ada", "email": "ada@example.com", "groups": []string{"/developers"},
	}
	google := map[string]any{"azp": appID, "aud": appID, "sub": "110169484474386276334", "hd": "example.com", "email": "ada@example.com", "email_verified": true, "at_hash": "HK6E_P6Dh8Y93mRNtsDB1Q", "nonce": "n", "name": "Ada", "picture": "https://lh3.example/p", "given_name": "Ada"}
	dex := map[string]any{"sub": "CgNhZGESBWxvY2Fs", "aud": appID, "email": "ada@example.com", "email_verified": true, "groups": []string{"developers"}, "name": "Ada", "preferred_username": "ada"}
	node := map[string]any{"jti": "Qk2", "sub": "ada", "scope": "openid", "client_id": "console", "aud": apiAudience}
	use := map[string]any{"use": "sig"}
	full := map[string]any{"use": "sig", "alg": "RS256"}
	return map[string]providerCase{
		"Entra ID, version 2":                   {"/9122040d/v2.0", "/9122040d/discovery/v2.0/keys", mergeClaims(entraKey, use), jwtHeader, entra, ""},
		"Entra ID, for Graph":                   {"/9122040d/v2.0", "/9122040d/discovery/v2.0/keys", mergeClaims(entraKey, use), `{"typ":"JWT","nonce":"x","alg":"RS256","x5t":"k1","kid":"k1"}`, mergeClaims(entra, map[string]any{"aud": "00000003-0000-0000-c000-000000000000"}), "the token's aud does not name this service"},
		"Entra ID, version 1":                   {"/9122040d/", "/common/discovery/keys", mergeClaims(entraKey, use), `{"typ":"JWT","alg":"RS256","x5t":"k1","kid":"k1"}`, entraOld, "the token's aud does not name this service"},
		"Auth0, whose issuer ends with a slash": {"/", "/.well-known/jwks.json", full, jwtHeader, auth0, ""},
		"Auth0, profile of RFC 9068":            {"/", "/.well-known/jwks.json", full, `{"typ":"at+jwt","alg":"RS256","kid":"k1"}`, mergeClaims(auth0, map[string]any{"client_id": "my_client_id", "jti": "73W"}), ""},
		"Okta, an authorization server":         {"/oauth2/default", "/oauth2/default/v1/keys", full, `{"kid":"k1","alg":"RS256"}`, okta, ""},
		"Okta, the server of the organization":  {"", "/oauth2/v1/keys", full, `{"kid":"k1","typ":"application/okta-internal-at+jwt","alg":"RS256"}`, mergeClaims(okta, map[string]any{"aud": "https://acme.okta.com"}), "such as those that an issuer makes for itself, are not for signing in; ask the issuer"},
		"Okta, the same without a type":         {"", "/oauth2/v1/keys", full, `{"kid":"k1","alg":"RS256"}`, mergeClaims(okta, map[string]any{"aud": "https://acme.okta.com"}), "the token's aud does not name this service"},
		"Okta, an ID token":                     {"", "/oauth2/v1/keys", full, `{"kid":"k1","alg":"RS256"}`, mergeClaims(okta, map[string]any{"aud": appID, "cid": nil, "scp": nil, "jti": "ID.radCQMOQUmyv", "amr": []string{"pwd"}, "idp": "00o1gg", "preferred_username": "ada@example.com", "at_hash": "fPlsvVszI29LU2UhDyJ9vg", "sub": "00u1gib5imj6MTJ0P0g4"}), ""},
		"Google, an ID token":                   {"", "/oauth2/v3/certs", full, jwtHeader, google, ""},
		"Keycloak":                              {"/realms/acme", "/realms/acme/protocol/openid-connect/certs", full, jwtHeader, keycloak, ""},
		"Keycloak, without an audience mapper":  {"/realms/acme", "/realms/acme/protocol/openid-connect/certs", full, jwtHeader, mergeClaims(keycloak, map[string]any{"aud": "account"}), "the token's aud does not name this service"},
		"Keycloak, without any audience":        {"/realms/acme", "/realms/acme/protocol/openid-connect/certs", full, jwtHeader, mergeClaims(keycloak, map[string]any{"aud": nil}), "the token's aud must be"},
		"Keycloak, lightweight and at+jwt":      {"/realms/acme", "/realms/acme/protocol/openid-connect/certs", full, `{"typ":"at+jwt","alg":"RS256","kid":"k1"}`, mergeClaims(keycloak, map[string]any{"realm_access": nil, "resource_access": nil}), ""},
		"Keycloak, a logout token":              {"/realms/acme", "/realms/acme/protocol/openid-connect/certs", full, `{"typ":"logout+jwt","alg":"RS256","kid":"k1"}`, mergeClaims(keycloak, map[string]any{"typ": "Logout"}), "typ must be"},
		"Dex":                                   {"/dex", "/dex/keys", full, `{"alg":"RS256","kid":"k1"}`, dex, ""},
		"oidc-provider":                         {"", "/jwks", full, `{"alg":"RS256","typ":"at+jwt","kid":"k1"}`, node, ""},
		"oidc-provider, for another resource":   {"", "/jwks", full, `{"alg":"RS256","typ":"at+jwt","kid":"k1"}`, mergeClaims(node, map[string]any{"aud": "https://other.test"}), "the token's aud does not name this service"},
		"a key that is for another algorithm":   {"", "/jwks", map[string]any{"use": "sig", "alg": "RS512"}, jwtHeader, node, "a key that its issuer does not have"},
	}
}

func TestTokensOfProvidersAreAcceptedAsTheyCome(t *testing.T) {
	t.Parallel()
	for name, c := range providerCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t, func(o *Options) { o.Audience = []string{apiAudience, appID} })
			f.directory.nobody = strings.Contains(c.says, "aud does not name") // No identity has an audience of its own.
			issuer := f.issuer.URL + c.path
			f.directory.setKnown(issuer, true)
			f.issuer.set(func() { f.issuer.override = c.serve(t, f.issuer.URL) })
			token := sign(testKeys().rsa, c.header, f.claims(mergeClaims(c.claims, map[string]any{"iss": issuer})))
			if c.says != "" {
				f.refuse(token, core.CodeUnauthenticated, c.says)
				return
			}
			f.accept(token)
			if got := f.directory.last(); got.Issuer != issuer || got.Subject != c.claims["sub"] || !got.ServiceAudience {
				t.Errorf("the claims are %+v, want the issuer %s, the subject %v and an audience of the service", got, issuer, c.claims["sub"])
			}
		})
	}
}

func mergeClaims(claims, more map[string]any) map[string]any {
	merged := maps.Clone(claims)
	maps.Copy(merged, more)
	return merged
}

// serve answers with the discovery document and the keys of the provider.
func (c *providerCase) serve(t *testing.T, base string) http.Handler {
	t.Helper()
	encoded, err := json.Marshal(jose.JSONWebKey{Key: testKeys().rsa.Public(), KeyID: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	var key map[string]any
	if err := json.Unmarshal(encoded, &key); err != nil {
		t.Fatal(err)
	}
	maps.Copy(key, c.key)
	issuer := base + c.path
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+strings.TrimSuffix(c.path, "/")+"/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": issuer, "jwks_uri": base + c.keysPath, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
			"response_types_supported": []string{"code", "id_token"}, "subject_types_supported": []string{"pairwise"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET "+c.keysPath, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{key}})
	})
	return mux
}

// A provider gives an opaque or an encrypted token to whoever asks for none of a service. The
// error says what to do.
func TestATokenThatOnlyItsProviderCanReadIsExplained(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for name, c := range map[string]struct{ token, says string }{
		"Google":        {"ya29.a0AfH6SMBx-abc", "opaque"},
		"oidc-provider": {"QkJ3b1pZc2hvcnQ", "opaque"},
		"Auth0":         {encode(`{"alg":"dir","enc":"A256GCM","iss":"https://acme.eu.auth0.com/"}`) + "..aXY.Y2lwaGVy.dGFn", "encrypted (JWE)"},
	} {
		t.Run(name, func(t *testing.T) {
			f.refuse(c.token, core.CodeUnauthenticated, c.says)
			f.refuse(c.token, core.CodeUnauthenticated, "ask the issuer for a signed JWT for this service")
		})
	}
	if n := len(f.directory.asked); n > 0 {
		t.Errorf("the directory was asked %d times, want none", n)
	}
}
