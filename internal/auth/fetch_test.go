package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

func TestAMisbehavingIssuerHasNoKeys(t *testing.T) {
	t.Parallel()
	big := strings.Repeat(" ", 2<<20)
	for _, c := range []struct {
		name    string
		breakIt func(*testIssuer)
		log     string
	}{
		{"another issuer in the document", func(i *testIssuer) { i.issuer = "https://other.example" }, "did not match"},
		{"a trailing slash more in the document", func(i *testIssuer) { i.issuer = i.URL + "/" }, "did not match"},
		{"discovery redirects", func(i *testIssuer) {
			i.override = http.RedirectHandler("/elsewhere", http.StatusFound)
		}, "redirects are not followed"},
		{"keys redirect", func(i *testIssuer) { i.keysURL = i.URL + "/moved"; i.override = redirectKeys(i) }, "redirects are not followed"},
		{"keys of 2 MiB", func(i *testIssuer) {
			i.override = answerKeys(i, func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, `{"keys":[`+big+`]}`) })
		}, "too large"},
		{"a document of 2 MiB", func(i *testIssuer) {
			i.override = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, big) })
		}, "too large"},
		{"an error of 1 KiB", func(i *testIssuer) {
			i.override = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = fmt.Fprint(w, strings.Repeat("é", 512))
			})
		}, "500"},
		{"an error of 2 MiB", func(i *testIssuer) {
			i.override = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = fmt.Fprint(w, big)
			})
		}, ""},
		{"keys over plain http on a host that is not allowed", func(i *testIssuer) { i.keysURL = "http://keys.example/" }, "must be https"},
		{"keys at a private address", func(i *testIssuer) { i.keysURL = "https://localhost:1/" }, "private address"},
		{"no address of keys", func(i *testIssuer) { i.keysURL = "keys" }, "must be https"},
		{"keys are no JSON", func(i *testIssuer) {
			i.override = answerKeys(i, func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "<html>") })
		}, "invalid character"},
		{"an object without keys", func(i *testIssuer) {
			i.override = answerKeys(i, func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "{}") })
		}, "no keys in the document"},
		{"a thousand keys", func(i *testIssuer) {
			i.override = answerKeys(i, func(w http.ResponseWriter) {
				_, _ = fmt.Fprint(w, `{"keys":[`+strings.Repeat(`{"kty":"EC"},`, 999)+`{"kty":"EC"}]}`)
			})
		}, "more than 100 keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t)
			f.issuer.set(func() { c.breakIt(f.issuer) })
			f.refuse(f.token(nil), core.CodeUnavailable, "cannot be fetched")
			var entry struct{ Issuer, Error string }
			if err := json.Unmarshal(f.log.Bytes(), &entry); err != nil {
				t.Fatalf("%v in %q", err, f.log)
			}
			if entry.Issuer != f.issuer.URL || !strings.Contains(entry.Error, c.log) || len(entry.Error) > 200 {
				t.Errorf("logged %d bytes: %s", len(entry.Error), f.log)
			}
		})
	}
}

func TestAnIssuerAtAPrivateAddressIsNeverReached(t *testing.T) {
	t.Parallel()
	f := setUp(t, func(o *Options) { o.Guard = nil })
	f.refuse(f.token(nil), core.CodeUnavailable, "cannot be fetched")

	// The name is allowed, but it resolves to a private address.
	named := strings.Replace(f.issuer.URL, "127.0.0.1", "localhost", 1)
	f.directory.setKnown(named, true)
	f.refuse(f.token(map[string]any{"iss": named}), core.CodeUnavailable, "cannot be fetched")

	if f.issuer.discoveries.Load() != 0 {
		t.Error("the issuer was reached")
	}
	if n := strings.Count(f.log.String(), "private address"); n != 2 {
		t.Errorf("%d entries, want 2: %s", n, f.log)
	}
}

func TestAnAllowedHostMayBePlainHTTP(t *testing.T) {
	t.Parallel()
	plain := startIssuer(t, false)
	f := setUp(t, func(o *Options) { o.Guard = NewGuard([]string{plain.Listener.Addr().String()}) })
	f.directory.setKnown(plain.URL, true)
	f.accept(f.token(map[string]any{"iss": plain.URL}))
}

func TestAnIssuerWithAnUnusualURLIsNotFetched(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, issuer := range []string{"accounts.example", "https://", "https://a.example?x", "https://a.example#x", "https://u@a.example", "file:///etc/passwd", "https://a b"} {
		f.directory.setKnown(issuer, true)
		f.refuse(f.token(map[string]any{"iss": issuer}), core.CodeUnavailable, "cannot be fetched")
	}
}

func TestAnUnknownKindOfKeyDoesNotPreventTheOthers(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	good, err := json.Marshal(jose.JSONWebKey{Key: testKeys().ec.Public(), KeyID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	f.issuer.set(func() {
		f.issuer.override = answerKeys(f.issuer, func(w http.ResponseWriter) {
			_, _ = fmt.Fprintf(w, `{"keys":[{"kty":"post-quantum"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},7,%s]}`, good)
		})
	})
	f.accept(f.token(nil))
}

// answerKeys answers requests for the key set with answer, and discovery as usual.
func answerKeys(i *testIssuer, answer func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			answer(w)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
}

func redirectKeys(i *testIssuer) http.Handler {
	return answerKeys(i, func(w http.ResponseWriter) {
		w.Header().Set("Location", i.URL+"/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
}
