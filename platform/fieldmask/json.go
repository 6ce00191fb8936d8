package fieldmask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSON fails with a plain explanation if b is not one valid JSON value. It
// rejects lone surrogates, which would be stored as U+FFFD.
func CheckJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("must be UTF-8")
	}
	if !json.Valid(b) {
		var syntax *json.SyntaxError
		if err := json.Unmarshal(b, &json.RawMessage{}); errors.As(err, &syntax) {
			return syntaxFault(b, syntax)
		}
	}
	if at := loneSurrogate(b); at >= 0 {
		return fmt.Errorf("must not contain half of a surrogate pair: %s at %s", b[at:at+6], lineAndColumn(b, at))
	}
	return nil
}

func syntaxFault(b []byte, err *json.SyntaxError) error {
	at := int(err.Offset) - 1
	switch {
	case strings.Contains(err.Error(), "max depth"):
		return errors.New("must be JSON that is nested less deeply")
	case at < 0 || at >= len(b) || strings.Contains(err.Error(), "unexpected end"):
		return errors.New("must be JSON, but it ends too early")
	}
	r, _ := utf8.DecodeRune(b[at:])
	return fmt.Errorf("must be JSON; %q at %s is unexpected", r, lineAndColumn(b, at))
}

// lineAndColumn describes a position in a text by line and column.
func lineAndColumn(b []byte, at int) string {
	before := b[:at]
	line := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(before[line:])+1)
}

// loneSurrogate returns the position of the first lone surrogate escape in valid
// JSON, or -1.
func loneSurrogate(b []byte) int {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		first := decodeEscape(b[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i++
		case utf16.DecodeRune(first, decodeEscape(b[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 11
		}
	}
	return -1
}

// decodeEscape returns the UTF-16 unit of an escape \u at the start of b, or 0.
func decodeEscape(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

// UnmarshalEnum reads an enum value as the JSON form of protocol buffers does: by
// its name, or by its number, which counts the values from 1. 0 is unspecified.
func UnmarshalEnum[E ~string](b []byte, value *E, values []E) error {
	if !IsNumber(b) {
		var name string
		err := json.Unmarshal(b, &name)
		*value = E(name)
		return err
	}
	n, err := strconv.Atoi(string(b))
	switch {
	case err != nil || n < 0 || n > len(values):
		return fmt.Errorf("%s is not the number of one of %s", TruncateForMessage(string(b)), strings.Join(Texts(values), ", "))
	case n == 0:
		*value = ""
	default:
		*value = values[n-1]
	}
	return nil
}

// EnumName returns the name of a value of an enum that is given by its number, such as 2, and
// any other text as it is.
func EnumName(text string, values []string) string {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= len(values) && IsNumber([]byte(text)) {
		return values[n-1]
	}
	return text
}

// EnumPrefix returns what all values of an enum begin with, such as FINDING_STATE_.
func EnumPrefix(values []string) string {
	first, last := slices.Min(values), slices.Max(values)
	same := 0
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	return first[:strings.LastIndexByte(first[:same], '_')+1]
}

// Texts returns the values of an enum as texts.
func Texts[E ~string](values []E) []string {
	all := make([]string, len(values))
	for i, e := range values {
		all[i] = string(e)
	}
	return all
}

// IsNumber reports whether a value in JSON is a number.
func IsNumber(b []byte) bool { return len(b) > 0 && (b[0] == '-' || '0' <= b[0] && b[0] <= '9') }

// memberErrors holds the violations of the members of an object.
type memberErrors []Violation

func (e memberErrors) Error() string { return e[0].Field + " " + e[0].Description }

// UnmarshalObject decodes a nested object by the same rules as a resource: names
// in camelCase or snake_case, no unknown members, and all violations at once. targets has
// what to decode each member into, by its name in camelCase.
func UnmarshalObject(b []byte, targets map[string]any) error {
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &map[string]json.RawMessage{}); err != nil {
		return err // the same error as for any wrong type
	}
	all, err := readObject(b)
	if err != nil {
		return err
	}
	var faults violations
	seen := map[string]bool{}
	for _, m := range all {
		name := CamelCase(m.name)
		target, known := targets[name]
		switch {
		case !known:
			faults.add(TruncateForMessage(m.name), "is not a field of this object")
		case seen[name]:
			faults.add(name, "is given twice")
		case checkMap(&faults, name, reflect.TypeOf(target).Elem(), m.value):
			decodeMember(&faults, name, target, m.value)
		}
		seen[name] = true
	}
	if len(faults) > 0 {
		return memberErrors(faults)
	}
	return nil
}

// UnmarshalStruct is UnmarshalObject for all fields that a struct has in JSON.
func UnmarshalStruct(b []byte, object any) error {
	value, targets := reflect.ValueOf(object).Elem(), map[string]any{}
	for _, f := range reflect.VisibleFields(value.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.Tag.Get("wire") != "-" {
			targets[name] = value.FieldByIndex(f.Index).Addr().Interface()
		}
	}
	return UnmarshalObject(b, targets)
}

// decodeMember decodes the value of a member into its target.
func decodeMember(v *violations, name string, target any, value json.RawMessage) {
	err := json.Unmarshal(value, target)
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &wrongType):
		v.add(name, "must be %s", jsonTypeName(wrongType.Type))
	default:
		v.add(name, "%s", err)
	}
}

// checkMap checks the keys of a value of type t that is a map, and that each has a value. It
// reports whether they are valid. Package json would keep the last value of a key that is given
// twice, and an empty one for null.
func checkMap(v *violations, name string, t reflect.Type, value json.RawMessage) bool {
	if t.Kind() != reflect.Map || bytes.TrimSpace(value)[0] != '{' {
		return true // a value that is not an object is null, or package json refuses it
	}
	all, err := readObject(value)
	if err != nil {
		v.add(name, "%s", err)
		return false
	}
	before := len(*v)
	for i, key := range all { // sorted by name
		switch shown := TruncateForMessage(key.name); {
		case i > 0 && key.name == all[i-1].name:
			v.add(name+"."+shown, "is given twice")
		case !isKey(t.Key(), key.name):
			v.add(name, "has the key %q, which must be a whole number of 64 bits without leading zeros or plus", shown)
		case IsNull(key.value):
			v.add(name+"."+shown, "must not be null")
		}
	}
	return len(*v) == before
}

// isKey reports whether a name is a key of a map with keys of type t. Each whole number has
// only one spelling, because two spellings of one key would overwrite each other.
func isKey(t reflect.Type, name string) bool {
	if t.Kind() == reflect.String {
		return true
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == name
}

func jsonTypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	default:
		return "an object"
	}
}

// A rawMember is one member of a JSON object.
type rawMember struct {
	name  string
	value json.RawMessage
}

// readObject reads one JSON object. It returns the members sorted by name,
// including duplicates. An empty body is an empty object.
func readObject(b []byte) ([]rawMember, error) {
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return nil, nil
	}
	if err := CheckJSON(b); err != nil {
		return nil, err
	}
	if b[0] != '{' {
		return nil, errors.New("must be a JSON object")
	}
	var members []rawMember
	decoder := json.NewDecoder(bytes.NewReader(b))
	_, err := decoder.Token() // {
	for err == nil && decoder.More() {
		var m rawMember
		var name json.Token
		if name, err = decoder.Token(); err == nil {
			m.name, _ = name.(string)
			err = decoder.Decode(&m.value)
		}
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b rawMember) int { return strings.Compare(a.name, b.name) })
	return members, err
}
