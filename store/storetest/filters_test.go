package storetest_test

import (
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// This file says in Go what each filter means.

// someLabels are those of the groups and repos of a forest.
var someLabels = []core.Labels{nil, {"env": "prod"}, {"env": "test"}, {"env": "prod", "pci": ""}, {"env": "test", "pci": ""}, {"pci": "yes", "env": "prod"}}

func (f *forest) groupFilters() []filterCase[*iam.Group, *iam.GroupFilter] {
	name, since := pick(f.d, f.groups).Name, core.At(epoch.Add(moments[2]))
	return []filterCase[*iam.Group, *iam.GroupFilter]{
		{}, {}, {&iam.GroupFilter{ChangeFilter: core.ChangeFilter{CreatedSince: since}}, func(g *iam.Group) bool { return !g.CreateTime.Before(since.Time) }},
		{&iam.GroupFilter{ChangeFilter: core.ChangeFilter{UpdatedSince: since}}, func(g *iam.Group) bool { return !g.UpdateTime.Before(since.Time) }},
		{&iam.GroupFilter{Repos: &core.RepoCondition{Tiers: []core.CatalogTier{core.CatalogTierAI}}}, func(g *iam.Group) bool {
			return slices.ContainsFunc(f.repos, func(r *inventory.Repo) bool { return r.UID.Parent() == g.UID && r.CatalogTier == core.CatalogTierAI })
		}},
		{&iam.GroupFilter{LabelFilter: core.LabelFilter{Labels: []core.LabelCondition{{Key: "env", Value: new("prod")}}}}, func(g *iam.Group) bool { return g.Labels["env"] == "prod" }},
		{&iam.GroupFilter{Name: name}, func(g *iam.Group) bool { return g.Name == name }},
	}
}

func (f *forest) identityFilters() []filterCase[*iam.Identity, *iam.IdentityFilter] {
	since, yes, no := core.At(epoch.Add(moments[2])), true, false
	bound := map[core.UID]bool{}
	for _, b := range f.bindings {
		bound[b.Identity.UID] = true
	}
	return []filterCase[*iam.Identity, *iam.IdentityFilter]{
		{}, {}, {&iam.IdentityFilter{Name: "a-b"}, func(i *iam.Identity) bool { return i.Name == "a-b" }},
		{&iam.IdentityFilter{RelationshipType: iam.RelationshipTypeClaimMatch}, func(i *iam.Identity) bool { return i.ClaimMatch != nil }},
		{&iam.IdentityFilter{RelationshipType: iam.RelationshipTypeStatic}, func(i *iam.Identity) bool { return i.StaticKeys != nil }},
		{&iam.IdentityFilter{NeverSeen: &yes}, func(i *iam.Identity) bool { return i.LastSeenTime.IsZero() }},
		{&iam.IdentityFilter{NeverSeen: &no}, func(i *iam.Identity) bool { return !i.LastSeenTime.IsZero() }},
		{&iam.IdentityFilter{WithoutBindings: &yes}, func(i *iam.Identity) bool { return !bound[i.UID] }},
		{&iam.IdentityFilter{WithoutBindings: &no, ChangeFilter: core.ChangeFilter{UpdatedSince: since}}, func(i *iam.Identity) bool {
			return bound[i.UID] && !i.UpdateTime.Before(since.Time)
		}},
		{&iam.IdentityFilter{WithoutBindings: &no}, func(i *iam.Identity) bool { return bound[i.UID] }},
		{&iam.IdentityFilter{LastSeenBefore: since}, func(i *iam.Identity) bool { return i.LastSeenTime.Before(since.Time) }},
	}
}

func (f *forest) roleFilters() []filterCase[*iam.Role, *iam.RoleFilter] {
	return []filterCase[*iam.Role, *iam.RoleFilter]{
		{}, {}, {&iam.RoleFilter{Name: "a"}, func(r *iam.Role) bool { return r.Name == "a" }},
		{&iam.RoleFilter{Capabilities: []core.Capability{core.CapTagList, core.CapRepoList}}, func(r *iam.Role) bool {
			return slices.Contains(r.Capabilities, core.CapTagList) && slices.Contains(r.Capabilities, core.CapRepoList)
		}},
		{&iam.RoleFilter{Name: "viewer"}, func(r *iam.Role) bool { return r.Name == "viewer" }},
	}
}

func (f *forest) bindingFilters() []filterCase[*iam.RoleBinding, *iam.RoleBindingFilter] {
	one, since := pick(f.d, f.bindings), core.At(epoch.Add(moments[2]))
	kinds, seen := map[core.UID]iam.IdentityType{}, map[core.UID]core.Time{}
	for _, i := range f.identities {
		seen[i.UID] = i.LastSeenTime
		switch {
		case i.ClaimMatch != nil:
			kinds[i.UID] = iam.IdentityTypeClaimMatch
		case i.StaticKeys != nil:
			kinds[i.UID] = iam.IdentityTypeStaticKeys
		case i.Provider == "":
			kinds[i.UID] = iam.IdentityTypeNobody
		}
	}
	holding := map[core.UID]bool{}
	for _, r := range slices.Concat(f.roles, f.builtIn) {
		holding[r.UID] = slices.Contains(r.Capabilities, core.CapTagList)
	}
	return []filterCase[*iam.RoleBinding, *iam.RoleBindingFilter]{
		{}, {},
		{&iam.RoleBindingFilter{Identity: one.Identity.UID}, func(b *iam.RoleBinding) bool { return b.Identity.UID == one.Identity.UID }},
		{&iam.RoleBindingFilter{Group: one.Group.UID}, func(b *iam.RoleBinding) bool { return b.Group.UID == one.Group.UID }},
		{&iam.RoleBindingFilter{Role: iam.ViewerRole}, func(b *iam.RoleBinding) bool { return b.Role.UID == iam.ViewerRole }},
		{&iam.RoleBindingFilter{CreatedSince: since}, func(b *iam.RoleBinding) bool { return !b.CreateTime.Before(since.Time) }},
		{&iam.RoleBindingFilter{Expiring: &iam.ExpiringFilter{}}, func(b *iam.RoleBinding) bool { return !b.ExpireTime.IsZero() }},
		{&iam.RoleBindingFilter{Expiring: &iam.ExpiringFilter{Before: ends[3]}}, func(b *iam.RoleBinding) bool { return b.ExpireTime == ends[2] }},
		{&iam.RoleBindingFilter{IdentityKinds: []iam.IdentityType{iam.IdentityTypeStaticKeys, iam.IdentityTypeNobody}}, func(b *iam.RoleBinding) bool {
			kind := kinds[b.Identity.UID]
			return kind == iam.IdentityTypeStaticKeys || kind == iam.IdentityTypeNobody
		}},
		{&iam.RoleBindingFilter{IdentityKinds: []iam.IdentityType{iam.IdentityTypeClaimMatch}}, func(b *iam.RoleBinding) bool {
			return kinds[b.Identity.UID] == iam.IdentityTypeClaimMatch
		}},
		{&iam.RoleBindingFilter{IdentityLastSeenBefore: since}, func(b *iam.RoleBinding) bool { return seen[b.Identity.UID].Before(since.Time) }},
		{&iam.RoleBindingFilter{UnreviewedSince: since}, func(b *iam.RoleBinding) bool {
			return b.CreateTime.Before(since.Time) && b.ReviewTime.Before(since.Time)
		}},
		{&iam.RoleBindingFilter{Capability: core.CapTagList}, func(b *iam.RoleBinding) bool { return holding[b.Role.UID] }},
	}
}

// containsWords returns a function that reports whether the texts of a row contain all
// words of a query.
func containsWords[T any](query string, texts func(T) []string) func(T) bool {
	return func(row T) bool { return searchedRow{texts: texts(row)}.stage(query) > 0 }
}

// intersects reports whether two lists have an element in common.
func intersects(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func (f *forest) repoFilters() []filterCase[*inventory.Repo, *inventory.RepoFilter] {
	some, since := []string{"a/b", "z9", "none such"}, core.At(epoch.Add(moments[2]))
	listed := []string{`says "pay"`, "pay_ments 100%", "back\\slash", "none such"}
	return []filterCase[*inventory.Repo, *inventory.RepoFilter]{
		{}, {}, {&inventory.RepoFilter{Name: "a.b"}, func(r *inventory.Repo) bool { return r.Name == "a.b" }},
		{&inventory.RepoFilter{Names: some}, func(r *inventory.Repo) bool { return slices.Contains(some, r.Name) }},
		{&inventory.RepoFilter{Query: "PAY team"}, containsWords("PAY team", func(r *inventory.Repo) []string { return append([]string{r.Name, r.Description}, r.Aliases...) })},
		{&inventory.RepoFilter{Query: "a"}, containsWords("a", func(r *inventory.Repo) []string { return append([]string{r.Name, r.Description}, r.Aliases...) })},
		{&inventory.RepoFilter{Tiers: []core.CatalogTier{core.CatalogTierAI, core.CatalogTierFIPS}}, func(r *inventory.Repo) bool { return r.CatalogTier == core.CatalogTierAI }},
		{&inventory.RepoFilter{Tags: &core.TagCondition{Name: "a", UpdatedSince: since}}, func(r *inventory.Repo) bool {
			return slices.ContainsFunc(f.tags, func(t *inventory.Tag) bool {
				return t.UID.Parent() == r.UID && t.Name == "a" && !t.UpdateTime.Before(since.Time)
			})
		}},
		{&inventory.RepoFilter{LabelFilter: core.LabelFilter{Labels: []core.LabelCondition{{Key: "env", Value: new("prod")}}}}, func(r *inventory.Repo) bool { return r.Labels["env"] == "prod" }},
		{&inventory.RepoFilter{LabelFilter: core.LabelFilter{Labels: []core.LabelCondition{{Key: "env"}, {Key: "pci", Value: new("")}}}}, func(r *inventory.Repo) bool {
			value, isCard := r.Labels["pci"]
			return r.Labels["env"] != "" && isCard && value == ""
		}},
		{&inventory.RepoFilter{Bundles: listed, Aliases: listed[:2]}, func(r *inventory.Repo) bool {
			return intersects(r.Bundles, listed) && intersects(r.Aliases, listed[:2])
		}},
	}
}

func (f *forest) tagFilters() []filterCase[*inventory.Tag, *inventory.TagFilter] {
	some, yes, no := []string{"a", "A", "_x"}, true, false
	since := core.At(epoch.Add(moments[2]))
	classes := []inventory.TagClass{inventory.TagClassEpoch, inventory.TagClassDate}
	return []filterCase[*inventory.Tag, *inventory.TagFilter]{
		{}, {}, {&inventory.TagFilter{Name: "a"}, func(t *inventory.Tag) bool { return t.Name == "a" }},
		{&inventory.TagFilter{Query: "A"}, containsWords("A", func(t *inventory.Tag) []string { return []string{t.Name} })},
		{&inventory.TagFilter{Query: "LATE"}, containsWords("LATE", func(t *inventory.Tag) []string { return []string{t.Name} })},
		{&inventory.TagFilter{Query: "0260 X-2", Without: classes[:1]}, func(t *inventory.Tag) bool { return t.Name == "x-20260327" }},
		{&inventory.TagFilter{Names: some}, func(t *inventory.Tag) bool { return slices.Contains(some, t.Name) }},
		{&inventory.TagFilter{UpdatedSince: since}, func(t *inventory.Tag) bool { return !t.UpdateTime.Before(since.Time) }},
		{&inventory.TagFilter{Digest: digests[1]}, func(t *inventory.Tag) bool { return t.Digest == digests[1] }},
		{&inventory.TagFilter{Deprecated: &yes}, func(t *inventory.Tag) bool { return t.Deprecated }},
		{&inventory.TagFilter{Deprecated: &no}, func(t *inventory.Tag) bool { return !t.Deprecated }},
		{&inventory.TagFilter{Deprecated: &no, Without: classes}, func(t *inventory.Tag) bool { return !t.Deprecated && t.Class == "" }},
	}
}

func (f *forest) subscriptionFilters() []filterCase[*webhooks.Subscription, *webhooks.SubscriptionFilter] {
	sink := "https://sink.example.com/0"
	return []filterCase[*webhooks.Subscription, *webhooks.SubscriptionFilter]{
		{}, {}, {&webhooks.SubscriptionFilter{Sink: sink}, func(s *webhooks.Subscription) bool { return s.Sink == sink }},
	}
}

// anyEvent returns a function that reports whether an event of an advisory meets a
// condition.
func anyEvent(is func(*inventory.AdvisoryEvent) bool) func(*inventory.Advisory) bool {
	return func(a *inventory.Advisory) bool {
		for i := range a.Events {
			if is(&a.Events[i]) {
				return true
			}
		}
		return false
	}
}

func oneOf[T any, S comparable](values []S, valueOf func(T) S) func(T) bool {
	return func(row T) bool { return slices.Contains(values, valueOf(row)) }
}

func (f *forest) advisoryFilters() []filterCase[*inventory.Advisory, *inventory.AdvisoryFilter] {
	since := core.At(epoch.Add(moments[2]))
	type filter = inventory.AdvisoryFilter
	ids, names := []string{"GO-0", "GO-2"}, []string{"a", "a_b"}
	bad, score, zero := []core.SeverityRating{core.SeverityHigh, core.SeverityCritical, core.SeverityHigh}, 6.55, 0.0
	rated := oneOf(bad, func(a *inventory.Advisory) core.SeverityRating { return a.Severity.Rating })
	scored := func(least float64) func(*inventory.Advisory) bool {
		return func(a *inventory.Advisory) bool { return a.Severity.Score != nil && *a.Severity.Score >= least }
	}
	open, settled := []inventory.AdvisoryState{inventory.AdvisoryOpen}, []inventory.AdvisoryState{inventory.AdvisoryFixed, inventory.AdvisoryNotAffected}
	in := func(states ...inventory.AdvisoryState) func(*inventory.Advisory) bool {
		return oneOf(states, (*inventory.Advisory).State)
	}
	return []filterCase[*inventory.Advisory, *filter]{
		{}, {},
		{&filter{AdvisoryIDs: ids}, oneOf(ids, func(a *inventory.Advisory) string { return a.AdvisoryID })},
		{&filter{ArtifactNames: names}, oneOf(names, func(a *inventory.Advisory) string { return a.ArtifactName })},
		{&filter{ArtifactTypes: []string{"go"}, ArtifactNames: names}, func(a *inventory.Advisory) bool {
			return a.ArtifactType == "go" && slices.Contains(names, a.ArtifactName)
		}},
		{&filter{ComponentNames: []string{"Lib_1"}}, func(a *inventory.Advisory) bool { return a.ComponentName == "Lib_1" }},
		{&filter{Aliases: []string{"CVE-1", "CVE-3"}}, func(a *inventory.Advisory) bool { return a.Aliases[0] == "CVE-1" || a.Aliases[0] == "CVE-3" }},
		{&filter{ChangeFilter: core.ChangeFilter{UpdatedSince: since}}, func(a *inventory.Advisory) bool { return !a.UpdateTime.Before(since.Time) }},
		{&filter{Origin: "osv"}, func(a *inventory.Advisory) bool { return a.Origin == "osv" }},
		{&filter{EventTypes: []inventory.EventType{inventory.EventTypePatched, inventory.EventTypeDetection}}, anyEvent(func(e *inventory.AdvisoryEvent) bool { return e.Patched != nil || e.Detection != nil })},
		{&filter{LatestEventType: inventory.EventTypeFixed}, func(a *inventory.Advisory) bool { n := len(a.Events); return n > 0 && a.Events[n-1].Fixed != nil }},
		{&filter{EventAuthors: []string{"a_n"}}, anyEvent(func(e *inventory.AdvisoryEvent) bool { return e.Author == "a_n" })},
		{&filter{EventReviewers: []string{"100%"}}, anyEvent(func(e *inventory.AdvisoryEvent) bool { return e.Reviewer == "100%" })},
		{&filter{EventReviewStates: []inventory.ReviewState{inventory.ReviewStateApproved}}, anyEvent(func(e *inventory.AdvisoryEvent) bool { return e.ReviewState == inventory.ReviewStateApproved })},
		{&filter{ExcludeEventAuthors: []string{"ann"}}, func(a *inventory.Advisory) bool {
			return !anyEvent(func(e *inventory.AdvisoryEvent) bool { return e.Author == "ann" })(a)
		}},
		{&filter{Query: "LIB_"}, func(a *inventory.Advisory) bool { return strings.HasPrefix(a.ComponentName, "Lib_") }},
		{&filter{Query: "b%1"}, func(a *inventory.Advisory) bool { return a.ComponentName == "lib%1" }},
		{&filter{Withdrawn: true}, nil}, {&filter{Severities: bad}, rated}, {&filter{Severities: bad, Withdrawn: true}, rated},
		{&filter{MinScore: &score}, scored(score)}, {&filter{MinScore: &zero, Withdrawn: true}, scored(0)},
		{&filter{Severities: bad, LatestEventType: inventory.EventTypeFixed, MinScore: &score}, func(a *inventory.Advisory) bool {
			return rated(a) && scored(score)(a) && a.LatestEventType() == inventory.EventTypeFixed
		}},
		{&filter{States: open}, in(open...)}, {&filter{States: settled}, in(settled...)}, {&filter{States: settled[:1], Withdrawn: true}, in(settled[0])},
		{&filter{States: open, Withdrawn: true}, in(open...)}, {&filter{States: inventory.AdvisoryStates()}, nil},
		{&filter{States: open, Severities: bad}, func(a *inventory.Advisory) bool { return rated(a) && in(open...)(a) }},
		{&filter{States: []inventory.AdvisoryState{open[0], settled[1], open[0]}, MinScore: &score}, func(a *inventory.Advisory) bool { return scored(score)(a) && in(open[0], settled[1])(a) }},
		{&filter{Query: "cve-2"}, func(a *inventory.Advisory) bool { return a.Aliases[0] == "CVE-2" }},
	}
}
