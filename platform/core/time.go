package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Time is a time in UTC with millisecond precision, in the store and in every
// protocol. The zero value means "not set".
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At converts t to UTC and truncates it to milliseconds.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Millisecond)}
}

// NoDeadline is what a list that is sorted by a deadline takes for the deadline of a row without one.
var NoDeadline = At(time.Date(9999, time.December, 31, 23, 59, 59, 999_000_000, time.UTC))

// OrNoDeadline returns NoDeadline if t is not set, and otherwise t.
func (t Time) OrNoDeadline() Time {
	if t.IsZero() {
		return NoDeadline
	}
	return t
}

// ParseTime reads an RFC 3339 timestamp in any zone.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	// Timestamps of protobuf and PostgreSQL have no year 0. RFC 3339 has no years after 9999. A
	// time zone can move a time out of this range.
	if err != nil || t.UTC().Year() > 9999 || t.UTC().Year() < 1 {
		return Time{}, fmt.Errorf("must be an RFC 3339 timestamp such as 2026-03-27T13:55:00.785Z")
	}
	return At(t), nil
}

// String returns the wire form, always with three decimals.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// Append appends the wire form. Package time has a fast path for RFC 3339 without
// decimals.
func (t Time) Append(b []byte) []byte {
	utc := t.UTC()
	b = utc.AppendFormat(b, time.RFC3339)
	ms := utc.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-len("Z")], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// MarshalJSON writes the wire form. Fields are tagged omitzero to leave absent
// times out.
func (t Time) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, len(timeLayout)+8), '"')
	return append(t.Append(b), '"'), nil
}

// UnmarshalJSON reads an RFC 3339 string; null is the zero Time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	parsed, err := ParseTime(decodeText(b))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

// decodeText decodes a string in JSON. It returns other values, such as numbers, as they are.
func decodeText(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return string(b)
	}
	return s
}

// A Duration is a length of time, in seconds on every wire: "3600s".
type Duration time.Duration

// String returns the wire form.
func (d Duration) String() string {
	return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64) + "s"
}

// MarshalJSON writes the wire form.
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// UnmarshalJSON reads the wire form; null is the zero Duration.
func (d *Duration) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*d = 0
		return nil
	}
	parsed, err := ParseDuration(decodeText(b))
	*d = parsed
	return err
}

// ParseDuration reads seconds with at most nine decimals, such as 3600s.
func ParseDuration(s string) (Duration, error) {
	digits, found := strings.CutSuffix(s, "s")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
	parsed, err := time.ParseDuration(s)
	if !found || err != nil || strings.Trim(whole+fraction, "0123456789") != "" || len(fraction) > 9 {
		return 0, errors.New("must be a number of seconds such as 3600s")
	}
	return Duration(parsed), nil
}

// An Int64 is a whole number that is a string in JSON, because many JSON parsers
// support only 53 bits.
type Int64 int64

// MarshalJSON writes a string of decimal digits.
func (n Int64) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"%d"`, int64(n)), nil }

// UnmarshalJSON reads a string or a number; null is 0.
func (n *Int64) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = 0
		return nil
	}
	parsed, err := strconv.ParseInt(decodeText(b), 10, 64)
	if err != nil {
		return errors.New("must be a whole number of 64 bits")
	}
	*n = Int64(parsed)
	return nil
}

// A ChangeFilter restricts a list by when its rows were made and last changed. Only GraphQL
// offers it.
type ChangeFilter struct {
	CreatedSince  Time `json:",omitzero"` // the row was made at this time or later
	UpdatedSince  Time `json:",omitzero"` // the last update is at this time or later
	UpdatedBefore Time `json:",omitzero"` // the last update is before this time
}

// CheckChanges checks the times. Every list of rows with such a filter calls it.
func (f *ChangeFilter) CheckChanges(v *Violations) {
	v.CheckTimes("updatedSince", f.UpdatedSince, "updatedBefore", f.UpdatedBefore)
}
