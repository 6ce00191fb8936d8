package resolvers

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A fieldMessage is a sentence about one invalid field of an input, which a form
// can show beside the field.
type fieldMessage struct {
	Field   string `json:"field"`
	Path    []any  `json:"path"`
	Message string `json:"message"`
}

// fieldMessages converts violations into field messages, in their order. places has the place of
// each.
func fieldMessages(violations []fieldmask.Violation, places [][]any) []fieldMessage {
	messages := make([]fieldMessage, len(violations))
	for i, v := range violations {
		messages[i] = fieldMessage{v.Field, places[i], sentence(v)}
	}
	return messages
}

// sentence writes a violation as a sentence. For "requests[2].roleUid", which is
// required, it returns "Role uid is required (requests, item 3)." A description that is a
// sentence, as those of the validation of a document are, stays as it is.
func sentence(v fieldmask.Violation) string {
	description := strings.TrimSuffix(core.DescribeViolation(v), ".")
	if first, _ := utf8.DecodeRuneInString(description); unicode.IsUpper(first) {
		if strings.HasSuffix(description, "?") { // it suggests a name
			return description
		}
		return description + "."
	}
	parts := strings.Split(v.Field, ".")
	said := words(parts[len(parts)-1])
	if said == "" {
		return v.Description
	}
	said = strings.ToUpper(said[:1]) + said[1:]
	if strings.Contains(said, ", item ") {
		said += ","
	}
	said += " " + strings.TrimPrefix(description, parts[len(parts)-1]+" ")
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

// words splits the name of a field into words. For an item of a list it adds the
// number of the item, counted from 1.
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
