package events

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"atrium/platform"
)

// maxData bounds what is sent of an event.
const maxData = 1 << 20

// audience is whom deliveries and their tokens are for.
const audience = "customer"

// message is what an event says, always in the same bytes.
func message(e *platform.Event) ([]byte, error) {
	type data struct {
		Actor       platform.EventActor `json:"actor"`
		Body        json.RawMessage     `json:"body"`
		BodyOmitted bool                `json:"bodyOmitted,omitempty"`
	}
	encoded, err := json.Marshal(data{Actor: e.Actor, Body: e.Body})
	if err == nil && len(encoded) > maxData {
		encoded, err = json.Marshal(data{Actor: e.Actor, BodyOmitted: true})
	}
	return encoded, err
}

// describe sets the headers of the binary mode of CloudEvents 1.0.
func describe(header http.Header, e *platform.Event, source string) {
	header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{
		"ce-specversion":      "1.0",
		"ce-id":               e.ID,
		"ce-source":           source,
		"ce-type":             e.Type,
		"ce-subject":          string(e.Subject),
		"ce-time":             e.Time.String(),
		"ce-group":            string(e.Group),
		"ce-audience":         audience,
		"ce-bodytype":         e.BodyType(),
		"ce-identityprovider": string(e.IdentityProvider()),
	} {
		if value != "" { // no attribute is empty
			header.Set(name, escape(value))
		}
	}
}

// escape writes an attribute as the HTTP binding of CloudEvents has it (3.1.3.2):
// percent-encoded is all but the printable part of ASCII, and of that the
// space, the quote and the percent sign.
func escape(value string) string {
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
