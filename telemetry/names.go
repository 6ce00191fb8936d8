package telemetry

import "sync"

// Names bound how many values a label has whose values clients choose: the
// first so many of them stand for themselves, and all others for "other".
type Names struct {
	most  int
	lock  sync.RWMutex
	known map[string]bool
}

// maxNameBytes is far more than a name that people read has.
const maxNameBytes = 64

// NewNames lets so many names through, and those that are given.
func NewNames(most int, given ...string) *Names {
	n := &Names{most: most + len(given), known: map[string]bool{}}
	for _, name := range given {
		n.known[name] = true
	}
	return n
}

// Other stands for all names beyond the first.
const Other = "other"

// Bound gives a name, or Other. Only a name that did something useful takes one
// of the places, since anyone can make up names.
func (n *Names) Bound(name string, useful bool) string {
	n.lock.RLock()
	known, full := n.known[name], len(n.known) >= n.most
	n.lock.RUnlock()
	switch {
	case known:
		return name
	case full || !useful || name == "" || len(name) > maxNameBytes:
		return Other
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	if len(n.known) >= n.most {
		return Other
	}
	n.known[name] = true
	return name
}
