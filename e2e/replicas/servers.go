package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// servers are the Atrium processes.
type servers struct {
	program, database string
	running           []*exec.Cmd
	urls, metrics     []string
	logs              []*bytes.Buffer
	client            *http.Client
}

func startServers(ctx context.Context, program, primary string, standbys []string) (*servers, error) {
	s := &servers{program: program, database: primary + "&pool_max_conns=8", client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
	for range processes {
		addresses, err := freeAddresses(2)
		if err != nil {
			return s, err
		}
		arguments := []string{"serve", "--dev", "--addr", addresses[0], "--metrics-addr", addresses[1], "--database-url", s.database}
		for _, standby := range standbys {
			arguments = append(arguments, "--read-database-url", standby+"&pool_max_conns=8")
		}
		command := exec.CommandContext(ctx, program, arguments...)
		log := new(bytes.Buffer)
		command.Stderr = log
		if err := command.Start(); err != nil {
			return s, err
		}
		s.running, s.logs = append(s.running, command), append(s.logs, log)
		s.urls, s.metrics = append(s.urls, "http://"+addresses[0]), append(s.metrics, "http://"+addresses[1]+"/metrics")
		if err := s.awaitReady("http://" + addresses[0] + "/readyz"); err != nil {
			return s, fmt.Errorf("%w: %s", err, log)
		}
	}
	return s, nil
}

func freeAddresses(n int) (addresses []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, listener.Addr().String())
		defer listener.Close()
	}
	return addresses, nil
}

func (s *servers) awaitReady(url string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if answer, err := s.client.Get(url); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return errors.New("a server does not become ready")
}

// stop ends the processes.
func (s *servers) stop() {
	for _, command := range s.running {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	}
}

// token makes a token for a subject.
func (s *servers) token(arguments ...string) (string, error) {
	out, err := exec.Command(s.program, append([]string{"token", "--database-url", s.database}, arguments...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// errRefused is the error of an answer that denies a permission.
var errRefused = errors.New("permission denied")

// send sends a request to a process, and decodes the answer.
func (s *servers) send(process int, token, method, path string, body any) (map[string]any, error) {
	var text io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, s.urls[process]+path, text)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	denied := strings.Contains(strings.ToLower(strings.ReplaceAll(string(content), "_", " ")), "permission denied")
	switch {
	case denied:
		return nil, errRefused
	case answer.StatusCode >= http.StatusBadRequest:
		return nil, fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, content)
	}
	var decoded map[string]any
	if len(content) > 0 {
		if err := json.Unmarshal(content, &decoded); err != nil {
			return nil, err
		}
	}
	if decoded["errors"] != nil {
		return nil, fmt.Errorf("%s %s: %s", method, path, content)
	}
	return decoded, nil
}

var readsLine = regexp.MustCompile(`(?m)^atrium_db_(reads_total|read_fallbacks_total){(?:target|reason)="([^"]+)"} (\d+)`)

// reads returns how many reads each server answered, and why the primary did.
func (s *servers) reads() (standby, primary int, reasons map[string]int, err error) {
	reasons = map[string]int{}
	for _, url := range s.metrics {
		answer, err := s.client.Get(url)
		if err != nil {
			return 0, 0, nil, err
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			return 0, 0, nil, err
		}
		for _, found := range readsLine.FindAllStringSubmatch(string(text), -1) {
			n, _ := strconv.Atoi(found[3])
			switch {
			case found[1] == "read_fallbacks_total":
				reasons[found[2]] += n
			case found[2] == "primary":
				primary += n
			default:
				standby += n
			}
		}
	}
	return standby, primary, reasons, nil
}
