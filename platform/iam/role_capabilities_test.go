package iam

import (
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

func TestARoleHoldsEachCapabilityOnceAndInOrder(t *testing.T) {
	t.Parallel()
	var v core.Violations
	r := Role{Name: "r", Capabilities: []core.Capability{core.CapTagList, core.CapRepoList, core.CapTagList, core.CapGroupsList}}
	RoleKind.Check(&r, core.EveryField, &v)
	if want := []core.Capability{core.CapGroupsList, core.CapRepoList, core.CapTagList}; len(v) > 0 || !slices.Equal(r.Capabilities, want) {
		t.Errorf("%v, want %v: %v", r.Capabilities, want, v)
	}
	for _, body := range []string{`["CAP_NOPE"]`, `[1]`, `[null]`, `[""]`, `"CAP_REPO_LIST"`, `{}`, `["CAP_REPO_LIST", "repo.lost"]`} {
		var v core.Violations
		in := fieldmask.JSONInput[*Role]([]byte(`{"name": "r", "capabilities": `+body+`}`), nil)
		got := (&core.Collection[*Role, *RoleFilter]{Kind: &RoleKind}).Decode(t.Context(), in, &v)
		if listFields(v) != "capabilities" {
			t.Errorf("%s: %v %v, want violations of 'capabilities'", body, got.Capabilities, v)
		}
	}
}
