package sqlstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"atrium/platform/core"
)

// A capabilityColumn reads the capabilities of a role. Every request reads those of
// a few roles, so decoded lists are shared. They must not be changed.
type capabilityColumn struct{ to *[]core.Capability }

// Scan reads JSON text.
func (c capabilityColumn) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return c.ScanBytes([]byte(src))
	case []byte:
		return c.ScanBytes(src)
	default:
		return fmt.Errorf("cannot read capabilities from %T", src)
	}
}

// ScanBytes reads JSON text.
func (c capabilityColumn) ScanBytes(text []byte) (err error) {
	*c.to, err = decodedCapabilities.decode(text)
	return err
}

var decodedCapabilities capabilityLists

// maxCapabilityLists limits the cache. A full cache is cleared.
const maxCapabilityLists = 1000

// capabilityLists is a cache of lists of capabilities by their JSON text.
type capabilityLists struct {
	lock   sync.RWMutex
	byText map[string][]core.Capability
}

// decode returns the list of a JSON text.
func (l *capabilityLists) decode(text []byte) ([]core.Capability, error) {
	l.lock.RLock()
	list, known := l.byText[string(text)]
	l.lock.RUnlock()
	if known || len(text) == 0 {
		return list, nil
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.byText == nil || len(l.byText) >= maxCapabilityLists {
		l.byText = map[string][]core.Capability{}
	}
	list = slices.Clip(list)
	l.byText[string(text)] = list
	return list, nil
}
