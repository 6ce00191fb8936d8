package rest

import (
	"maps"
	"slices"
	"testing"
)

func TestTheDescriptionLacksNothing(t *testing.T) {
	t.Parallel()
	d := describe(routes(newWorld(t).p), Options{})
	for _, fault := range slices.Sorted(maps.Keys(d.faults)) {
		t.Error(fault)
	}
	for _, name := range slices.Sorted(maps.Keys(d.byName)) {
		if !d.read[name] {
			t.Errorf("the text of %s is of nothing", name)
		}
	}
}
