package resolvers

import (
	"context"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// advisories resolves the fields of advisories.
type advisories struct {
	p *platform.Platform
	viewerFields[*inventory.Advisory]
}

func (r root) Advisory() graph.AdvisoryResolver {
	return advisories{r.p, newViewerFields(r.p.Advisories)}
}

func (r *reads) advisories() *loader[core.UID, *inventory.Advisory] {
	return loaderOf(r, func(ctx context.Context, keys []core.UID) ([]*inventory.Advisory, []error) {
		return r.p.Advisories.GetManyWithout(ctx, keys, r.without)
	})
}

func (q queries) Advisory(ctx context.Context, uid core.UID) (*inventory.Advisory, error) {
	return readsOf(ctx).advisories().load(ctx, uid)
}

func (q queries) Advisories(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.AdvisoryFilter) (*scalar.AdvisoryConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Advisories.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.AdvisoryFilter, window)))
}

func (q queries) AdvisorySummary(ctx context.Context, within *core.UID) (*inventory.AdvisorySummary, error) {
	return q.p.Advisories.Summarize(ctx, valueOrZero(within))
}

func (e entities) FindManyAdvisoryByUIDs(ctx context.Context, reps []*graph.AdvisoryByUIDsInput) ([]*inventory.Advisory, error) {
	return readRepresentations(ctx, readsOf(ctx).advisories(), mapEach(reps, func(r *graph.AdvisoryByUIDsInput) core.UID { return r.UID }))
}

func (advisories) Group(ctx context.Context, all []*inventory.Advisory) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(a *inventory.Advisory) core.UID {
		if a.UID.Parent() == inventory.FeedGroup {
			return "" // it belongs to all organizations
		}
		return a.UID.Parent()
	})
}

// vulnerabilityIDs returns the ids under which the vulnerability of an advisory may be
// known.
func vulnerabilityIDs(a *inventory.Advisory) []string {
	return slices.Concat([]string{a.AdvisoryID}, a.Aliases, a.Upstream)
}

// Vulnerabilities looks a vulnerability up by all of its ids in the advisory and
// returns it once, even when several ids find it.
func (advisories) Vulnerabilities(ctx context.Context, all []*inventory.Advisory) ([][]*inventory.Vulnerability, error) {
	return followVulnerabilities(ctx, all, vulnerabilityIDs)
}

func (advisories) RelatedVulnerabilities(ctx context.Context, all []*inventory.Advisory) ([][]*inventory.Vulnerability, error) {
	return followVulnerabilities(ctx, all, func(a *inventory.Advisory) []string { return a.Related })
}

func (advisories) Vulnerability(ctx context.Context, all []*inventory.Advisory) ([]*inventory.NamedVulnerability, error) {
	return followVulnerability(ctx, all, func(a *inventory.Advisory) string { return a.AdvisoryID })
}

// deduplicate returns the objects without those whose id an earlier one has.
func deduplicate[T any](objects []*T, id func(*T) string) []*T {
	seen := make(map[string]bool, len(objects))
	kept := make([]*T, 0, len(objects))
	for _, object := range objects {
		if !seen[id(object)] {
			kept = append(kept, object)
		}
		seen[id(object)] = true
	}
	return kept
}

func (r advisories) Affected(ctx context.Context, all []*inventory.Advisory) ([]*inventory.AffectedVersions, error) {
	uids := mapEach(all, func(a *inventory.Advisory) core.UID { return a.UID })
	sets, err := r.p.Advisories.AffectedVersions(ctx, uids)
	if err != nil {
		return nil, err
	}
	return mapEach(uids, func(uid core.UID) *inventory.AffectedVersions { return sets[uid] }), nil
}

func (r advisories) Findings(ctx context.Context, all []*inventory.Advisory, window scalar.Window, where *scalar.FindingFilter) ([]*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, f.Findings(), window)
	return newConnections(r.p.Findings.ListOfAdvisories(ctx, req, all))
}
