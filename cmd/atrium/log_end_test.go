package main

import (
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// A collector that parses JSON drops other lines, and why a server ended is the line that its operator looks for.
func TestTheLogTellsInItsOwnFormWhyTheServerEnds(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the parallel tests
	file := "sqlite:" + filepath.Join(t.TempDir(), "new.db")
	for name, args := range map[string][]string{
		"wrong settings":   {"--database-url", file, "--log-level", "loud", "--slow=-1s"},
		"a taken address":  {"--database-url", file, "--addr", taken.Addr().String()},
		"no database":      {"--database-url", "postgres://atrium@127.0.0.1:1/atrium?sslmode=disable"},
		"a missing secret": {"--database-url", "postgres://atrium@127.0.0.1:1/atrium", "--database-password-command", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args = append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
			_, log, err := atrium(t, nil, append(args, "--log-format", "json")...)
			if err == nil {
				t.Fatalf("the server has started:\n%s", log)
			}
			var last struct{ Level, Msg, Error string }
			for line := range strings.Lines(log) {
				last.Msg = ""
				if json.Unmarshal([]byte(line), &last) != nil || last.Msg == "" {
					t.Errorf("a line is not JSON: %s", line)
				}
			}
			if last.Level != "ERROR" || last.Error != explain(err) || !errors.As(err, &loggedError{}) {
				t.Errorf("the last line is %+v, want the error %v", last, err)
			}
			if strings.Contains(log, "shutting down") {
				t.Errorf("a server that has not started shuts down:\n%s", log)
			}
			if _, log, err := atrium(t, nil, append(args, "--log-format", "text")...); err == nil || strings.Contains(log, "the server ends") || errors.As(err, &loggedError{}) {
				t.Errorf("a person gets %v, after\n%s", err, log)
			}
		})
	}
}
