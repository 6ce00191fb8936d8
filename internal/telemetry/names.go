package telemetry

import "sync"

// Names limits the number of values of a label that clients choose. The first names
// are kept, up to the limit, and all others become Other. It is safe for concurrent
// use.
type Names struct {
	limit    int
	maxBytes int
	lock     sync.RWMutex
	known    map[string]bool
}

// NewNames returns Names that keep the known names and up to limit others, of at most maxBytes
// bytes each.
func NewNames(limit, maxBytes int, known ...string) *Names {
	n := &Names{maxBytes: maxBytes, known: map[string]bool{}}
	for _, name := range known {
		n.known[name] = true
	}
	n.limit = limit + len(n.known)
	return n
}

// Other replaces every name that is not kept.
const Other = "other"

// Limit returns name if it is kept, and otherwise Other. A new name is kept only if it
// is useful, because anyone can invent names.
func (n *Names) Limit(name string, useful bool) string {
	n.lock.RLock()
	known, full := n.known[name], len(n.known) >= n.limit
	n.lock.RUnlock()
	switch {
	case known:
		return name
	case full || !useful || name == "" || len(name) > n.maxBytes:
		return Other
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if len(n.known) >= n.limit {
		return Other
	}
	n.known[name] = true
	return name
}
