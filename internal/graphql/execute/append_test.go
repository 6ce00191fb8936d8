package execute_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atrium/internal/graphql/execute"
)

// Each character stands at each place of a text that is longer than the eight bytes at which
// AppendString looks at a time, also beside another one that is escaped.
func TestAppendStringEscapesEachCharacter(t *testing.T) {
	t.Parallel()
	for c := range rune(0x200) {
		for _, around := range []string{"", "a", "é", "€", "\x1f", `"`, `\`, "~\x7f"} {
			for before := range 18 {
				text := strings.Repeat(around, before) + string(c) + strings.Repeat(around, 17-before)
				written := execute.AppendString([]byte("<"), text)
				var read string
				if err := json.Unmarshal(written[1:], &read); err != nil || read != text {
					t.Fatalf("%q is written as %s and read as %q: %v", text, written, read, err)
				}
				if !strings.ContainsFunc(text, isEscaped) && string(written) != `<"`+text+`"` {
					t.Fatalf("%q is written as %s, want it as it is", text, written)
				}
			}
		}
	}
}

func isEscaped(c rune) bool { return c < ' ' || c == '"' || c == '\\' }
