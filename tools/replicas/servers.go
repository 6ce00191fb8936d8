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
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// servers are the Atrium processes.
type servers struct {
	program  string
	database string // URL for the commands
	folder   string // for files of the load and logs of the processes
	running  []*server
	client   *http.Client
}

// A server is one Atrium process, which can be killed and started again at its address.
type server struct {
	url, metrics string
	arguments    []string
	log          *os.File
	command      *exec.Cmd
}

// startServers starts a process for each list of flags.
func startServers(ctx context.Context, program, database string, flags [][]string) (*servers, error) {
	s := &servers{program: program, database: database, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
	var err error
	if s.folder, err = os.MkdirTemp("", "atrium-replicas-"); err != nil {
		return s, err
	}
	for n, chosen := range flags {
		addresses, err := freeAddresses(2)
		if err != nil {
			return s, err
		}
		one := &server{url: "http://" + addresses[0], metrics: "http://" + addresses[1]}
		one.arguments = append([]string{"serve", "--dev", "--addr", addresses[0], "--metrics-addr", addresses[1]}, chosen...)
		if one.log, err = os.Create(filepath.Join(s.folder, fmt.Sprintf("atrium-%d.log", n))); err != nil {
			return s, err
		}
		s.running = append(s.running, one)
		if err := s.start(ctx, n); err != nil {
			return s, err
		}
	}
	return s, nil
}

// start starts a process and waits until it is ready.
func (s *servers) start(ctx context.Context, n int) error {
	one := s.running[n]
	command := exec.CommandContext(ctx, s.program, one.arguments...)
	command.Stderr = one.log
	if err := command.Start(); err != nil {
		return err
	}
	one.command = command
	if err := s.awaitReady(ctx, n); err != nil {
		text, _ := os.ReadFile(one.log.Name())
		return fmt.Errorf("%w: %s", err, text[max(0, len(text)-4000):])
	}
	return nil
}

// kill ends a process like kill -9.
func (s *servers) kill(n int) {
	_ = s.running[n].command.Process.Kill()
	_ = s.running[n].command.Wait()
}

// freeAddresses returns addresses at which nothing listens. Their ports are below those that
// the kernel gives to outgoing connections, so they stay free while a process is away.
func freeAddresses(n int) (addresses []string, err error) {
	for port := 12000 + os.Getpid()%8000; len(addresses) < n && port < 32000; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		addresses = append(addresses, listener.Addr().String())
		defer listener.Close()
	}
	if len(addresses) < n {
		return nil, errors.New("no port is free")
	}
	return addresses, nil
}

func (s *servers) awaitReady(ctx context.Context, n int) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
		if answer, err := s.client.Get(s.running[n].url + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return fmt.Errorf("server %d does not become ready", n)
}

// stop ends the processes.
func (s *servers) stop() {
	for _, one := range s.running {
		if one.command != nil {
			_ = one.command.Process.Signal(os.Interrupt)
			_ = one.command.Wait()
		}
	}
	_ = os.RemoveAll(s.folder)
}

// run runs a command of the program.
func (s *servers) run(ctx context.Context, arguments ...string) (string, error) {
	var said bytes.Buffer
	command := exec.CommandContext(ctx, s.program, append(arguments, "--database-url", s.database)...)
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("atrium %s: %w: %s", strings.Join(arguments, " "), err, said.String())
	}
	return strings.TrimSpace(string(out)), err
}

// token makes a token for a subject.
func (s *servers) token(ctx context.Context, arguments ...string) (string, error) {
	return s.run(ctx, append([]string{"token", "--ttl", "24h"}, arguments...)...)
}

var (
	errRefused  = errors.New("permission denied")
	errExists   = errors.New("it exists already")
	errMissing  = errors.New("it does not exist")
	errUnstored = errors.New("after is not the id of a stored event")
	// errAway is the error of a request whose result is not known, or that can succeed later.
	errAway = errors.New("away")
	// errBusy is the errAway of a request that a busy server has refused.
	errBusy = fmt.Errorf("%w: the server is busy", errAway)
)

// classify returns the error of an answer, or nil.
func classify(request string, status int, content []byte, failed bool) error {
	has := func(name string) bool {
		return strings.Contains(strings.ToUpper(strings.ReplaceAll(string(content), " ", "_")), name)
	}
	switch {
	case has("PERMISSION_DENIED"):
		return errRefused
	case status < http.StatusBadRequest && !failed:
		return nil
	case has("ALREADY_EXISTS"):
		return errExists
	case has("NOT_FOUND"):
		return errMissing
	case has("IS_NOT_THE_ID_OF_A_STORED_EVENT"):
		return errUnstored
	case has("SERVER_IS_BUSY"):
		return errBusy
	case has("UNAVAILABLE"), has("DEADLINE_EXCEEDED"), has("ABORTED"):
		return fmt.Errorf("%w: %s", errAway, reasonIn(content))
	default:
		return fmt.Errorf("%s: %d %s", request, status, content)
	}
}

var message = regexp.MustCompile(`"message": ?"([^"]*)"`)

func reasonIn(content []byte) string {
	if found := message.FindSubmatch(content); found != nil {
		return string(found[1])
	}
	return string(content)
}

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
	request, err := http.NewRequest(method, s.running[process].url+path, text)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: the connection failed", errAway)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: the connection was lost", errAway)
	}
	var decoded map[string]any
	if len(content) > 0 {
		if err := json.Unmarshal(content, &decoded); err != nil {
			return nil, fmt.Errorf("%s %s: %d %s: %w", method, path, answer.StatusCode, content, err)
		}
	}
	return decoded, classify(method+" "+path, answer.StatusCode, content, decoded["errors"] != nil)
}

var (
	readsLine = regexp.MustCompile(`(?m)^atrium_db_(reads_total|read_fallbacks_total){(?:target|reason)="([^"]+)"} (\d+)`)
	gauge     = regexp.MustCompile(`(?m)^(go_goroutines|go_memstats_heap_alloc_bytes) (\S+)$`)
)

// get reads a page of the metrics of a process.
func (s *servers) get(n int, path string) (string, error) {
	answer, err := s.client.Get(s.running[n].metrics + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// reads returns how many reads each server answered, and why the primary did.
func (s *servers) reads() (standby, primary int, reasons map[string]int, err error) {
	reasons = map[string]int{}
	for n := range s.running {
		text, err := s.get(n, "/metrics")
		if err != nil {
			return 0, 0, nil, err
		}
		for _, found := range readsLine.FindAllStringSubmatch(text, -1) {
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
