package resolvers

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"atrium/platform"
)

// A fieldMessage says of one field of an input what is wrong with it, as a
// sentence that can be shown beside the field.
type fieldMessage struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// fieldMessages says what violations say, in their order.
func fieldMessages(violations []platform.Violation) []fieldMessage {
	messages := make([]fieldMessage, len(violations))
	for i, v := range violations {
		messages[i] = fieldMessage{v.Field, sentence(v)}
	}
	return messages
}

// sentence is a violation as a sentence: that "requests[2].roleUid" is required
// is "Role uid is required (requests, item 3)."
func sentence(v platform.Violation) string {
	parts := strings.Split(v.Field, ".")
	said := words(parts[len(parts)-1])
	if said == "" {
		return v.Description
	}
	said = strings.ToUpper(said[:1]) + said[1:]
	if strings.Contains(said, ", item ") {
		said += ","
	}
	said += " " + strings.TrimPrefix(strings.TrimSuffix(v.Words(), "."), parts[len(parts)-1]+" ")
	if len(parts) > 1 {
		within := make([]string, len(parts)-1)
		for i, part := range parts[:len(parts)-1] {
			within[i] = words(part)
		}
		said += " (" + strings.Join(within, ", ") + ")"
	}
	return said + "."
}

var indexed = regexp.MustCompile(`^(.+)\[(\d+)\]$`)

// words are the name of a field as people write it, and which item of a list it
// is, counted from 1.
func words(name string) string {
	item := ""
	if list := indexed.FindStringSubmatch(name); list != nil {
		n, _ := strconv.Atoi(list[2])
		name, item = list[1], ", item "+strconv.Itoa(n+1)
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(name, "_", " ") {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimSpace(b.String()) + item
}
