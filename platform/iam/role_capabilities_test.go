package platform

import (
	"slices"
	"testing"

	"atrium/platform/fieldmask"
)

func TestARoleHoldsEachCapabilityOnceAndInOrder(t *testing.T) {
	t.Parallel()
	var v violations
	r := Role{Name: "r", Capabilities: []Capability{CapTagList, CapRepoList, CapTagList, CapGroupsList}}
	roleKind.Check(&r, alwaysTrue, &v)
	if want := []Capability{CapGroupsList, CapRepoList, CapTagList}; len(v) > 0 || !slices.Equal(r.Capabilities, want) {
		t.Errorf("%v, want %v: %v", r.Capabilities, want, v)
	}
	for _, body := range []string{`["CAP_NOPE"]`, `[1]`, `[null]`, `[""]`, `"CAP_REPO_LIST"`, `{}`, `["CAP_REPO_LIST", "repo.lost"]`} {
		var v violations
		in := fieldmask.JSONInput[*Role]([]byte(`{"name": "r", "capabilities": `+body+`}`), nil)
		got := (&Collection[*Role, *RoleFilter]{kind: &roleKind}).decode(in, &v)
		if listFields(v) != "capabilities" {
			t.Errorf("%s: %v %v, want violations of 'capabilities'", body, got.Capabilities, v)
		}
	}
}
