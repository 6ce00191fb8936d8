package platform

import (
	"fmt"
	"strings"
	"time"
)

// Time is a moment in UTC with millisecond precision, in storage and on every
// wire. The zero value means that there is none.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At cuts t to what Atrium keeps of a moment.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Millisecond)}
}

// ParseTime reads an RFC 3339 timestamp in any zone.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	// RFC 3339 has years 0 to 9999 only, but a zone can push one out.
	if err != nil || t.UTC().Year() > 9999 || t.UTC().Year() < 0 {
		return Time{}, fmt.Errorf("must be an RFC 3339 timestamp such as 2026-03-27T13:55:00.785Z")
	}
	return At(t), nil
}

// String is the wire form, always with three decimals.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// MarshalJSON writes the wire form; fields are tagged omitzero, so that an
// absent time is left out.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads an RFC 3339 string; null is the zero Time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	parsed, err := ParseTime(strings.Trim(string(b), `"`))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
