package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// healthCommand asks a server whether it is ready. It is for container platforms, because
// the image contains no other program that could send a request.
type healthCommand struct {
	URL     string        `name:"url" default:"http://127.0.0.1:8080" help:"URL of the server."`
	Timeout time.Duration `default:"3s" help:"Time limit of the answer."`

	server *url.URL
}

func (c *healthCommand) check(f *faults) {
	c.server = serverURL(f, "url", c.URL)
	if c.Timeout <= 0 {
		f.add("timeout", "must be above 0")
	}
}

// findCause returns the error of a request without its method and URL.
func findCause(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// run fails if the server is not ready.
func (c *healthCommand) run(ctx context.Context, p program) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.JoinPath("readyz").String(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("no server answers at %s: %w", c.URL, findCause(err))
	}
	defer response.Body.Close()
	var said struct{ Message string }
	_ = json.NewDecoder(response.Body).Decode(&said) // the body does not matter if the server is ready
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: %s", c.URL, printable(said.Message))
	}
	_, err = fmt.Fprintln(p.stdout, "ready")
	return err
}
