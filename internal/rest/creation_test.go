package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"atrium/platform/fieldmask"
)

// Terraform and similar clients refuse a server whose answer to a creation differs from
// what they read next.
func TestTheAnswerToAChangeEqualsTheReadAfterIt(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	requests := w.requests()
	n, kinds, answered := 0, 0, 0
	for _, r := range routes(w.p) {
		request := requests[r.name]
		if r.kind == nil || r.name != "Create"+r.kind.name || request == nil {
			continue
		}
		kinds++
		prefix, _, _ := strings.Cut(r.pattern, "{")
		for _, given := range emptyFields(r.kind.resource, r.kind.fields) {
			n++
			parent, _, body := request(n)
			made := w.do(http.MethodPost, prefix+parent, mergeObjects(t, body, given))
			if made.status == http.StatusBadRequest {
				continue
			}
			answered++
			delete(made.expectStatus(http.StatusOK).json, "secret") // Only this answer shows the secret of a subscription,
			delete(made.json, "code")                               // and the code of an invitation.
			path := prefix + made.text("uid")
			if read := w.get(path); !reflect.DeepEqual(made.json, read.json) {
				t.Errorf("%s with %s: answered %s, read %s", r.name, given, made.raw, read.raw)
			}
			if requests["Update"+r.kind.name] == nil {
				continue
			}
			if changed := w.do(http.MethodPatch, path, given); changed.status != http.StatusBadRequest {
				if read := w.get(path); changed.expectStatus(http.StatusOK).raw != read.raw {
					t.Errorf("Update%s with %s: answered %s, read %s", r.kind.name, given, changed.raw, read.raw)
				}
			}
		}
	}
	if kinds < 10 || answered < 50 {
		t.Errorf("compared %d answers of %d kinds, want at least 50 of 10", answered, kinds)
	}
}

func TestNullAndAnEmptyTextMeanThatAnOptionalFieldIsAbsent(t *testing.T) {
	t.Parallel()
	w := newPopulated(t)
	requests := w.requests()
	n := 0
	for _, r := range routes(w.p) {
		request := requests[r.name]
		if r.kind == nil || r.name != "Create"+r.kind.name || request == nil {
			continue
		}
		prefix, _, _ := strings.Cut(r.pattern, "{")
		for _, given := range emptyFields(r.kind.resource, r.kind.fields) {
			n++
			parent, _, body := request(n)
			name, value, _ := strings.Cut(strings.Trim(given, "{}"), ":")
			if (value != "null" && value != `""`) || strings.Contains(body, name) {
				continue
			}
			if made := w.do(http.MethodPost, prefix+parent, mergeObjects(t, body, given)); made.status != http.StatusOK {
				t.Errorf("%s with %s: %s, want an absent field", r.name, given, made.raw)
			}
		}
	}
	const said = "null means that an optional field is absent"
	if text := describe(listRoutes(w.p)).Info.Description; !strings.Contains(text, said) {
		t.Errorf("the description of the API does not say %q", said)
	}
}

// emptyFields returns bodies, each of which has one field that is empty or contains only
// what is empty. The first has no field.
func emptyFields(resource reflect.Type, fields []fieldmask.Field) []string {
	bodies := []string{"{}"}
	for member := range resource.Fields() {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		if f := fieldmask.FindField(fields, name); f != nil && (f.Mode == fieldmask.AtCreation || f.Mode == fieldmask.Updatable) {
			for _, value := range emptyValues(member.Type) {
				bodies = append(bodies, fmt.Sprintf(`{%q:%s}`, name, value))
			}
		}
	}
	return bodies
}

func emptyValues(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	values := []string{"null"}
	switch t.Kind() {
	case reflect.String:
		values = append(values, `""`)
	case reflect.Bool:
		values = append(values, "false")
	case reflect.Slice:
		values = append(values, "[]")
		for _, item := range emptyValues(t.Elem()) {
			values = append(values, "["+item+"]")
		}
	case reflect.Map:
		values = append(values, "{}")
		for _, value := range emptyValues(t.Elem()) {
			values = append(values, `{"7":`+value+`}`)
		}
	case reflect.Struct:
		values = append(values, "{}")
		for member := range t.Fields() {
			if name, _, _ := strings.Cut(member.Tag.Get("json"), ","); name != "" && name != "-" {
				for _, value := range emptyValues(member.Type) {
					values = append(values, fmt.Sprintf(`{%q:%s}`, name, value))
				}
			}
		}
	default:
	}
	return values
}

// mergeObjects returns an object with the members of two. Objects in both are merged.
func mergeObjects(t *testing.T, body, given string) string {
	t.Helper()
	var all, more map[string]any
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(given), &more); err != nil {
		t.Fatal(err)
	}
	merge(all, more)
	merged, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(merged)
}

func merge(all, more map[string]any) {
	for name, value := range more {
		object, isObject := all[name].(map[string]any)
		if inner, alsoObject := value.(map[string]any); isObject && alsoObject {
			merge(object, inner)
		} else {
			all[name] = value
		}
	}
}
