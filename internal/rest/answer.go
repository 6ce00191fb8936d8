package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"atrium/platform/core"
)

// An envelope is the response of a list: a page under the plural of its kind.
type envelope[T any] struct {
	plural string
	page   core.Page[T]
	next   string // the page token
}

func newEnvelope[T any](plural string, page core.Page[T]) envelope[T] {
	return envelope[T]{plural, page, page.NextPageToken()}
}

// stream writes one item after the other, so that the JSON of a large page is never in
// memory as a whole.
func (e envelope[T]) stream(w io.Writer) error {
	if _, err := fmt.Fprintf(w, `{"%s":[`, e.plural); err != nil {
		return err
	}
	items := newEncoder(w)
	for i, item := range e.page.Items {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		if err := items.Encode(item); err != nil {
			return err
		}
	}
	next := ""
	if e.next != "" { // contains only letters, digits, - and _
		next = `"nextPageToken":"` + e.next + `",`
	}
	_, err := fmt.Fprintf(w, "],%s\"totalCount\":\"%d\",\"skipped\":%d}\n", next, e.page.TotalCount, e.page.Skipped)
	return err
}

// A statusAnswer is an answer with another status than 200.
type statusAnswer struct {
	status int
	answer any
}

// writeAnswer writes a result; nil is an empty body.
func (o Options) writeAnswer(w http.ResponseWriter, r *http.Request, answer any) {
	setPrivateHeaders(w.Header())
	switch answer.(type) {
	case nil:
		return
	case notModified:
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if other, ok := answer.(statusAnswer); ok {
		w.WriteHeader(other.status)
		answer = other.answer
	}
	var err error
	if s, ok := answer.(interface{ stream(io.Writer) error }); ok {
		page := newPageWriter(w)
		if err = s.stream(page); err == nil {
			err = page.end()
		} else if page.parts == 0 {
			o.WriteError(w, r, err)
			return
		}
	} else {
		err = newEncoder(w).Encode(answer)
	}
	if err != nil && r.Context().Err() == nil {
		o.errors().Log().WarnContext(r.Context(), "writing a response failed; the client got only a part of it", "request_id", requestID(w), "error", err)
	}
}

func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// setPrivateHeaders sets the headers of every response: it must not be cached, and has
// exactly the given Content-Type.
func setPrivateHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// A pageWriter collects a response, so that it is sent by one write and with its length.
// A response of more than pageBytes is passed on in parts.
type pageWriter struct {
	to     http.ResponseWriter
	buffer *[]byte
	parts  int // number of parts that were passed on
}

const pageBytes = 32 << 10

var pageBuffers = sync.Pool{New: func() any { b := make([]byte, 0, pageBytes); return &b }}

func newPageWriter(to http.ResponseWriter) *pageWriter {
	buffer, _ := pageBuffers.Get().(*[]byte)
	return &pageWriter{to: to, buffer: buffer}
}

// Write adds to the response.
func (p *pageWriter) Write(b []byte) (int, error) {
	if len(*p.buffer)+len(b) > pageBytes {
		if err := p.pass(); err != nil {
			return 0, err
		}
	}
	*p.buffer = append(*p.buffer, b...)
	return len(b), nil
}

func (p *pageWriter) pass() error {
	_, err := p.to.Write(*p.buffer)
	*p.buffer = (*p.buffer)[:0]
	p.parts++
	return err
}

// end sends the rest of the response.
func (p *pageWriter) end() error {
	if p.parts == 0 {
		p.to.Header().Set("Content-Length", strconv.Itoa(len(*p.buffer)))
	}
	err := p.pass()
	if cap(*p.buffer) <= 2*pageBytes {
		pageBuffers.Put(p.buffer)
	}
	return err
}
