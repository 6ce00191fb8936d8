package platform_test

import (
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestAcceptedTermsApplyToDescendants(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		sub := w.group(team)
		accept := func(group core.UID, documents ...string) {
			t.Helper()
			got, err := w.p.Terms.Accept(acme.owner, group, documents)
			if err != nil || got.Group != group || !slices.Equal(got.DocumentIDs, documents) {
				t.Errorf("accepted %+v (%v), want Group %v", got, err, group)
			}
		}
		accept(acme.uid, "msa", "privacy")
		accept(team, "beta")
		accept(sub, "alpha", "alpha")
		before := len(w.events())
		accept(acme.uid, "privacy") // A second acceptance is no error and changes nothing.
		if len(w.events()) != before {
			t.Error("accepting again is recorded as a change")
		}
		// A caller who may list on the group sees all acceptances that apply to it, also
		// those of groups above.
		page, err := w.p.Terms.ListOf(w.memberWith(iam.ViewerRole, team, team), team, core.ListRequest[*iam.TermsFilter]{})
		must(t, err)
		var found []string
		for _, a := range page.Items {
			found = append(found, a.DocID+" "+string(a.OrgUID))
			if a.AcceptedBy != string(acme.Identity.UID) || a.CreateTime.IsZero() {
				t.Errorf("got %+v, want AcceptedBy %v", a, acme.Identity.UID)
			}
		}
		if want := []string{"beta " + string(team), "msa " + string(acme.uid), "privacy " + string(acme.uid)}; !slices.Equal(found, want) || page.TotalCount != 3 {
			t.Errorf("%v of %d, want %v", found, page.TotalCount, want)
		}
		each, failed := w.p.Terms.ListOfEach(acme.owner, core.ListRequest[*iam.TermsFilter]{PageSize: 1}, []core.UID{acme.uid, missingBelow("nonsense"), sub})
		if failed[0] != nil || each[0].Items[0].DocID != "msa" || each[0].TotalCount != 2 || failed[2] != nil || each[2].Items[0].DocID != "alpha" || each[2].TotalCount != 4 {
			t.Errorf("for each %v (%v), want DocID 'msa', TotalCount 2, DocID 'alpha' and TotalCount 4", each, failed)
		}
		expectRefused(t, "of a group that is none", failed[1], core.CodeInvalidArgument)
		next, failed := w.p.Terms.ListOfEach(acme.owner, core.ListRequest[*iam.TermsFilter]{PageToken: each[2].NextPageToken()}, []core.UID{sub, team})
		if failed[0] != nil || len(next[0].Items) != 3 || next[0].Items[0].DocID != "beta" {
			t.Errorf("the next page is %v, want 3 of them (%v)", next[0].Items, failed[0])
		}
		expectRefused(t, "with the token of another group", failed[1], core.CodeInvalidArgument)
		var walked []string
		for token := ""; ; {
			page, err := w.p.Terms.ListOf(acme.owner, sub, core.ListRequest[*iam.TermsFilter]{PageSize: 1, PageToken: token, OrderBy: "create_time desc"})
			must(t, err)
			walked = append(walked, page.Items[0].DocID)
			if token = page.NextPageToken(); token == "" {
				break
			}
		}
		if len(walked) != 4 || walked[0] != "alpha" || walked[1] != "beta" {
			t.Errorf("walked %v, want 4 of them", walked)
		}
		rows, errs := w.p.Terms.GetMany(acme.owner, []iam.TermsKey{{Group: team, DocID: "beta"}, {Group: team, DocID: "msa"}, {Group: acme.uid, DocID: "msa"}})
		if errs[0] != nil || rows[0].DocID != "beta" || errs[2] != nil || rows[2].OrgUID != acme.uid {
			t.Errorf("got %v (%v), want DocID 'beta'", rows, errs)
		}
		expectRefused(t, "of another group", errs[1], core.CodeNotFound)
		for _, id := range []string{"a\x00", "\xff"} { // No engine accepts these texts.
			_, errs := w.p.Terms.GetMany(acme.owner, []iam.TermsKey{{Group: team, DocID: id}})
			expectRefused(t, "what is no text", errs[0], core.CodeNotFound)
		}
		_, err = w.p.Terms.Accept(acme.owner, missingBelow(acme.uid), []string{"x"})
		expectRefused(t, "for a missing group", err, core.CodeNotFound)
		_, err = w.p.Terms.ListOf(acme.owner, missingBelow(acme.uid), core.ListRequest[*iam.TermsFilter]{})
		expectRefused(t, "of a missing group", err, core.CodeNotFound)
		_, err = w.p.Terms.ListOf(acme.owner, w.repo(team), core.ListRequest[*iam.TermsFilter]{})
		expectRefused(t, "of a repo", err, core.CodeNotFound)
		for what, documents := range map[string][]string{"documentIds": nil, "documentIds[1]": {"x", ""}} {
			if _, err := w.p.Terms.Accept(acme.owner, team, documents); violationFields(err) != what {
				t.Errorf("%v: %s, want %s", documents, violationFields(err), what)
			}
		}
		w.checkCounters()
	})
}

func TestTermsAndMappingsOfAGroupDoNotBlockItsDeletion(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		_, err := w.p.Terms.Accept(acme.owner, team, []string{"a", "b"})
		must(t, err)
		mapping := w.mappingTo(w.provider(acme.uid), "x", iam.ViewerRole, team)
		must(t, w.p.Groups.Delete(acme.owner, team))
		_, err = w.p.ExternalGroupRoleMappings.Get(acme.owner, mapping)
		expectRefused(t, "its mapping", err, core.CodeNotFound)
		w.checkCounters()
	})
}
