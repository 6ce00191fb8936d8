package server

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"atrium/internal/apierror"
	"atrium/internal/rpc"
	"atrium/platform/core"
)

// A refuser answers requests that are not admitted. A flood has many of them, so it keeps
// their answers: one that is kept takes a third of the time of one that is made. Because requests
// share them, they do not contain the request id, which only the header has.
type refuser struct {
	write errorWriter

	lock sync.RWMutex
	kept map[refusalKey]*refusalResponse
}

// A refusalKey has everything that the answer depends on.
type refusalKey struct {
	code                       core.Code
	message                    string
	retryAfter                 time.Duration
	area, contentType, accepts string
	connectVersion             string
	isCall, isGraph            bool
	isGet, isPost              bool // other methods have the same answers
}

// refusalKeyOf returns the key of the answer to a request.
func refusalKeyOf(r *http.Request, e *core.Error) refusalKey {
	return refusalKey{
		code: e.Code, message: e.Message, retryAfter: e.RetryAfter,
		area: apierror.AreaOf(r.URL.Path), contentType: r.Header.Get("Content-Type"), accepts: strings.Join(r.Header.Values("Accept"), "\n"),
		connectVersion: r.Header.Get("Connect-Protocol-Version"),
		isCall:         rpc.Serves(r.URL.Path), isGraph: isGraph(r.URL.Path),
		isGet: r.Method == http.MethodGet, isPost: r.Method == http.MethodPost,
	}
}

// size returns the length of what clients choose in the key.
func (k refusalKey) size() int {
	return len(k.area) + len(k.contentType) + len(k.accepts) + len(k.connectVersion)
}

// A refusalResponse is an answer that is sent many times.
type refusalResponse struct {
	header http.Header // header and trailers
	sent   http.Header // header, when the status was written
	status int
	body   bytes.Buffer
}

// maxKept limits the answers that are kept, and their memory, because clients choose a part
// of the key.
const (
	maxKept      = 256
	maxKeptBytes = 128
)

func newRefuser(write errorWriter) *refuser {
	return &refuser{write: write, kept: map[refusalKey]*refusalResponse{}}
}

// refuse notes the limit that a request has exceeded, and answers it.
func (f *refuser) refuse(w http.ResponseWriter, r *http.Request, limit string, err error) {
	trace := core.TraceOf(r.Context())
	trace.NoteLimit(limit)
	e := core.AsError(err)
	key := refusalKeyOf(r, e)
	f.lock.RLock()
	answer := f.kept[key]
	f.lock.RUnlock()
	if answer == nil {
		if key.size() > maxKeptBytes || limit == "" {
			f.write(w, r, err)
			return
		}
		answer = f.render(key, r, err)
	}
	trace.NoteError(e)
	maps.Copy(w.Header(), answer.sent)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes())
	if len(answer.header) > len(answer.sent) {
		maps.Copy(w.Header(), answer.header) // the rest are trailers
	}
}

// render renders an answer, and keeps it. If there is no room, it drops all that were kept,
// because clients can choose what makes answers different.
func (f *refuser) render(key refusalKey, r *http.Request, err error) *refusalResponse {
	answer := &refusalResponse{header: http.Header{}}
	f.write(answer, r.WithContext(context.Background()), err)
	answer.WriteHeader(http.StatusOK)
	f.lock.Lock()
	defer f.lock.Unlock()
	if len(f.kept) == maxKept {
		clear(f.kept)
	}
	key.area = strings.Clone(key.area) // it is a part of the path, which can be long
	f.kept[key] = answer
	return answer
}

// Header returns the header of the answer.
func (a *refusalResponse) Header() http.Header { return a.header }

// WriteHeader keeps the first status, and the header as it is.
func (a *refusalResponse) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
	}
}

// Write keeps a part of the body.
func (a *refusalResponse) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
