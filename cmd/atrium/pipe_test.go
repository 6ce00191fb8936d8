package main

import (
	"bufio"
	"net/http"
	"os"
	"strings"
	"testing"
)

// The attack is a program that reads the output of a server, as in `atrium serve | reader`, and ends.
func TestAServerGoesOnWhenTheReadersOfItsOutputHaveEnded(t *testing.T) {
	t.Parallel()
	read, greeting, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer greeting.Close()
	_ = read.Close() // Nobody reads the greeting.
	cmd := newProcess(t, "serve", "--dev", "--addr", "127.0.0.1:0", "--metrics-addr=", "--log-format", "json", "--database-url", demonstration.SQLite(t))
	cmd.Stdout = greeting
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	var lines strings.Builder
	for scanner := bufio.NewScanner(log); !servedAt.MatchString(lines.String()) && scanner.Scan(); {
		lines.WriteString(scanner.Text() + "\n")
	}
	served := servedAt.FindStringSubmatch(lines.String())
	if served == nil {
		t.Fatalf("it does not serve\n%s", &lines)
	}
	_ = log.Close() // From now on nobody reads the log.
	server := &running{t: t, url: served[1]}
	for range logBytes / 100 { // The buffer of the log is written more than once.
		if status, _ := server.get("", "/registry/v2/repos"); status != http.StatusUnauthorized {
			t.Fatalf("status %d, want 401", status)
		}
	}
}
