package platform_test

import (
	"reflect"
	"testing"

	"atrium/platform"
)

// Requests share their filters by pointer, so an operation that changed one would change
// the next list of its caller.
func TestAListDoesNotChangeItsFilter(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		member := w.member(acme.uid, "member")
		w.bind(acme.uid, member, platform.ViewerRole)
		bindings := platform.RoleBindingFilter{Group: acme.uid}
		advisories := platform.AdvisoryFilter{Severities: []platform.SeverityRating{platform.SeverityHigh}}
		artifacts := platform.ArtifactFilter{Ecosystems: []platform.Ecosystem{platform.EcosystemPython, platform.EcosystemJava, platform.EcosystemPython}}
		ofBindings, ofAdvisories, ofArtifacts := bindings, advisories, artifacts
		req := platform.ListRequest[*platform.RoleBindingFilter]{Filter: &ofBindings}
		_, errs := w.p.RoleBindings.ListOfIdentities(acme.owner, req, []platform.UID{member})
		must(t, errs[0])
		_, errs = w.p.RoleBindings.ListOfRoles(acme.owner, req, []platform.UID{platform.ViewerRole})
		must(t, errs[0])
		_, errs = w.p.RoleBindings.ListEffective(acme.owner, []platform.UID{acme.uid}, platform.CapRepoList, req)
		must(t, errs[0])
		_, err := w.p.Advisories.List(acme.owner, platform.ListRequest[*platform.AdvisoryFilter]{Filter: &ofAdvisories})
		must(t, err)
		_, err = w.p.Artifacts.List(acme.owner, artifactList{Filter: &ofArtifacts})
		must(t, err)
		for _, x := range [][2]any{{ofBindings, bindings}, {ofAdvisories, advisories}, {ofArtifacts, artifacts}} {
			if !reflect.DeepEqual(x[0], x[1]) {
				t.Errorf("the filter became %+v, want it as before: %+v", x[0], x[1])
			}
		}
	})
}

func TestNoFilterAndAnEmptyOneAreTheSameList(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.repo(acme.uid)
		w.repo(acme.uid)
		req := platform.ListRequest[*platform.RepoFilter]{PageSize: 1, OrderBy: "create_time"}
		page, err := w.p.Repos.List(acme.owner, req)
		must(t, err)
		req.Filter, req.PageToken = &platform.RepoFilter{}, page.NextPageToken()
		page, err = w.p.Repos.List(acme.owner, req)
		must(t, err)
		if len(page.Items) != 1 || page.TotalCount != 2 {
			t.Errorf("the second page has %d of %d repos, want 1 of 2", len(page.Items), page.TotalCount)
		}
	})
}
