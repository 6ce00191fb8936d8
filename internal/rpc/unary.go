package rpc

import (
	"net/http"
	"sync"
)

// A unaryResponse is the response of a call with one answer, over HTTP/2. connect writes the
// prefix of a message and the message separately, and flushes both, because streams need
// that. Each of these steps costs a frame and often a system call. Therefore a unaryResponse
// writes a prefix together with its message, and is no http.Flusher: net/http sends what it
// has buffered when the call ends.
type unaryResponse struct {
	http.ResponseWriter
	prefix [prefixBytes]byte
	isHeld bool // whether the prefix has not been written yet
}

// prefixBytes is the length of the prefix of a message.
const prefixBytes = 5

// maxJoinedBytes is the length of the longest message that is copied behind its prefix.
const maxJoinedBytes = 64 << 10

var joinedBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Write writes b behind the prefix, or holds it back if it may be a prefix itself.
func (a *unaryResponse) Write(b []byte) (int, error) {
	switch {
	case a.isHeld && len(b) <= maxJoinedBytes:
		return a.join(b)
	case a.isHeld:
		if err := a.end(); err != nil {
			return 0, err
		}
	case len(b) == prefixBytes:
		a.isHeld = true
		return copy(a.prefix[:], b), nil
	}
	return a.ResponseWriter.Write(b)
}

// join writes the prefix and b at once.
func (a *unaryResponse) join(b []byte) (int, error) {
	a.isHeld = false
	buffer, _ := joinedBuffers.Get().(*[]byte)
	defer joinedBuffers.Put(buffer)
	*buffer = append(append((*buffer)[:0], a.prefix[:]...), b...)
	n, err := a.ResponseWriter.Write(*buffer)
	return max(0, n-prefixBytes), err
}

// end writes a prefix that nothing has followed.
func (a *unaryResponse) end() error {
	if !a.isHeld {
		return nil
	}
	a.isHeld = false
	_, err := a.ResponseWriter.Write(a.prefix[:])
	return err
}
