package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestATimeAlwaysHasThreeDecimals(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-03-27T13:55:00Z":             "2026-03-27T13:55:00.000Z",
		"2026-03-27T13:55:00.7Z":           "2026-03-27T13:55:00.700Z",
		"2026-03-27T13:55:00.785Z":         "2026-03-27T13:55:00.785Z",
		"2026-03-27T13:55:00.785999999Z":   "2026-03-27T13:55:00.785Z",
		"2026-03-27T15:55:00.785+02:00":    "2026-03-27T13:55:00.785Z",
		"2026-12-31T23:59:59.999999-01:00": "2027-01-01T00:59:59.999Z",
		"1969-12-31T23:59:59.9995Z":        "1969-12-31T23:59:59.999Z",
	} {
		got, err := ParseTime(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		b, err := json.Marshal(got)
		if err != nil || string(b) != `"`+want+`"` {
			t.Errorf("%s: marshalled to %s (%v)", in, b, err)
		}
	}
}

func TestInvalidTimestampsAreRejected(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "now", "2026-03-27", "2026-03-27 13:55:00Z", "2026-03-27T13:55:00", "2026-13-27T13:55:00Z", "2026-02-30T00:00:00Z",
		"2026-03-27T25:00:00Z", "1711547700", "9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00", "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+01:00", "2026-03-27T13:55:00Z\n",
	} {
		if got, err := ParseTime(in); err == nil {
			t.Errorf("%q is taken for %s", in, got)
		}
	}
}

// Some programs that write JSON escape + and digits, which is valid.
func TestTextsInJSONMayHoldEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"2027-01-01T00:00:00\u002B01:00"`: `2026-12-31T23:00:00.000Z`, `"36\u00300s"`: "3600s", `"1\u0032"`: "12", `12`: "12",
		`1711547700`: "1711547700", `"\"12\""`: "", `"\u00222026-03-27T13:55:00Z\u0022"`: "", `["12"]`: "", `true`: "", `""`: "", `1e3`: "",
	} {
		var at Time
		var ttl Duration
		var n Int64
		read := ""
		if json.Unmarshal([]byte(in), &at) == nil {
			read += at.String()
		}
		if json.Unmarshal([]byte(in), &ttl) == nil {
			read += ttl.String()
		}
		if json.Unmarshal([]byte(in), &n) == nil {
			read += strconv.FormatInt(int64(n), 10)
		}
		if read != want {
			t.Errorf("%s is read as %q, want %q", in, read, want)
		}
	}
}

func TestAnAbsentTimeIsLeftOut(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(thing{UID: rootA, Name: "acme"})
	if err != nil || strings.Contains(string(b), "Time") {
		t.Errorf("%s (%v)", b, err)
	}
	if !At(time.Time{}).IsZero() {
		t.Error("the time of nothing is something")
	}
	var got thing
	if err := json.Unmarshal([]byte(`{"createTime": null, "updateTime": "2026-03-27T13:55:00Z"}`), &got); err != nil || !got.CreateTime.IsZero() || got.UpdateTime.IsZero() {
		t.Errorf("%v (%v)", got, err)
	}
}

func FuzzTime(f *testing.F) {
	f.Add("2026-03-27T13:55:00.785Z")
	f.Add("9999-12-31T23:59:59.999-23:59")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime(s)
		if err != nil {
			return
		}
		wire := got.String()
		if len(wire) != len(timeLayout) {
			t.Fatalf("%q is written %q, want %v of them", s, wire, len(timeLayout))
		}
		again, err := ParseTime(wire)
		if err != nil || again != got {
			t.Fatalf("%q is written %q, which reads %s, want %s (%v)", s, wire, again, got, err)
		}
	})
}
