package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A decoding collects the violations of a body.
type decoding struct{ malformed []fieldmask.Violation }

func (d *decoding) add(field, description string) {
	d.malformed = append(d.malformed, fieldmask.Violation{Field: field, Description: description})
}

// isJSON checks that a body is JSON. An empty body counts as an empty object.
func (d *decoding) isJSON(body []byte) bool {
	if len(bytes.TrimSpace(body)) == 0 {
		return true
	}
	err := fieldmask.CheckJSON(body)
	if err != nil {
		d.add("body", err.Error())
	}
	return err == nil
}

// object returns the members of a JSON object, each in either spelling. prefix is the path
// of the object in the body, or "" for the whole body. An absent object has no members.
func (d *decoding) object(prefix string, raw []byte, known ...string) map[string]json.RawMessage {
	given, ok := d.allMembers(prefix, raw)
	if !ok {
		return nil
	}
	members := map[string]json.RawMessage{}
	for _, name := range known {
		for _, spelling := range (parameter{name: name}).spellings() {
			if value, ok := given[spelling]; ok {
				if members[name] != nil {
					d.add(prefix+name, "is given twice")
				}
				members[name] = value
				delete(given, spelling)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		d.add(prefix+fieldmask.TruncateForMessage(name), "is not a field of this request")
	}
	return members
}

// allMembers returns all members of a JSON object, each of which may occur only once.
func (d *decoding) allMembers(prefix string, raw []byte) (given map[string]json.RawMessage, ok bool) {
	given = map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return given, true
	}
	if json.Unmarshal(raw, &given) != nil {
		d.add(cmp.Or(strings.TrimSuffix(prefix, "."), "body"), "must be a JSON object")
		return nil, false
	}
	seen := map[string]bool{}
	members := json.NewDecoder(bytes.NewReader(raw))
	_, _ = members.Token() // raw is valid, so reading cannot fail
	for members.More() {
		token, _ := members.Token()
		name, _ := token.(string)
		if seen[name] {
			d.add(prefix+fieldmask.TruncateForMessage(name), "is given twice")
		}
		seen[name] = true
		_ = members.Decode(&json.RawMessage{})
	}
	return given, true
}

func (d *decoding) uid(field string, raw json.RawMessage) core.UID {
	var uid core.UID
	if raw != nil && json.Unmarshal(raw, &uid) != nil {
		d.add(field, "must be a string")
	}
	return uid
}

func (d *decoding) text(field string, raw json.RawMessage) string {
	var s string
	if raw != nil && json.Unmarshal(raw, &s) != nil {
		d.add(field, "must be a string")
	}
	return s
}

func (d *decoding) texts(field string, raw json.RawMessage) []string {
	var list []string
	if raw != nil && json.Unmarshal(raw, &list) != nil {
		d.add(field, "must be a list of strings")
	}
	return list
}
