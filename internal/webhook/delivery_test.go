package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"atrium/platform/webhooks"
)

// These tests read and verify deliveries by the text of the specifications. The suite
// webhooks of e2e does so with the public libraries of CloudEvents and Standard
// Webhooks.

// readAttributes reads the attributes of a CloudEvent in binary mode.
func (r receivedRequest) readAttributes(t *testing.T) map[string]string {
	t.Helper()
	attributes := map[string]string{"datacontenttype": r.header.Get("Content-Type")}
	for name, values := range r.header {
		if name, found := strings.CutPrefix(strings.ToLower(name), "ce-"); found {
			attributes[name] = values[0]
			if len(values) != 1 || !attributeName.MatchString(name) {
				t.Errorf("the attribute %s has the values %q, want 1 of them", name, values)
			}
		}
	}
	return attributes
}

// attributeName matches the names of attributes that CloudEvents allows.
var attributeName = regexp.MustCompile(`^[a-z0-9]{1,20}$`)

// verify verifies the token of a delivery. Like a receiver, it knows only the URL of the
// service.
func (s *service) verify(t *testing.T, r receivedRequest) (claims, error) {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := strings.CutPrefix(r.header.Get("Authorization"), "Bearer ")
	token, err := provider.VerifierContext(t.Context(), &oidc.Config{ClientID: audience, Now: s.clock}).Verify(t.Context(), raw)
	if err != nil {
		return claims{}, err
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		t.Fatal(err)
	}
	// Existing receivers read the digest from an object. They do not know the
	// types of this package, so this test does not use them either.
	var members map[string]any
	if err := token.Claims(&members); err != nil {
		t.Fatal(err)
	}
	nested, _ := members["webhook"].(map[string]any)
	digest := sha256.Sum256(r.body)
	if nested["digest"] != "sha256:"+hex.EncodeToString(digest[:]) {
		return c, fmt.Errorf("the digest is of other data: %v", members)
	}
	if _, flat := members["webhook.digest"]; flat {
		t.Error("the token has a member named webhook.digest, which no receiver reads")
	}
	return c, nil
}

// verifySignature verifies a delivery by Standard Webhooks: one of its signatures must
// match the secret.
func (r receivedRequest) verifySignature(t *testing.T, secret string) error {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", r.header.Get("Webhook-Id"), r.header.Get("Webhook-Timestamp"), r.body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if signatures := strings.Fields(r.header.Get("Webhook-Signature")); !slices.Contains(signatures, want) {
		return fmt.Errorf("none of %q is %s", signatures, want)
	}
	return nil
}

func TestADeliveryIsAnEventOfCloudEvents(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	d := dispatch(sink)
	s.deliver(t, d)

	r := all()[0]
	got := r.readAttributes(t)
	want := map[string]string{
		"specversion": "1.0", "id": d.Event.ID, "source": s.URL, "type": d.Event.Type, "subject": string(repo),
		"time": "2026-03-27T13:54:59.000Z", "datacontenttype": "application/json",
		"group": string(group), "audience": "customer", "bodytype": "registry.Repo",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got the attributes %v, want %v", got, want)
	}
	if agent := r.header.Get("User-Agent"); agent != "atrium/test" {
		t.Errorf("the user agent is %q, want atrium/test", agent)
	}
	if _, sent := r.header["Idempotency-Key"]; sent {
		t.Error("the Idempotency-Key header was sent")
	}
}

// A sink must not take a denied change for one that was made.
func TestADeniedChangeIsAnEventOfAnotherType(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	d := dispatch(sink)
	d.Event.Denied, d.Event.Body = "Permission denied: capability repo.create is needed", json.RawMessage(`{"capability":"repo.create"}`)
	s.deliver(t, d)
	r := all()[0]
	attributes := r.readAttributes(t)
	if got, want := attributes["type"], strings.TrimSuffix(d.Event.Type, ".v1")+".denied.v1"; got != want {
		t.Errorf("the type is %s, want %s", got, want)
	}
	if got, given := attributes["bodytype"]; given {
		t.Errorf("the body, which is no resource, has the type %s", got)
	}
	var data struct {
		Denied string
		Body   map[string]string
	}
	if err := json.Unmarshal(r.body, &data); err != nil || data.Denied != d.Event.Denied || data.Body["capability"] != "repo.create" {
		t.Errorf("the data is %s: %v, want the reason and what was missing", r.body, err)
	}
}

func TestAnEventOfAMappingNamesItsProvider(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	provider := group + "/00000000000000ab"
	for _, verb := range []string{"created", "deleted", "deleted.batch"} {
		d := dispatch(sink)
		d.Event.Type, d.Event.Subject = "dev.atrium.api.iam.external_group_role_mappings."+verb+".v1", provider+"/00000000000000ac"
		s.deliver(t, d)
	}
	for _, r := range all() {
		attributes := r.readAttributes(t)
		if got := attributes["identityprovider"]; got != string(provider) {
			t.Errorf("identityprovider is %q, want %q", got, string(provider))
		}
		if got := attributes["bodytype"]; got != "iam.ExternalGroupRoleMapping" {
			t.Errorf("bodytype is %q, want iam.ExternalGroupRoleMapping", got)
		}
	}
}

func TestEveryAttemptHasTheSameDataAndId(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	for range 3 {
		s.deliver(t, dispatch(sink))
		s.advanceClock(time.Hour)
	}
	const want = `{"actor":{"subject":"` + string(root) + `/00000000000000ee","act":{"email":"ada@example.com","iss":"https://issuer.example","sub":"ada"}},` +
		`"body":{"uid":"` + string(repo) + `","name":"a\u003cb\u003e ü"}}`
	tokens := map[string]bool{}
	for _, r := range all() {
		if string(r.body) != want {
			t.Errorf("the data is\n%s, want\n%s", r.body, want)
		}
		if id := r.header.Get("webhook-id"); id != "019d2f5c-8e51-7000-8000-000000000001" || r.header.Get("ce-id") != id {
			t.Errorf("the ids are %q, want 019d2f5c-8e51-7000-8000-000000000001 and %q", id, r.header.Get("ce-id"))
		}
		tokens[r.header.Get("Authorization")] = true
	}
	if len(tokens) != 3 {
		t.Errorf("three attempts have %d tokens, want 3", len(tokens))
	}
}

func TestABodyThatIsTooLargeIsLeftOut(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	for _, size := range []int{maxData / 2, maxData} {
		d := dispatch(sink)
		d.Event.Body = json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		s.deliver(t, d)
	}
	if got := len(all()[0].body); got < maxData/2 {
		t.Errorf("data within the bound has %d bytes", got)
	}
	r := all()[1]
	if !bytes.HasSuffix(r.body, []byte(`},"body":null,"bodyOmitted":true}`)) {
		t.Errorf("the data is %.300s", r.body)
	}
	if _, err := s.verify(t, r); err != nil {
		t.Error(err)
	}
}

func TestAReceiverVerifiesTheTokenByDiscovery(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	s.deliver(t, dispatch(sink))

	r := all()[0]
	c, err := s.verify(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if want := "webhook:" + string(group); c.Subject != want {
		t.Errorf("the subject is %q, want %q", c.Subject, want)
	}
	if got := c.Expires - c.Issued; got != 300 || c.Issued != s.clock().Unix() || c.ID == "" {
		t.Errorf("the token is valid for %d s from %d, want 300 and %d, with the id %q", got, c.Issued, s.clock().Unix(), c.ID)
	}

	// The attacks are other data with a valid token, and a token that is used again
	// later.
	other := receivedRequest{r.header, append(bytes.Clone(r.body), ' ')}
	if _, err := s.verify(t, other); err == nil || r.verifySignature(t, secret) != nil || other.verifySignature(t, secret) == nil {
		t.Errorf("other data is accepted: %v", err)
	}
	s.advanceClock(tokenLifetime + time.Second)
	if _, err := s.verify(t, r); err == nil {
		t.Error("an old token is accepted")
	}
}

func TestTokensVerifyBeforeAndAfterAKeyIsRotated(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	s.deliver(t, dispatch(sink))
	s.keys = append(s.keys, newKey(t, 2))
	s.deliver(t, dispatch(sink))
	s.advanceClock(signerLifetime)
	s.deliver(t, dispatch(sink))

	var kids []string
	for i, r := range all() {
		if _, err := s.verify(t, r); err != nil {
			t.Errorf("delivery %d: %v", i, err)
		}
		kids = append(kids, strings.Split(r.header.Get("Authorization"), ".")[0])
	}
	if kids[0] != kids[1] || kids[1] == kids[2] {
		t.Error("the newer key does not sign within a minute, and only then")
	}
	s.keys = s.keys[1:] // This withdraws the first key.
	if _, err := s.verify(t, all()[0]); err == nil {
		t.Error("a token of a key that was withdrawn is accepted")
	}
}

func TestStandardWebhooksAcceptsEachSecretOfARotation(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	s := newService(t, http.DefaultClient)
	d := dispatch(sink)
	d.Secrets = []string{secret, oldSecret}
	s.deliver(t, d)
	s.deliver(t, dispatch(sink))

	both, one := all()[0], all()[1]
	for name, err := range map[string]error{
		"the new secret of two": both.verifySignature(t, secret),
		"the old secret of two": both.verifySignature(t, oldSecret),
		"the only secret":       one.verifySignature(t, secret),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if one.verifySignature(t, oldSecret) == nil {
		t.Error("a secret that has been retired verifies")
	}
	if got, want := both.header.Get("webhook-timestamp"), "1774619700"; got != want {
		t.Errorf("the timestamp is %s, want %s", got, want)
	}
	later := receivedRequest{both.header.Clone(), both.body}
	later.header.Set("webhook-timestamp", "1774619701")
	if later.verifySignature(t, secret) == nil {
		t.Error("the timestamp can be changed")
	}
}

func TestAttributesAreEscapedByTheHTTPBinding(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Euro € \U0001F600":          "Euro%20%E2%82%AC%20%F0%9F%98%80", // This is the example in the specification.
		`100% "sure"`:                "100%25%20%22sure%22",
		"https://a.example/~b?c=d&e": "https://a.example/~b?c=d&e",
		"a\r\nce-id: b":              "a%0D%0Ace-id:%20b",
		"\x7f\xff":                   "%7F%EF%BF%BD",
	} {
		if got := escapeAttribute(value); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

func TestAnEventThatCannotBeSignedIsNotSent(t *testing.T) {
	t.Parallel()
	sink, all := newSink(t)
	for _, c := range []struct {
		want  string
		spoil func(*service, *webhooks.Dispatch)
	}{
		{"the secret of the subscription is not valid", func(_ *service, d *webhooks.Dispatch) { d.Secrets = append(d.Secrets, "whsec_not base64") }},
		{"the secret of the subscription is not valid", func(_ *service, d *webhooks.Dispatch) { d.Secrets = nil }},
		{"the service could not sign the delivery", func(s *service, _ *webhooks.Dispatch) { s.err = errors.New("dial 10.0.0.7: the password is wrong") }},
		{"the service could not sign the delivery", func(s *service, _ *webhooks.Dispatch) { s.keys = nil }},
		{"the service could not sign the delivery", func(s *service, _ *webhooks.Dispatch) { s.keys[0].Material = []byte("x") }},
		{"the sink is not a URL", func(_ *service, d *webhooks.Dispatch) { d.Sink = "https://a.example:x/" }},
		{"the event cannot be written", func(_ *service, d *webhooks.Dispatch) { d.Event.Body = json.RawMessage("{") }},
	} {
		s, d := newService(t, http.DefaultClient), dispatch(sink)
		c.spoil(s, d)
		if got := s.Send(t.Context(), d); got != (webhooks.Attempt{Error: c.want}) {
			t.Errorf("got %+v, want %q", got, c.want)
		}
	}
	if n := len(all()); n != 0 {
		t.Errorf("%d were sent, want 0", n)
	}
}
