package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"atrium/platform"
	"atrium/platform/core"
)

// maxData is the largest data, in bytes, that is sent with its body.
const maxData = 1 << 20

// audience is the audience that deliveries and their tokens name.
const audience = "customer"

// encodeData encodes the data of an event as JSON. The same event always gives
// the same bytes.
func encodeData(e *core.Event) ([]byte, error) {
	type data struct {
		Actor       core.EventActor `json:"actor"`
		Body        json.RawMessage `json:"body"`
		BodyOmitted bool            `json:"bodyOmitted,omitempty"`
		Denied      string          `json:"denied,omitempty"` // why the change was denied
	}
	encoded, err := json.Marshal(data{Actor: e.Actor, Body: e.Body, Denied: e.Denied})
	if err == nil && len(encoded) > maxData {
		encoded, err = json.Marshal(data{Actor: e.Actor, BodyOmitted: true, Denied: e.Denied})
	}
	return encoded, err
}

// setEventHeaders sets the headers of the binary mode of CloudEvents 1.0.
func setEventHeaders(header http.Header, e *core.Event, source string) {
	header.Set("Content-Type", "application/json")
	attributes := map[string]string{
		"ce-specversion": "1.0",
		"ce-id":          e.ID,
		"ce-source":      source,
		"ce-type":        e.DeliveredType(),
		"ce-subject":     string(e.Subject),
		"ce-time":        e.Time.String(),
		"ce-group":       string(e.Group),
		"ce-audience":    audience,
		"ce-traceparent": e.Cause, // the extension for distributed tracing
	}
	if e.Denied == "" { // the body of a denial is no resource
		attributes["ce-bodytype"], attributes["ce-identityprovider"] = platform.AllEventTypes().BodyOf(e), string(platform.AllEventTypes().IdentityProviderOf(e))
	}
	for name, value := range attributes {
		if value != "" { // CloudEvents allows no empty attribute
			header.Set(name, escapeAttribute(value))
		}
	}
}

// escapeAttribute encodes the value of an attribute for a header, by section
// 3.1.3.2 of the HTTP binding of CloudEvents: it percent-encodes the space, the
// quote, the percent sign and everything that is not printable ASCII.
func escapeAttribute(value string) string {
	var b strings.Builder
	for _, c := range []byte(strings.ToValidUTF8(value, "\uFFFD")) {
		if c <= ' ' || c == '"' || c == '%' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
