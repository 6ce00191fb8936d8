package rpc

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	registryv2 "atrium/gen/platform/registry/v2"
)

// A writes is a response that records each write.
type writes struct {
	*httptest.ResponseRecorder
	each []string
}

func (w *writes) Write(b []byte) (int, error) {
	w.each = append(w.each, string(b))
	return w.ResponseRecorder.Write(b)
}

func TestAnAnswerIsWrittenTogetherWithItsPrefix(t *testing.T) {
	t.Parallel()
	const prefix, other = "\x00\x00\x00\x00\x05", "\x80\x00\x00\x00\x06"
	long := strings.Repeat("x", maxJoinedBytes)
	for _, c := range []struct{ given, want []string }{
		{[]string{prefix, "apple"}, []string{prefix + "apple"}},
		{[]string{prefix, "apple", other, "banana"}, []string{prefix + "apple", other + "banana"}}, // gRPC-Web: a message and trailers
		{[]string{prefix, ""}, []string{prefix}},
		{[]string{prefix}, []string{prefix}},
		{[]string{prefix, long}, []string{prefix + long}},
		{[]string{prefix, long + "x"}, []string{prefix, long + "x"}},
		{[]string{"{\"uid\":\"\"}"}, []string{"{\"uid\":\"\"}"}}, // Connect has no prefix
		{[]string{"apple"}, []string{"apple"}},
		{nil, nil},
	} {
		w := &writes{ResponseRecorder: httptest.NewRecorder()}
		a := &unaryResponse{ResponseWriter: w}
		for _, given := range c.given {
			if n, err := a.Write([]byte(given)); n != len(given) || err != nil {
				t.Errorf("%.20q: wrote %d of %d bytes, error %v", given, n, len(given), err)
			}
		}
		if err := a.end(); err != nil || !slices.Equal(w.each, c.want) {
			t.Errorf("%.20q is written as %.20q, want %.20q; error %v", c.given, w.each, c.want, err)
		}
	}
}

// A write that fails or is cut short tells how much of the message was written.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{0: 0, 3: 0, 5: 0, 7: 2} {
		a := &unaryResponse{ResponseWriter: shortWriter{httptest.NewRecorder(), limit}}
		if _, err := a.Write([]byte("12345")); err != nil {
			t.Error(err)
		}
		if n, err := a.Write([]byte("apple")); n != want || err == nil {
			t.Errorf("with %d bytes: %d of the message are written, error %v; want %d", limit, n, err, want)
		}
	}
	a := &unaryResponse{ResponseWriter: shortWriter{httptest.NewRecorder(), 0}}
	if _, err := a.Write([]byte("12345")); err != nil {
		t.Error(err)
	}
	if _, err := a.Write(make([]byte, maxJoinedBytes+1)); err == nil {
		t.Error("a long message was written without its prefix")
	}
}

// A shortWriter writes only some bytes.
type shortWriter struct {
	http.ResponseWriter
	limit int
}

func (w shortWriter) Write(b []byte) (int, error) {
	return min(len(b), w.limit), http.ErrHandlerTimeout
}

// Over HTTP/1.1, net/http sends the trailers of a short answer only after a flush. gRPC needs
// HTTP/2, but some clients use it with HTTP/1.1.
func TestAnAnswerOverHTTP1HasTrailers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, prefixed := range []string{"\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x04\x12\x02no"} { // all repos, and those with the name "no"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/platform.registry.v2.ReposService/ListRepos", strings.NewReader(prefixed))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("X-Subject", theOwner)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body := must[[]byte](t)(io.ReadAll(answer.Body))
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
		if got := answer.Trailer.Get("Grpc-Status"); answer.ProtoMajor != 1 || got != "0" || len(body) < prefixBytes {
			t.Errorf("%s, status %q, %d bytes; want HTTP/1.1, status 0 and a message", answer.Proto, got, len(body))
		}
	}
}

// connect flushes after a message, and again at the end. A call with one answer does not.
func TestACallWritesItsAnswerOnceAndDoesNotFlush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message, err := binaryCodec{}.Marshal(&registryv2.ListReposRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", bytes.NewReader(append([]byte{0, 0, 0, 0, byte(len(message))}, message...)))
	r.ProtoMajor, r.ProtoMinor = 2, 0
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("X-Subject", theOwner)
	answer := &writes{ResponseRecorder: httptest.NewRecorder()}
	w.server.Config.Handler.ServeHTTP(answer, r)
	if got := answer.Header().Get(http.TrailerPrefix + "Grpc-Status"); got != "0" || len(answer.each) != 1 || answer.Flushed {
		t.Errorf("status %s, %d writes, flushed %v; want status 0 and one write", got, len(answer.each), answer.Flushed)
	}
}
