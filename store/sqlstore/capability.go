package sqlstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"atrium/platform"
)

// A capabilityColumn reads the capabilities of a role. Those of a few roles are
// read with every request, so lists that were decoded are shared: nobody
// changes them.
type capabilityColumn struct{ to *[]platform.Capability }

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

// maxCapabilityLists is how many lists are remembered; then all are forgotten.
const maxCapabilityLists = 1000

// capabilityLists are lists of capabilities by their JSON text.
type capabilityLists struct {
	lock   sync.RWMutex
	byText map[string][]platform.Capability
}

func (l *capabilityLists) decode(text []byte) ([]platform.Capability, error) {
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
		l.byText = map[string][]platform.Capability{}
	}
	list = slices.Clip(list)
	l.byText[string(text)] = list
	return list, nil
}
