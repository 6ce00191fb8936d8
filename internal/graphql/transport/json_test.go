package transport

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzReadValue compares the decoder with encoding/json.
func FuzzReadValue(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e3, true,false ,null, "x\\\"y\u00e4\ud83d\ude00" , {"b":{}} ] , "a":2, "":"]},{" } `, `null`, `"x"`, `12345678901234567890`,
		`{"a":1,}`, `[1`, `{"a" 1}`, "{\"a\":\"\t\"}", `[[[]],[{}]]`, `{"\u0061":1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		var want map[string]any
		isObject := json.Valid([]byte(text)) && decoder.Decode(&want) == nil
		var got map[string]any
		if ok := decodeObject([]byte(text), &got); ok != isObject || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v %v, want %v %v", text, ok, got, isObject, want)
		}
		var raw map[string]json.RawMessage
		isObject = json.Unmarshal([]byte(text), &raw) == nil && raw != nil
		members, ok := readMembers([]byte(text))
		if ok != isObject {
			t.Errorf("%q is an object: %v, want %v", text, ok, isObject)
		}
		for i, name := range memberNames {
			if !bytes.Equal(members[i], raw[name]) {
				t.Errorf("%q: %s is %q, want %q", text, name, members[i], raw[name])
			}
		}
	})
}
