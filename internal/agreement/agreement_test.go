package agreement

import "testing"

func TestOnlyIntendedDifferencesAreIgnored(t *testing.T) {
	t.Parallel()
	const cursorA, cursorB = `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`, `"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"`
	for _, c := range []struct {
		name, tested, wanted string
		agree                bool
	}{
		{"equal answers", `{"data":{"a":1}}`, `{"data":{"a":1}}`, true},
		{"other values", `{"data":{"a":1}}`, `{"data":{"a":2}}`, false},
		{"another order of fields", `{"data":{"a":1,"b":2}}`, `{"data":{"b":2,"a":1}}`, false},
		{"null and an absent field", `{"data":{"a":null}}`, `{"data":{}}`, false},
		{"cursors", `{"data":{"c":` + cursorA + `}}`, `{"data":{"c":` + cursorB + `}}`, true},
		{"a cursor and none", `{"data":{"c":` + cursorA + `}}`, `{"data":{"c":null}}`, false},
		{"the order of errors", `{"errors":[{"message":"x"},{"message":"y"}],"data":null}`, `{"errors":[{"message":"y"},{"message":"x"}],"data":null}`, true},
		{"another error", `{"errors":[{"message":"x"}],"data":null}`, `{"errors":[{"message":"y"}],"data":null}`, false},
		{"an error less", `{"errors":[{"message":"x"}],"data":null}`, `{"errors":[{"message":"x"},{"message":"x"}],"data":null}`, false},
		{"the path of an error", `{"errors":[{"message":"x","path":["a",1]}],"data":null}`, `{"errors":[{"message":"x","path":["a",2]}],"data":null}`, false},
		{"locations below the root", `{"errors":[{"message":"x","path":["a",1],"locations":[{"line":1}]}],"data":null}`, `{"errors":[{"message":"x","path":["a",1]}],"data":null}`, true},
		{"locations of a root field", `{"errors":[{"message":"x","path":["a"],"locations":[{"line":1}]}],"data":null}`, `{"errors":[{"message":"x","path":["a"]}],"data":null}`, false},
		{"which of many errors are shown", `{"errors":[{"message":"x"},{"message":"2 more errors are not shown."}],"data":null}`,
			`{"errors":[{"message":"y"},{"message":"z"},{"message":"1 more errors are not shown."}],"data":null}`, true},
		{"the number of many errors", `{"errors":[{"message":"x"},{"message":"2 more errors are not shown."}],"data":null}`,
			`{"errors":[{"message":"x"},{"message":"3 more errors are not shown."}],"data":null}`, false},
		{"the cost", `{"data":{},"extensions":{"cost":1}}`, `{"data":{},"extensions":{"cost":2}}`, false},
	} {
		if difference := Difference([]byte(c.tested), []byte(c.wanted)); (difference == "") != c.agree {
			t.Errorf("%s: the difference is %q, want agreement: %t", c.name, difference, c.agree)
		}
	}
}

func TestAMaskKeepsWhichValuesAreEqual(t *testing.T) {
	t.Parallel()
	const a, b = "0123456789abcdef0123456789abcdef01234567", "1123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct{ sent, want string }{
		{`{"uid":"` + a + `","group":"` + a + `"}`, `{"uid":"<0>","group":"<0>"}`},
		{`{"uid":"` + b + `/0123456789abcdef","group":"` + b + `"}`, `{"uid":"<0>","group":"<1>"}`},
		{`{"id":"R3JvdXA6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nw","message":"\"R3JvdXA6MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nw\" is not a field"}`, `{"id":"Group:<0>","message":"\"Group:<0>\" is not a field"}`},
		{`{"etag":"\"oYQsc3zsWNs04gH747DER4aJ47DE.77GUWOwB\""}`, `{"etag":"<etag>"}`},
		{`{"createTime":"2026-03-27T13:55:00.785Z","name":"r1"}`, `{"createTime":"<time>","name":"r1"}`},
	} {
		if got := string(Mask([]byte(c.sent))); got != c.want {
			t.Errorf("%s is masked as %s, want %s", c.sent, got, c.want)
		}
	}
}
