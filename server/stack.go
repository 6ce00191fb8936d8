package server

import "runtime"

// growStack gives the stack of its goroutine space for a whole request. net/http answers each
// request of HTTP/2 in a new goroutine, whose small stack would otherwise grow several times
// under way, and copy all frames each time.
//
//go:noinline
func growStack() {
	var space [stackBytes]byte
	runtime.KeepAlive(&space)
}

// stackBytes is a bit less than the next power of two, because the stack has other frames.
const stackBytes = 14 << 10
