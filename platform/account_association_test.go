package platform_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestAnAssociationHasTheUIDOfItsGroup(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		a := w.group(acme.uid)
		b := w.group(a)
		deep := w.group(w.group(w.group(b)))
		for _, group := range []core.UID{acme.uid, a, b, deep} {
			made, err := w.p.AccountAssociations.Create(acme.owner, group, body[*iam.AccountAssociation](`{"name": %q}`, w.name()))
			must(t, err)
			if made.UID != group {
				t.Errorf("made %s in %s, want UID %v", made.UID, group, group)
			}
		}
		_, err := w.p.AccountAssociations.Create(acme.owner, a, body[*iam.AccountAssociation](`{"name": "second"}`))
		if e := refusal(t, "a second one", err, core.CodeAlreadyExists); e.Resource.Name != string(a) {
			t.Errorf("it names %+v, want Name %v", e.Resource, a)
		}
		sub := w.memberWith(iam.ViewerRole, b, acme.uid) // This caller sees a part.
		for what, x := range map[string]struct {
			uidp        core.UIDFilter
			owner, part int64
		}{
			"all":                              {core.UIDFilter{}, 4, 2},
			"below the root":                   {core.UIDFilter{DescendantsOf: acme.uid}, 4, 2},
			"below a group":                    {core.UIDFilter{DescendantsOf: a}, 3, 2},
			"below a group, deeper":            {core.UIDFilter{DescendantsOf: b}, 2, 2},
			"below a very deep group":          {core.UIDFilter{DescendantsOf: deep}, 1, 1},
			"children":                         {core.UIDFilter{ChildrenOf: b}, 1, 1},
			"children of what is seen in part": {core.UIDFilter{ChildrenOf: a}, 1, -1}, // The caller sees only a part of these children, so the list is rejected.
			"in the root":                      {core.UIDFilter{InRoot: true}, 1, 0},
			"by id":                            {core.UIDFilter{IDs: []core.UID{a, b}, DescendantsOf: b}, 1, 1},
			"above":                            {core.UIDFilter{AncestorsOf: deep}, 3, 1},
		} {
			for _, order := range []string{"", "uid"} {
				page, err := w.p.AccountAssociations.List(acme.owner, core.ListRequest[*iam.AccountAssociationFilter]{UIDP: x.uidp, OrderBy: order})
				if err != nil || page.TotalCount != x.owner || int64(len(page.Items)) != x.owner {
					t.Errorf("%s, ordered by %q: %d of %d, want %d (%v)", what, order, len(page.Items), page.TotalCount, x.owner, err)
				}
				page, err = w.p.AccountAssociations.List(sub, core.ListRequest[*iam.AccountAssociationFilter]{UIDP: x.uidp, OrderBy: order})
				if x.part < 0 {
					expectRefused(t, what, err, core.CodePermissionDenied)
				} else if err != nil || page.TotalCount != x.part || int64(len(page.Items)) != x.part {
					t.Errorf("%s, ordered by %q, seen in part: %d of %d, want %d (%v)", what, order, len(page.Items), page.TotalCount, x.part, err)
				}
			}
		}
		w.checkCounters()
		expectRefused(t, "its group", w.p.Groups.Delete(acme.owner, deep), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		must(t, w.p.AccountAssociations.Delete(acme.owner, deep))
		must(t, w.p.Groups.Delete(acme.owner, deep))
		w.checkCounters()
	})
}

// The error must not show whether an identity of another group has a binding.
func TestAServiceActsAsAnIdentityOfTheGroupOnly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, elsewhere := w.found("acme"), w.found("elsewhere")
		team := w.group(acme.uid)
		secret := w.group(acme.uid)
		above := w.member(acme.uid, "above")
		w.bind(secret, above, iam.ViewerRole)
		lead := w.memberWith(iam.OwnerRole, team, team)
		as := func(identity core.UID) error {
			_, err := w.p.AccountAssociations.Create(lead, team, body[*iam.AccountAssociation](
				`{"name": "x", "platform": {"serviceBindings": {"scans": "me", "builds": %q}}}`, identity))
			return err
		}
		for what, identity := range map[string]core.UID{
			"of another organization": elsewhere.Identity.UID, "of a group beside": w.member(secret, "beside"),
		} {
			if got := violationFields(as(identity)); got != "platform.serviceBindings.builds" {
				t.Errorf("an identity %s: %s, want platform.serviceBindings.builds", what, got)
			}
		}
		expectRefused(t, "an organization as the identity", as(acme.uid), core.CodeNotFound)
		err := as(above)
		expectRefused(t, "an identity with more", err, core.CodePermissionDenied)
		if strings.Contains(err.Error(), string(secret)) || strings.Contains(err.Error(), "groups.list") {
			t.Errorf("it tells what is bound: %v", err)
		}
		if err := as(w.member(team, "own")); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAssociationKeepsEveryAccount(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const full = `{"name": "Accounts of Acme", "description": "d", "amazon": {"account": "123456789012"},
			"google": {"project_id": "p", "projectNumber": "42"}, "platform": {"serviceBindings": {"catalog": "syncer"}},
			"azure": {"tenantId": "t", "clientIds": {"pull": "c"}}, "github": {"appInstallations": {"7": {"installations": [{"installationId": "9007199254740993", "name": "org"}]}}}}`
		made, err := w.p.AccountAssociations.Create(acme.owner, acme.uid, body[*iam.AccountAssociation]("%s", full))
		must(t, err)
		got, err := w.p.AccountAssociations.Get(acme.owner, acme.uid)
		must(t, err)
		wrote, _ := json.Marshal(made)
		read, _ := json.Marshal(got)
		if string(wrote) != string(read) || got.GitHub.AppInstallations[7].Installations[0].InstallationID != 9007199254740993 || got.Google.ProjectID != "p" {
			t.Errorf("wrote %s, read %s, want %v, InstallationID 9007199254740993 and ProjectID 'p'", wrote, read, read)
		}
		got, err = w.p.AccountAssociations.Update(acme.owner, acme.uid, body[*iam.AccountAssociation](`{"amazon": null, "azure": {"tenantId": "u", "clientIds": {"push": "d"}}}`))
		must(t, err)
		if got.Amazon != nil || got.Azure.TenantID != "u" || len(got.Azure.ClientIDs) != 1 || got.Google == nil {
			t.Errorf("changed to %+v, want no Amazon, TenantID 'u' and 1 clientids", got)
		}
		_, err = w.p.AccountAssociations.Create(acme.owner, w.group(acme.uid), body[*iam.AccountAssociation](
			`{"amazon": {}, "google": {"projectId": ""}, "platform": {}, "azure": {"clientIds": {"x": ""}}, "github": {"appInstallations": {"1": {"installations": [{}]}}}}`))
		if got, want := violationFields(err), "name amazon.account google.projectId google.projectNumber platform.serviceBindings azure.tenantId azure.clientIds.x github.appInstallations.1.installations[0].installationId"; got != want {
			t.Errorf("violated: %s, want %s", got, want)
		}
	})
}
