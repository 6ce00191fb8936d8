package platform_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// The kind of an identity is what only those learn who may list identities.
func TestAFilterByIdentitiesNeedsTheRightToListThem(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		lists := w.memberWith(w.role(acme.uid, core.CapRoleBindingsList), team, acme.uid)
		both := w.memberWith(w.role(acme.uid, core.CapRoleBindingsList, core.CapIdentityList), team, acme.uid)
		var req core.ListRequest[*iam.RoleBindingFilter]
		for what, read := range map[string]func(ctx org) error{
			"the list": func(o org) error { _, err := w.p.RoleBindings.List(o.owner, req); return err },
			"what counts": func(o org) error {
				_, errs := w.p.RoleBindings.ListEffective(o.owner, []core.UID{team}, "", req)
				return errs[0]
			},
			"those of a role": func(o org) error {
				_, errs := w.p.RoleBindings.ListOfRoles(o.owner, req, []core.UID{iam.ViewerRole})
				return errs[0]
			},
			"lists of groups": func(o org) error {
				_, errs := w.p.RoleBindings.ListEach(o.owner, req, []core.UIDFilter{{ChildrenOf: team}})
				return errs[0]
			},
		} {
			for _, filter := range []iam.RoleBindingFilter{
				{IdentityKinds: []iam.IdentityType{iam.IdentityTypeClaimMatch}},
				{IdentityLastSeenBefore: core.At(w.now())},
			} {
				req = core.ListRequest[*iam.RoleBindingFilter]{Filter: &filter, Parts: core.PartItems}
				err := refusal(t, what, read(org{owner: lists}), core.CodePermissionDenied)
				if got := err.Metadata["capability"]; got != string(core.CapIdentityList) {
					t.Errorf("%s: the error names %s as missing, want identity.list", what, got)
				}
				must(t, read(org{owner: both}))
			}
		}
	})
}

// The attack is a duplicate in an organization of which many bindings have just expired: its caller would wait for all.
func TestADuplicateDeletesOnlyTheExpiredBindingInItsPlace(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		again, other := w.member(acme.uid, "again"), w.member(acme.uid, "other")
		first := w.bindUntil(acme.uid, again, iam.ViewerRole, w.endIn(time.Hour))
		left := w.bindUntil(acme.uid, other, iam.ViewerRole, w.endIn(time.Hour))
		w.endBindings()
		before := len(w.events())
		second := w.bind(acme.uid, again, iam.ViewerRole)
		var deleted []core.UID
		for _, e := range w.events()[before:] {
			if e.kind == "iam.rolebindings.expired" {
				deleted = append(deleted, e.subject)
			}
		}
		if want := []core.UID{first}; !slices.Equal(deleted, want) {
			t.Errorf("deleted are %v, want %v and not %s", deleted, want, left)
		}
		_, err := w.p.RoleBindings.Create(w.operator(), acme.uid, binding(again, iam.ViewerRole))
		if e := (*core.Error)(nil); !errors.As(err, &e) || e.Code != core.CodeAlreadyExists || e.Resource.Name != string(second) {
			t.Errorf("a third one: %v, want ALREADY_EXISTS with %s", err, second)
		}
	})
}

// What is missing is named, not what the caller holds.
func TestAnErrorNamesTheRightThatIsMissing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repos := w.memberWith(w.role(acme.uid, core.CapRepoList), team, acme.uid)
		groups := w.memberWith(w.role(acme.uid, core.CapGroupsList), team, acme.uid)
		identities := w.memberWith(w.role(acme.uid, core.CapIdentityList), team, acme.uid)
		for _, within := range []core.UIDFilter{{}, {DescendantsOf: acme.uid}, {ChildrenOf: team}} {
			_, ofTags := w.p.Repos.List(repos, core.ListRequest[*inventory.RepoFilter]{UIDP: within, Filter: &inventory.RepoFilter{Tags: &core.TagCondition{}}})
			_, ofRepos := w.p.Groups.List(groups, core.ListRequest[*iam.GroupFilter]{UIDP: within, Filter: &iam.GroupFilter{Repos: &core.RepoCondition{}}})
			yes := true
			_, ofBindings := w.p.Identities.List(identities, core.ListRequest[*iam.IdentityFilter]{UIDP: within, Filter: &iam.IdentityFilter{WithoutBindings: &yes}})
			_, ofList := w.p.Tags.List(repos, core.ListRequest[*inventory.TagFilter]{UIDP: within})
			for _, c := range []struct {
				err  error
				want core.Capability
			}{{ofTags, core.CapTagList}, {ofRepos, core.CapRepoList}, {ofBindings, core.CapRoleBindingsList}, {ofList, core.CapTagList}} {
				e := refusal(t, string(c.want), c.err, core.CodePermissionDenied)
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
