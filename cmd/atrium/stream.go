package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxEventBytes limits the size of one event of a stream.
const maxEventBytes = 16 << 20

var errSilent = errors.New("the server sends nothing any more")

// subscribe calls take with each answer to a subscription, until the server completes it,
// take fails or ctx ends. An answer may contain errors. When the subscription has begun,
// subscribe calls opened with the time of the server. A lost connection is a temporary
// error.
func (c *graphqlClient) subscribe(ctx context.Context, q question, opened func(time.Time), take func(*answer) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	response, err := c.send(ctx, mediaEvents, q)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if mediaOf(response) != mediaEvents {
		return c.refusal(response)
	}
	now, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	opened(now)
	alarm := time.AfterFunc(c.silent, func() { cancel(errSilent) })
	defer alarm.Stop()
	err = readEvents(response.Body, func() { alarm.Reset(c.silent) }, func(data string) error {
		a, err := readAnswer([]byte(data))
		if err != nil {
			return err
		}
		return take(a)
	})
	if silent := context.Cause(ctx); errors.Is(silent, errSilent) {
		return connectionLostError(silent)
	}
	return err
}

// readEvents reads the server-sent events of graphql-sse: `next` with an answer, and
// `complete` at the end. It calls alive for each line.
func readEvents(stream io.Reader, alive func(), next func(data string) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxEventBytes)
	var name string
	var data []string
	for lines.Scan() {
		alive()
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "": // the event is complete
			if name == "complete" {
				return nil
			}
			if name == "next" {
				if err := next(strings.Join(data, "\n")); err != nil {
					return err
				}
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return lines.Err() // a retry would not help
	}
	if lines.Err() != nil {
		return connectionLostError(lines.Err())
	}
	return connectionLostError(io.ErrUnexpectedEOF)
}
