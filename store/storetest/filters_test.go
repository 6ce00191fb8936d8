package storetest_test

import (
	"slices"
	"strings"

	"atrium/platform"
)

// This file says in Go what each filter means.

// someLabels are those of the groups and repos of a forest.
var someLabels = []platform.Labels{nil, {"env": "prod"}, {"env": "test"}, {"env": "prod", "pci": ""}, {"env": "test", "pci": ""}, {"pci": "yes", "env": "prod"}}

func (f *forest) groupFilters() []filterCase[*platform.Group, *platform.GroupFilter] {
	name, since := pick(f.d, f.groups).Name, platform.At(epoch.Add(moments[2]))
	return []filterCase[*platform.Group, *platform.GroupFilter]{
		{}, {}, {&platform.GroupFilter{ChangeFilter: platform.ChangeFilter{CreatedSince: since}}, func(g *platform.Group) bool { return !g.CreateTime.Before(since.Time) }},
		{&platform.GroupFilter{ChangeFilter: platform.ChangeFilter{UpdatedSince: since}}, func(g *platform.Group) bool { return !g.UpdateTime.Before(since.Time) }},
		{&platform.GroupFilter{Repos: &platform.RepoCondition{Tiers: []platform.CatalogTier{platform.CatalogTierAI}}}, func(g *platform.Group) bool {
			return slices.ContainsFunc(f.repos, func(r *platform.Repo) bool { return r.UID.Parent() == g.UID && r.CatalogTier == platform.CatalogTierAI })
		}},
		{&platform.GroupFilter{LabelFilter: platform.LabelFilter{Labels: []string{"env=prod"}}}, func(g *platform.Group) bool { return g.Labels["env"] == "prod" }},
		{&platform.GroupFilter{Name: name}, func(g *platform.Group) bool { return g.Name == name }},
	}
}

func (f *forest) identityFilters() []filterCase[*platform.Identity, *platform.IdentityFilter] {
	since, yes, no := platform.At(epoch.Add(moments[2])), true, false
	bound := map[platform.UID]bool{}
	for _, b := range f.bindings {
		bound[b.Identity.UID] = true
	}
	return []filterCase[*platform.Identity, *platform.IdentityFilter]{
		{}, {}, {&platform.IdentityFilter{Name: "a-b"}, func(i *platform.Identity) bool { return i.Name == "a-b" }},
		{&platform.IdentityFilter{RelationshipType: platform.RelationshipTypeClaimMatch}, func(i *platform.Identity) bool { return i.ClaimMatch != nil }},
		{&platform.IdentityFilter{RelationshipType: platform.RelationshipTypeStatic}, func(i *platform.Identity) bool { return i.StaticKeys != nil }},
		{&platform.IdentityFilter{NeverSeen: &yes}, func(i *platform.Identity) bool { return i.LastSeenTime.IsZero() }},
		{&platform.IdentityFilter{NeverSeen: &no}, func(i *platform.Identity) bool { return !i.LastSeenTime.IsZero() }},
		{&platform.IdentityFilter{WithoutBindings: &yes}, func(i *platform.Identity) bool { return !bound[i.UID] }},
		{&platform.IdentityFilter{WithoutBindings: &no, ChangeFilter: platform.ChangeFilter{UpdatedSince: since}}, func(i *platform.Identity) bool {
			return bound[i.UID] && !i.UpdateTime.Before(since.Time)
		}},
		{&platform.IdentityFilter{WithoutBindings: &no}, func(i *platform.Identity) bool { return bound[i.UID] }},
		{&platform.IdentityFilter{LastSeenBefore: since}, func(i *platform.Identity) bool { return i.LastSeenTime.Before(since.Time) }},
	}
}

func (f *forest) roleFilters() []filterCase[*platform.Role, *platform.RoleFilter] {
	return []filterCase[*platform.Role, *platform.RoleFilter]{
		{}, {}, {&platform.RoleFilter{Name: "a"}, func(r *platform.Role) bool { return r.Name == "a" }},
		{&platform.RoleFilter{Capabilities: []platform.Capability{platform.CapTagList, platform.CapRepoList}}, func(r *platform.Role) bool {
			return slices.Contains(r.Capabilities, platform.CapTagList) && slices.Contains(r.Capabilities, platform.CapRepoList)
		}},
		{&platform.RoleFilter{Name: "viewer"}, func(r *platform.Role) bool { return r.Name == "viewer" }},
	}
}

func (f *forest) bindingFilters() []filterCase[*platform.RoleBinding, *platform.RoleBindingFilter] {
	one, since := pick(f.d, f.bindings), platform.At(epoch.Add(moments[2]))
	kinds, seen := map[platform.UID]platform.IdentityType{}, map[platform.UID]platform.Time{}
	for _, i := range f.identities {
		seen[i.UID] = i.LastSeenTime
		switch {
		case i.ClaimMatch != nil:
			kinds[i.UID] = platform.IdentityTypeClaimMatch
		case i.StaticKeys != nil:
			kinds[i.UID] = platform.IdentityTypeStaticKeys
		case i.Provider == "":
			kinds[i.UID] = platform.IdentityTypeNobody
		}
	}
	holding := map[platform.UID]bool{}
	for _, r := range slices.Concat(f.roles, f.builtIn) {
		holding[r.UID] = slices.Contains(r.Capabilities, platform.CapTagList)
	}
	return []filterCase[*platform.RoleBinding, *platform.RoleBindingFilter]{
		{}, {},
		{&platform.RoleBindingFilter{Identity: one.Identity.UID}, func(b *platform.RoleBinding) bool { return b.Identity.UID == one.Identity.UID }},
		{&platform.RoleBindingFilter{Group: one.Group.UID}, func(b *platform.RoleBinding) bool { return b.Group.UID == one.Group.UID }},
		{&platform.RoleBindingFilter{Role: platform.ViewerRole}, func(b *platform.RoleBinding) bool { return b.Role.UID == platform.ViewerRole }},
		{&platform.RoleBindingFilter{CreatedSince: since}, func(b *platform.RoleBinding) bool { return !b.CreateTime.Before(since.Time) }},
		{&platform.RoleBindingFilter{Expiring: &platform.ExpiringFilter{}}, func(b *platform.RoleBinding) bool { return !b.ExpireTime.IsZero() }},
		{&platform.RoleBindingFilter{Expiring: &platform.ExpiringFilter{Before: ends[3]}}, func(b *platform.RoleBinding) bool { return b.ExpireTime == ends[2] }},
		{&platform.RoleBindingFilter{IdentityKinds: []platform.IdentityType{platform.IdentityTypeStaticKeys, platform.IdentityTypeNobody}}, func(b *platform.RoleBinding) bool {
			kind := kinds[b.Identity.UID]
			return kind == platform.IdentityTypeStaticKeys || kind == platform.IdentityTypeNobody
		}},
		{&platform.RoleBindingFilter{IdentityKinds: []platform.IdentityType{platform.IdentityTypeClaimMatch}}, func(b *platform.RoleBinding) bool {
			return kinds[b.Identity.UID] == platform.IdentityTypeClaimMatch
		}},
		{&platform.RoleBindingFilter{IdentityLastSeenBefore: since}, func(b *platform.RoleBinding) bool { return seen[b.Identity.UID].Before(since.Time) }},
		{&platform.RoleBindingFilter{UnreviewedSince: since}, func(b *platform.RoleBinding) bool {
			return b.CreateTime.Before(since.Time) && b.ReviewTime.Before(since.Time)
		}},
		{&platform.RoleBindingFilter{Capability: platform.CapTagList}, func(b *platform.RoleBinding) bool { return holding[b.Role.UID] }},
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

func (f *forest) repoFilters() []filterCase[*platform.Repo, *platform.RepoFilter] {
	some, since := []string{"a/b", "z9", "none such"}, platform.At(epoch.Add(moments[2]))
	listed := []string{`says "pay"`, "pay_ments 100%", "back\\slash", "none such"}
	return []filterCase[*platform.Repo, *platform.RepoFilter]{
		{}, {}, {&platform.RepoFilter{Name: "a.b"}, func(r *platform.Repo) bool { return r.Name == "a.b" }},
		{&platform.RepoFilter{Names: some}, func(r *platform.Repo) bool { return slices.Contains(some, r.Name) }},
		{&platform.RepoFilter{Query: "PAY team"}, containsWords("PAY team", func(r *platform.Repo) []string { return append([]string{r.Name, r.Description}, r.Aliases...) })},
		{&platform.RepoFilter{Query: "a"}, containsWords("a", func(r *platform.Repo) []string { return append([]string{r.Name, r.Description}, r.Aliases...) })},
		{&platform.RepoFilter{Tiers: []platform.CatalogTier{platform.CatalogTierAI, platform.CatalogTierFIPS}}, func(r *platform.Repo) bool { return r.CatalogTier == platform.CatalogTierAI }},
		{&platform.RepoFilter{Tags: &platform.TagCondition{Name: "a", UpdatedSince: since}}, func(r *platform.Repo) bool {
			return slices.ContainsFunc(f.tags, func(t *platform.Tag) bool {
				return t.UID.Parent() == r.UID && t.Name == "a" && !t.UpdateTime.Before(since.Time)
			})
		}},
		{&platform.RepoFilter{LabelFilter: platform.LabelFilter{Labels: []string{"env=prod"}}}, func(r *platform.Repo) bool { return r.Labels["env"] == "prod" }},
		{&platform.RepoFilter{LabelFilter: platform.LabelFilter{Labels: []string{"env", "pci="}}}, func(r *platform.Repo) bool {
			value, isCard := r.Labels["pci"]
			return r.Labels["env"] != "" && isCard && value == ""
		}},
		{&platform.RepoFilter{Bundles: listed, Aliases: listed[:2]}, func(r *platform.Repo) bool { return intersects(r.Bundles, listed) && intersects(r.Aliases, listed[:2]) }},
	}
}

func (f *forest) tagFilters() []filterCase[*platform.Tag, *platform.TagFilter] {
	some, yes, no := []string{"a", "A", "_x"}, true, false
	since := platform.At(epoch.Add(moments[2]))
	classes := []platform.TagClass{platform.TagClassEpoch, platform.TagClassDate}
	return []filterCase[*platform.Tag, *platform.TagFilter]{
		{}, {}, {&platform.TagFilter{Name: "a"}, func(t *platform.Tag) bool { return t.Name == "a" }},
		{&platform.TagFilter{Query: "A"}, containsWords("A", func(t *platform.Tag) []string { return []string{t.Name} })},
		{&platform.TagFilter{Query: "LATE"}, containsWords("LATE", func(t *platform.Tag) []string { return []string{t.Name} })},
		{&platform.TagFilter{Query: "0260 X-2", Without: classes[:1]}, func(t *platform.Tag) bool { return t.Name == "x-20260327" }},
		{&platform.TagFilter{Names: some}, func(t *platform.Tag) bool { return slices.Contains(some, t.Name) }},
		{&platform.TagFilter{UpdatedSince: since}, func(t *platform.Tag) bool { return !t.UpdateTime.Before(since.Time) }},
		{&platform.TagFilter{Digest: digests[1]}, func(t *platform.Tag) bool { return t.Digest == digests[1] }},
		{&platform.TagFilter{Deprecated: &yes}, func(t *platform.Tag) bool { return t.Deprecated }},
		{&platform.TagFilter{Deprecated: &no}, func(t *platform.Tag) bool { return !t.Deprecated }},
		{&platform.TagFilter{Deprecated: &no, Without: classes}, func(t *platform.Tag) bool { return !t.Deprecated && t.Class == "" }},
	}
}

func (f *forest) subscriptionFilters() []filterCase[*platform.Subscription, *platform.SubscriptionFilter] {
	sink := "https://sink.example.com/0"
	return []filterCase[*platform.Subscription, *platform.SubscriptionFilter]{
		{}, {}, {&platform.SubscriptionFilter{Sink: sink}, func(s *platform.Subscription) bool { return s.Sink == sink }},
	}
}

// anyEvent returns a function that reports whether an event of an advisory meets a
// condition.
func anyEvent(is func(*platform.AdvisoryEvent) bool) func(*platform.Advisory) bool {
	return func(a *platform.Advisory) bool {
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

func (f *forest) advisoryFilters() []filterCase[*platform.Advisory, *platform.AdvisoryFilter] {
	since := platform.At(epoch.Add(moments[2]))
	type filter = platform.AdvisoryFilter
	ids, names := []string{"GO-0", "GO-2"}, []string{"a", "a_b"}
	bad, score, zero := []platform.SeverityRating{platform.SeverityHigh, platform.SeverityCritical, platform.SeverityHigh}, 6.55, 0.0
	rated := oneOf(bad, func(a *platform.Advisory) platform.SeverityRating { return a.Severity.Rating })
	scored := func(least float64) func(*platform.Advisory) bool {
		return func(a *platform.Advisory) bool { return a.Severity.Score != nil && *a.Severity.Score >= least }
	}
	open, settled := []platform.AdvisoryState{platform.AdvisoryOpen}, []platform.AdvisoryState{platform.AdvisoryFixed, platform.AdvisoryNotAffected}
	in := func(states ...platform.AdvisoryState) func(*platform.Advisory) bool {
		return oneOf(states, (*platform.Advisory).State)
	}
	return []filterCase[*platform.Advisory, *filter]{
		{}, {},
		{&filter{AdvisoryIDs: ids}, oneOf(ids, func(a *platform.Advisory) string { return a.AdvisoryID })},
		{&filter{ArtifactNames: names}, oneOf(names, func(a *platform.Advisory) string { return a.ArtifactName })},
		{&filter{ArtifactTypes: []string{"go"}, ArtifactNames: names}, func(a *platform.Advisory) bool {
			return a.ArtifactType == "go" && slices.Contains(names, a.ArtifactName)
		}},
		{&filter{ComponentNames: []string{"Lib_1"}}, func(a *platform.Advisory) bool { return a.ComponentName == "Lib_1" }},
		{&filter{Aliases: []string{"CVE-1", "CVE-3"}}, func(a *platform.Advisory) bool { return a.Aliases[0] == "CVE-1" || a.Aliases[0] == "CVE-3" }},
		{&filter{ChangeFilter: platform.ChangeFilter{UpdatedSince: since}}, func(a *platform.Advisory) bool { return !a.UpdateTime.Before(since.Time) }},
		{&filter{Origin: "osv"}, func(a *platform.Advisory) bool { return a.Origin == "osv" }},
		{&filter{EventTypes: []platform.EventType{platform.EventTypePatched, platform.EventTypeDetection}}, anyEvent(func(e *platform.AdvisoryEvent) bool { return e.Patched != nil || e.Detection != nil })},
		{&filter{LatestEventType: platform.EventTypeFixed}, func(a *platform.Advisory) bool { n := len(a.Events); return n > 0 && a.Events[n-1].Fixed != nil }},
		{&filter{EventAuthors: []string{"a_n"}}, anyEvent(func(e *platform.AdvisoryEvent) bool { return e.Author == "a_n" })},
		{&filter{EventReviewers: []string{"100%"}}, anyEvent(func(e *platform.AdvisoryEvent) bool { return e.Reviewer == "100%" })},
		{&filter{EventReviewStates: []platform.ReviewState{platform.ReviewStateApproved}}, anyEvent(func(e *platform.AdvisoryEvent) bool { return e.ReviewState == platform.ReviewStateApproved })},
		{&filter{ExcludeEventAuthors: []string{"ann"}}, func(a *platform.Advisory) bool {
			return !anyEvent(func(e *platform.AdvisoryEvent) bool { return e.Author == "ann" })(a)
		}},
		{&filter{Query: "LIB_"}, func(a *platform.Advisory) bool { return strings.HasPrefix(a.ComponentName, "Lib_") }},
		{&filter{Query: "b%1"}, func(a *platform.Advisory) bool { return a.ComponentName == "lib%1" }},
		{&filter{Withdrawn: true}, nil}, {&filter{Severities: bad}, rated}, {&filter{Severities: bad, Withdrawn: true}, rated},
		{&filter{MinScore: &score}, scored(score)}, {&filter{MinScore: &zero, Withdrawn: true}, scored(0)},
		{&filter{Severities: bad, LatestEventType: platform.EventTypeFixed, MinScore: &score}, func(a *platform.Advisory) bool {
			return rated(a) && scored(score)(a) && a.LatestEventType() == platform.EventTypeFixed
		}},
		{&filter{States: open}, in(open...)}, {&filter{States: settled}, in(settled...)}, {&filter{States: settled[:1], Withdrawn: true}, in(settled[0])},
		{&filter{States: open, Withdrawn: true}, in(open...)}, {&filter{States: platform.AdvisoryStates()}, nil},
		{&filter{States: open, Severities: bad}, func(a *platform.Advisory) bool { return rated(a) && in(open...)(a) }},
		{&filter{States: []platform.AdvisoryState{open[0], settled[1], open[0]}, MinScore: &score}, func(a *platform.Advisory) bool { return scored(score)(a) && in(open[0], settled[1])(a) }},
		{&filter{Query: "cve-2"}, func(a *platform.Advisory) bool { return a.Aliases[0] == "CVE-2" }},
	}
}
