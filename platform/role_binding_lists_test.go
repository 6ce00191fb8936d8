package platform_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"atrium/platform"
)

// The kind of an identity is what only those learn who may list identities.
func TestAFilterByIdentitiesNeedsTheRightToListThem(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		lists := w.with(w.role(acme.uid, platform.CapRoleBindingsList), team, acme.uid)
		both := w.with(w.role(acme.uid, platform.CapRoleBindingsList, platform.CapIdentityList), team, acme.uid)
		var req platform.ListRequest[*platform.RoleBindingFilter]
		for what, read := range map[string]func(ctx org) error{
			"the list": func(o org) error { _, err := w.p.RoleBindings.List(o.owner, req); return err },
			"what counts": func(o org) error {
				_, errs := w.p.RoleBindings.ListEffective(o.owner, []platform.UID{team}, "", req)
				return errs[0]
			},
			"those of a role": func(o org) error {
				_, errs := w.p.RoleBindings.ListOfRoles(o.owner, req, []platform.UID{platform.ViewerRole})
				return errs[0]
			},
			"lists of groups": func(o org) error {
				_, errs := w.p.RoleBindings.ListEach(o.owner, req, []platform.UIDFilter{{ChildrenOf: team}})
				return errs[0]
			},
		} {
			for _, filter := range []platform.RoleBindingFilter{
				{IdentityKinds: []platform.IdentityType{platform.IdentityTypeClaimMatch}},
				{IdentityLastSeenBefore: platform.At(w.now())},
			} {
				req = platform.ListRequest[*platform.RoleBindingFilter]{Filter: &filter, Parts: platform.PartItems}
				err := refusal(t, what, read(org{owner: lists}), platform.CodePermissionDenied)
				if got := err.Metadata["capability"]; got != string(platform.CapIdentityList) {
					t.Errorf("%s: the error names %s as missing, want identity.list", what, got)
				}
				must(t, read(org{owner: both}))
			}
		}
	})
}

// The attack is a duplicate in an organisation of which many bindings have just expired: its caller would wait for all.
func TestADuplicateDeletesOnlyTheExpiredBindingInItsPlace(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		again, other := w.member(acme.uid, "again"), w.member(acme.uid, "other")
		first := w.bindUntil(acme.uid, again, platform.ViewerRole, w.endIn(time.Hour))
		left := w.bindUntil(acme.uid, other, platform.ViewerRole, w.endIn(time.Hour))
		w.endBindings()
		before := len(w.events())
		second := w.bind(acme.uid, again, platform.ViewerRole)
		var deleted []platform.UID
		for _, e := range w.events()[before:] {
			if e.kind == "iam.rolebindings.expired" {
				deleted = append(deleted, e.subject)
			}
		}
		if want := []platform.UID{first}; !slices.Equal(deleted, want) {
			t.Errorf("deleted are %v, want %v and not %s", deleted, want, left)
		}
		_, err := w.p.RoleBindings.Create(w.operator(), acme.uid, binding(again, platform.ViewerRole))
		if e := (*platform.Error)(nil); !errors.As(err, &e) || e.Code != platform.CodeAlreadyExists || e.Resource.Name != string(second) {
			t.Errorf("a third one: %v, want ALREADY_EXISTS with %s", err, second)
		}
	})
}

// What is missing is named, not what the caller holds.
func TestAnErrorNamesTheRightThatIsMissing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repos := w.with(w.role(acme.uid, platform.CapRepoList), team, acme.uid)
		groups := w.with(w.role(acme.uid, platform.CapGroupsList), team, acme.uid)
		identities := w.with(w.role(acme.uid, platform.CapIdentityList), team, acme.uid)
		for _, within := range []platform.UIDFilter{{}, {DescendantsOf: acme.uid}, {ChildrenOf: team}} {
			_, ofTags := w.p.Repos.List(repos, platform.ListRequest[*platform.RepoFilter]{UIDP: within, Filter: &platform.RepoFilter{Tags: &platform.TagCondition{}}})
			_, ofRepos := w.p.Groups.List(groups, platform.ListRequest[*platform.GroupFilter]{UIDP: within, Filter: &platform.GroupFilter{Repos: &platform.RepoCondition{}}})
			yes := true
			_, ofBindings := w.p.Identities.List(identities, platform.ListRequest[*platform.IdentityFilter]{UIDP: within, Filter: &platform.IdentityFilter{WithoutBindings: &yes}})
			_, ofList := w.p.Tags.List(repos, platform.ListRequest[*platform.TagFilter]{UIDP: within})
			for _, c := range []struct {
				err  error
				want platform.Capability
			}{{ofTags, platform.CapTagList}, {ofRepos, platform.CapRepoList}, {ofBindings, platform.CapRoleBindingsList}, {ofList, platform.CapTagList}} {
				e := refusal(t, string(c.want), c.err, platform.CodePermissionDenied)
				if got := e.Metadata["capability"]; got != string(c.want) {
					t.Errorf("%+v: the error names %q as missing, want %s", within, got, c.want)
				}
			}
		}
	})
}

// The field is named as in the question.
func TestASummaryNamesWhereItWasToBeIn(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, ofFindings := w.p.Findings.Summarize(acme.owner, "x")
		_, ofAdvisories := w.p.Advisories.Summarize(acme.owner, "x")
		w.expect("findings", violationFields(ofFindings), "within")
		w.expect("advisories", violationFields(ofAdvisories), "within")
	})
}
