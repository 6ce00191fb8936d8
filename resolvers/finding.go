package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// findings resolves the fields of findings.
type findings struct {
	p *platform.Platform
	viewerFields[*inventory.Finding]
}

func (r root) Finding() graph.FindingResolver { return findings{r.p, newViewerFields(r.p.Findings)} }

func (r *reads) findings() *loader[core.UID, *inventory.Finding] {
	return loaderOf(r, r.p.Findings.GetMany)
}

// A findingAdvisory is the UID of the advisory of a finding that the caller has read.
type findingAdvisory core.UID

func (r *reads) advisoriesOfFindings() *loader[findingAdvisory, *inventory.Advisory] {
	return loaderOf(r, func(ctx context.Context, keys []findingAdvisory) ([]*inventory.Advisory, []error) {
		found, err := r.p.Findings.Advisories(ctx, mapEach(keys, func(k findingAdvisory) core.UID { return core.UID(k) }), r.without)
		rows, errs := make([]*inventory.Advisory, len(keys)), make([]error, len(keys))
		for i, key := range keys {
			rows[i], errs[i] = found[core.UID(key)], err
		}
		return rows, errs
	})
}

// origins reads where versions in images come from.
func (r *reads) origins() *loader[reports.HeldVersion, inventory.PackageOrigin] {
	return loaderOf(r, r.p.PackageOrigins.Read)
}

func heldVersion(f *inventory.Finding) reports.HeldVersion {
	return reports.HeldVersion{ImageKey: f.Image(), Version: f.PackageVersion}
}

func (findings) IntroducedBy(ctx context.Context, all []*inventory.Finding) ([][]*inventory.IntroducingPackage, error) {
	origins, err := follow(ctx, all, readsOf(ctx).origins(), heldVersion)
	return mapEach(origins, func(o inventory.PackageOrigin) []*inventory.IntroducingPackage {
		if o.IntroducedBy == nil {
			return nil
		}
		return mapEach(o.IntroducedBy, func(p inventory.IntroducingPackage) *inventory.IntroducingPackage { return &p })
	}), err
}

func (q queries) Finding(ctx context.Context, uid core.UID) (*inventory.Finding, error) {
	return readsOf(ctx).findings().load(ctx, uid)
}

func (q queries) Findings(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.FindingFilter) (*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Findings.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, f.Findings(), window)))
}

func (q queries) FindingSummary(ctx context.Context, within *core.UID) (*inventory.FindingSummary, error) {
	return q.p.Findings.Summarize(ctx, valueOrZero(within))
}

func (e entities) FindManyFindingByUIDs(ctx context.Context, reps []*graph.FindingByUIDsInput) ([]*inventory.Finding, error) {
	return readRepresentations(ctx, readsOf(ctx).findings(), mapEach(reps, func(r *graph.FindingByUIDsInput) core.UID { return r.UID }))
}

func (findings) Advisory(ctx context.Context, all []*inventory.Finding) ([]*inventory.Advisory, error) {
	return follow(ctx, all, readsOf(ctx).advisoriesOfFindings(), func(f *inventory.Finding) findingAdvisory { return findingAdvisory(f.Advisory) })
}

func (r findings) Advisories(ctx context.Context, all []*inventory.Finding) ([][]*inventory.Advisory, error) {
	return r.p.Findings.ListAdvisories(ctx, all)
}

func (findings) Vulnerability(ctx context.Context, all []*inventory.Finding) ([]*inventory.NamedVulnerability, error) {
	return followVulnerability(ctx, all, func(f *inventory.Finding) string { return f.VulnerabilityID })
}

func (findings) PackageVersion(ctx context.Context, all []*inventory.Finding) ([]*inventory.PackageVersion, error) {
	found, err := follow(ctx, all, readsOf(ctx).packageVersions(), func(f *inventory.Finding) core.UID { return f.PackageVersion })
	return found, filterErrors(err, ignoreNotFound)
}

func (r findings) Image(ctx context.Context, all []*inventory.Finding) ([]*inventory.Image, error) {
	images, errs := r.p.Images.Describe(ctx, mapEach(all, (*inventory.Finding).Image))
	return images, joinErrors(errs)
}

func (findings) Repo(ctx context.Context, all []*inventory.Finding) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(f *inventory.Finding) core.UID { return f.Repo })
}

func (r findings) Tags(ctx context.Context, all []*inventory.Finding, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	return listTagsOfImages(ctx, r.p, mapEach(all, (*inventory.Finding).Image), where, window)
}

func (findings) Assignee(ctx context.Context, all []*inventory.Finding) ([]*iam.Identity, error) {
	return follow(ctx, all, readsOf(ctx).identities(), func(f *inventory.Finding) core.UID { return f.Assignee })
}

func (findings) Decider(ctx context.Context, all []*inventory.Finding) ([]*iam.Identity, error) {
	return followActor(ctx, all, func(f *inventory.Finding) string { return f.DecidedBy })
}

// newestFirst is the order in which tags were made or moved.
var newestFirst = []*scalar.Order{{Field: "update_time", Direction: "desc"}}

func (r findings) FixedIn(ctx context.Context, all []*inventory.Finding, window scalar.Window) ([]*scalar.TagConnection, error) {
	window.OrderBy = newestFirst
	req := request(ctx, core.UIDFilter{}, &inventory.TagFilter{}, window)
	return newConnections(r.p.Tags.ListFree(ctx, req, all))
}

// listTagsOfImages lists, for each image, the tags that point to it.
func listTagsOfImages(ctx context.Context, p *platform.Platform, images []core.ImageKey, where *scalar.TagFilter, window scalar.Window) ([]*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Tags.ListOfImages(ctx, request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.TagFilter, window), images))
}

// listFindingsOfImages lists, for each image, its findings.
func listFindingsOfImages(ctx context.Context, p *platform.Platform, images []core.ImageKey, where *scalar.FindingFilter, window scalar.Window) ([]*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Findings.ListOfImages(ctx, request(ctx, core.UIDFilter{IDs: f.UIDs}, f.Findings(), window), images))
}

// listFindingsIn lists the findings of each scope.
func listFindingsIn(ctx context.Context, p *platform.Platform, scopes []core.UIDFilter, where *scalar.FindingFilter, window scalar.Window) ([]*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Findings.ListEach(ctx, request(ctx, core.UIDFilter{}, f.Findings(), window), scopes))
}

// summarizeFindings counts the findings within each UID.
func summarizeFindings(ctx context.Context, p *platform.Platform, within []core.UID) ([]*inventory.FindingSummary, error) {
	summaries, errs := p.Findings.SummarizeEach(ctx, within)
	return summaries, joinErrors(errs)
}

// summarizeImages counts the findings of each image.
func summarizeImages(ctx context.Context, p *platform.Platform, images []core.ImageKey) ([]*inventory.FindingSummary, error) {
	summaries, errs := p.Findings.SummarizeImages(ctx, images)
	return summaries, joinErrors(errs)
}

// asAdvisorySummary answers a summary of findings in the form that there was before findings.
func asAdvisorySummary(s *inventory.FindingSummary) *inventory.AdvisorySummary {
	if s == nil {
		return nil
	}
	return &inventory.AdvisorySummary{Open: s.Open.SeverityCount, NotAffected: s.NotAffected.SeverityCount}
}
