package transport

import (
	"bytes"
	"encoding/json"
)

// The members of a request that are read.
const (
	memberQuery = iota
	memberDocument
	memberOperation
	memberVariables
	memberExtensions
	memberCount
)

var memberNames = [memberCount]string{"query", "documentId", "operationName", "variables", "extensions"}

// requestMembers holds the JSON of each member. nil means that the request has not given it.
type requestMembers [memberCount][]byte

func (m *requestMembers) set(name string, value []byte) {
	for i, known := range memberNames {
		if known == name {
			m[i] = value
		}
	}
}

// setQuoted sets the member whose name is the JSON of a string.
func (m *requestMembers) setQuoted(name, value []byte) {
	for i, known := range memberNames {
		if string(name[1:len(name)-1]) == known {
			m[i] = value
			return
		}
	}
	if bytes.IndexByte(name, '\\') >= 0 {
		text, _ := decodeText(name) // it is a string
		m.set(text, value)
	}
}

// readMembers finds the members of a request, and reports whether body is a JSON
// object.
func readMembers(body []byte) (members requestMembers, ok bool) {
	if !json.Valid(body) {
		return members, false
	}
	rest := skipSpace(body)
	if rest[0] != '{' {
		return members, false
	}
	for rest = skipSpace(rest[1:]); rest[0] != '}'; rest = skipComma(rest) {
		var name, value []byte
		name, rest = cutValue(rest)
		value, rest = cutValue(skipSpace(skipSpace(rest)[1:])) // after the colon
		members.setQuoted(name, value)
	}
	return members, true
}

func skipSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// cutValue splits valid JSON after its first value.
func cutValue(b []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return b[:i+1], b[i+1:]
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\r', '\n':
			isEnd := b[i] == '}' || b[i] == ']'
			if depth == 0 { // after a number or a word
				return b[:i], b[i:]
			}
			if isEnd {
				depth--
			}
			if isEnd && depth == 0 {
				return b[:i+1], b[i+1:]
			}
		}
	}
	return b, nil
}

// decodeText decodes a string, and reports whether value is one, or null or nil.
func decodeText(value []byte) (text string, ok bool) {
	n := len(value)
	if n >= 2 && value[0] == '"' && value[n-1] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : n-1]), true
	}
	return decodeEscapedText(value)
}

func decodeEscapedText(value []byte) (text string, ok bool) {
	ok = value == nil || json.Unmarshal(value, &text) == nil
	return text, ok
}

// decodeObject decodes an object, and reports whether it is one. null leaves to as it
// is.
func decodeObject(value []byte, to *map[string]any) bool {
	if value == nil {
		return true
	}
	if !json.Valid(value) {
		return false
	}
	decoded, _ := readValue(skipSpace(value))
	object, ok := decoded.(map[string]any)
	if ok {
		*to = object
	}
	return ok || decoded == nil
}

// readValue decodes the value that valid JSON begins with. A number stays as it is
// written, because 2^53 and more would change.
func readValue(b []byte) (value any, rest []byte) {
	switch b[0] {
	case '{':
		object := map[string]any{}
		for rest = skipSpace(b[1:]); rest[0] != '}'; rest = skipComma(rest) {
			var name, given []byte
			name, given = cutValue(rest)
			text, _ := decodeText(name) // it is a string
			object[text], rest = readValue(skipSpace(skipSpace(given)[1:]))
		}
		return object, rest[1:]
	case '[':
		list := []any{}
		for rest = skipSpace(b[1:]); rest[0] != ']'; rest = skipComma(rest) {
			var element any
			element, rest = readValue(rest)
			list = append(list, element)
		}
		return list, rest[1:]
	}
	one, rest := cutValue(b)
	switch one[0] {
	case '"':
		text, _ := decodeText(one) // it is a string
		return text, rest
	case 'n':
		return nil, rest
	case 't', 'f':
		return one[0] == 't', rest
	default:
		return json.Number(one), rest
	}
}

// skipComma skips what stands between two members or elements.
func skipComma(b []byte) []byte {
	if b = skipSpace(b); b[0] == ',' {
		b = skipSpace(b[1:])
	}
	return b
}
