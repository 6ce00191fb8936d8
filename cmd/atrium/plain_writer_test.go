package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// hostile has characters of all kinds that a terminal would interpret: those that move the
// cursor, 8-bit controls, deletion, and those that change the direction of text or are invisible.
const hostile = "a\x1b[2J\u009b31m\x7f\r\u202eb\u2066\u200f\u2028\U000E0041"

func TestTextIsWrittenWithoutCharactersThatATerminalInterprets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain ~\n\tx": "plain ~\n\tx", "größer 日本 👍": "größer 日本 👍", "\xff": "�",
		hostile: `a\u001b[2J\u009b31m\u007f\u000d\u202eb\u2066\u200f\u2028\udb40\udc41`,
	} {
		var out bytes.Buffer
		n, err := plainWriter{&out}.Write([]byte(text))
		if err != nil || n != len(text) || out.String() != want {
			t.Errorf("%q is written as %q (%d, %v), want %q", text, &out, n, err, want)
		}
	}
	var out bytes.Buffer
	m := &meter{out: terminalOf(plainWriter{&out}), terminal: true}
	m.print("bad " + hostile)
	slog.New(newTextHandler(&out, slog.LevelInfo, true)).Info("says "+hostile, "name", hostile)
	if got := strings.ReplaceAll(out.String(), clearLine, ""); strings.Contains(got, "\x1b[2J") || strings.ContainsAny(got, "\u009b\x7f\r\u202e\u2066\u200f\u2028\U000E0041") {
		t.Errorf("written %q", got)
	}
}

// JSON means the same with the escapes.
func TestAnswersOfAServerCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"data":{"name":` + strings.ReplaceAll(string(text), `\u2028`, "\u2028") + `}}`
	for name, args := range map[string][]string{
		"query": {"query", "{ name }"}, "watch": {"query", "--watch", "subscription { name }"},
		"tail": {"events", "tail", "--output", "json", "--first", "1"},
	} {
		server := startFake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaGraphQL)
			_, _ = w.Write([]byte(answer))
		})
		switch name {
		case "watch":
			server = startFake(t, streamEvents(answer))
		case "tail":
			server = startFake(t, streamEvents(feedEvent("1", time.Now(), hostile)))
		}
		out, errOut, err := atrium(t, nil, append(args, "--url", server.URL, "--token", "t")...)
		if strings.ContainsAny(out+errOut, "\x1b\u009b\x7f\r\u202e\u2066\u200f\u2028\U000E0041") {
			t.Errorf("%s prints %q %q (%v)", name, out, errOut, err)
		}
		var got, want any
		if err := json.Unmarshal([]byte(answer), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || name != "tail" && !reflect.DeepEqual(got, want) {
			t.Errorf("%s prints %q (%v), want the same as %q", name, out, err, answer)
		}
	}
}
