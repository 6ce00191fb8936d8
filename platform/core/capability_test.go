package core

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestACapabilityIsReadByBothItsNames(t *testing.T) {
	t.Parallel()
	for _, c := range Capabilities() {
		for _, name := range []string{string(c), c.WireName()} {
			if got, err := ParseCapability(name); err != nil || got != c {
				t.Errorf("%s is %q, want %q (%v)", name, got, c, err)
			}
		}
		b, err := json.Marshal(c)
		var back Capability
		if err != nil || string(b) != `"`+c.WireName()+`"` || json.Unmarshal(b, &back) != nil || back != c {
			t.Errorf("%s is written %s, read %s (%v), want %v", c, b, back, err, c)
		}
	}
	for _, name := range []string{"", "repo", "repo.", "REPO.LIST", "cap_repo_list", "CAP_REPO_LIST ", "CAP_UNKNOWN", "1605"} {
		if got, err := ParseCapability(name); err == nil {
			t.Errorf("%q is taken for %s", name, got)
		}
	}
}

func TestACapabilitySetContainsExactlyItsMembers(t *testing.T) {
	t.Parallel()
	all := Capabilities()
	if len(all) > 64 {
		t.Fatalf("%d capabilities do not fit into a set", len(all))
	}
	if got := CapabilitySetOf(all).List(); !slices.Equal(got, all) {
		t.Errorf("all of them are %v, want %v", got, all)
	}
	for i, c := range all {
		one := CapabilitySetOf([]Capability{c, c, "unknown"})
		if !slices.Equal(one.List(), []Capability{c}) || one.String() != string(c) {
			t.Errorf("%s alone is %s", c, one)
		}
		for j, d := range all {
			if one.has(d) != (i == j) {
				t.Errorf("{%s} has %s: %t", c, d, one.has(d))
			}
		}
		rest := CapabilitySetOf(all).Without(one)
		if rest.has(c) || len(rest.List()) != len(all)-1 {
			t.Errorf("without %s: %s", c, rest)
		}
	}
	if CapabilitySetOf(all).has("unknown") || CapabilitySetOf(nil) != 0 || CapabilitySet(0).String() != "" {
		t.Error("what is unknown is in no set")
	}
}
