package platform_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
)

// Requests share their filters by pointer, so an operation that changed one would change
// the next list of its caller.
func TestAListDoesNotChangeItsFilter(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		member := w.member(acme.uid, "member")
		w.bind(acme.uid, member, iam.ViewerRole)
		bindings := iam.RoleBindingFilter{Group: acme.uid}
		advisories := inventory.AdvisoryFilter{Severities: []core.SeverityRating{core.SeverityHigh}}
		artifacts := libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{libraries.EcosystemPython, libraries.EcosystemJava, libraries.EcosystemPython}}
		ofBindings, ofAdvisories, ofArtifacts := bindings, advisories, artifacts
		req := core.ListRequest[*iam.RoleBindingFilter]{Filter: &ofBindings}
		_, errs := w.p.RoleBindings.ListOfIdentities(acme.owner, req, []core.UID{member})
		must(t, errs[0])
		_, errs = w.p.RoleBindings.ListOfRoles(acme.owner, req, []core.UID{iam.ViewerRole})
		must(t, errs[0])
		_, errs = w.p.RoleBindings.ListEffective(acme.owner, []core.UID{acme.uid}, core.CapRepoList, req)
		must(t, errs[0])
		_, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: &ofAdvisories})
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
		req := core.ListRequest[*inventory.RepoFilter]{PageSize: 1, OrderBy: "create_time"}
		page, err := w.p.Repos.List(acme.owner, req)
		must(t, err)
		req.Filter, req.PageToken = &inventory.RepoFilter{}, page.NextPageToken()
		page, err = w.p.Repos.List(acme.owner, req)
		must(t, err)
		if len(page.Items) != 1 || page.TotalCount != 2 {
			t.Errorf("the second page has %d of %d repos, want 1 of 2", len(page.Items), page.TotalCount)
		}
	})
}

// An interval that ends before it begins matches nothing, which looks as if there were nothing to find.
func TestAFilterWhoseTimesMatchNothingIsRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		early, late := core.Time{Time: epoch}, core.Time{Time: epoch.Add(time.Hour)}
		expectFault := func(err error, want string) {
			t.Helper()
			got := ""
			if err != nil && len(core.AsError(err).Violations) > 0 {
				got = core.AsError(err).Violations[0].Field + " " + core.AsError(err).Violations[0].Description
			}
			if got != want {
				t.Errorf("the error is %v, want the violation %q", err, want)
			}
		}
		_, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{
			Filter: &iam.RoleBindingFilter{CreatedSince: late, UnreviewedSince: early},
		})
		expectFault(err, "unreviewedSince must not be before createdSince")

		found := 0
		operations := reflect.ValueOf(w.p.Operations)
		for i := range operations.NumField() {
			list := operations.Field(i).MethodByName("List")
			requestType := list.Type().In(1)
			field, _ := requestType.FieldByName("Filter")
			filterType := field.Type.Elem()
			for _, since := range reflect.VisibleFields(filterType) {
				subject, isStart := strings.CutSuffix(since.Name, "Since")
				before, hasEnd := filterType.FieldByName(subject + "Before")
				if !isStart || !hasEnd {
					continue
				}
				found++
				for _, times := range [][2]core.Time{{early, late}, {early, early}, {late, early}} {
					req, filter, want := reflect.New(requestType).Elem(), reflect.New(filterType), ""
					filter.Elem().FieldByIndex(since.Index).Set(reflect.ValueOf(times[0]))
					filter.Elem().FieldByIndex(before.Index).Set(reflect.ValueOf(times[1]))
					if required, isOf := filter.Interface().(*libraries.ArtifactFilter); isOf {
						required.Ecosystems = []libraries.Ecosystem{libraries.EcosystemJava}
					}
					req.FieldByName("Filter").Set(filter)
					if times[1].Before(times[0].Time) {
						want = lowerFirst(before.Name) + " must not be before " + lowerFirst(since.Name)
					}
					err, _ := list.Call([]reflect.Value{reflect.ValueOf(acme.owner), req})[1].Interface().(error)
					expectFault(err, want)
				}
			}
		}
		if found == 0 {
			t.Error("no filter has both ends of an interval")
		}
	})
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }
