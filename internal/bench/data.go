package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// A Workload is a request that is sent many times. A query of GraphQL has the variables $org and $after, or
// $repo. Without a query, the workload is a page of 50 repos by REST or, if its name says so, by gRPC.
type Workload struct{ Name, Query string }

// Body returns the body of the request of a query.
func (w Workload) Body(d *Data) string {
	query := strings.Join(strings.Fields(w.Query), " ")
	switch {
	case strings.Contains(query, "$repo"):
		return fmt.Sprintf(`{"query":%q,"variables":{"repo":%q}}`, query, d.Repo)
	case strings.Contains(query, "$after"):
		return fmt.Sprintf(`{"query":%q,"variables":{"org":%q,"after":%q}}`, query, d.Organization, d.After)
	default:
		return fmt.Sprintf(`{"query":%q,"variables":{"org":%q}}`, query, d.Organization)
	}
}

// Workloads returns the requests of a dashboard: one repo, a page with its total, a page after a cursor, nested
// lists, role bindings with their objects, five lists in one query, and a page by REST and by gRPC.
// The benchmark that compares servers has the same ones.
func Workloads() []Workload {
	return []Workload{
		{"W1 one repo", `query($repo: UID!) { repo(uid: $repo) { name description createTime } }`},
		{"W2 50 repos and their total", `query($org: UID!) { repos(within: $org, directOnly: true, first: 50) { edges { node { uid name description createTime updateTime } } pageInfo { hasNextPage endCursor } totalCount } }`},
		{"W3 50 repos after a cursor", `query($org: UID!, $after: String!) { repos(within: $org, directOnly: true, first: 50, after: $after) { edges { node { uid name description createTime updateTime } } pageInfo { hasNextPage endCursor } } }`},
		{"W4 20 repos with 10 tags", `query($org: UID!) { repos(within: $org, directOnly: true, first: 20) { edges { node { uid name tags(first: 10) { edges { node { name digest deprecated updateTime } } } } } } }`},
		{"W5 50 bindings", `query($org: UID!) { roleBindings(within: $org, directOnly: true, first: 50, orderBy: {field: UID}) { edges { node { uid createTime identity { name } group { name } role { name } } } } }`},
		{"W6 five lists with totals", `query($org: UID!) {
			groups(within: $org, directOnly: true, first: 10) { edges { node { uid name } } totalCount }
			identities(within: $org, directOnly: true, first: 10) { edges { node { uid name claimMatch { issuer subject } } } totalCount }
			roleBindings(within: $org, directOnly: true, first: 10, orderBy: {field: UID}) { edges { node { uid createTime } } totalCount }
			repos(within: $org, directOnly: true, first: 10) { edges { node { uid name updateTime } } totalCount }
			advisories(where: {artifactNames: ["repo-1"]}, orderBy: {field: ADVISORY_ID}, first: 10) { edges { node { uid advisoryId updateTime } } totalCount } }`},
		{"W7 50 repos by REST", ""},
		{"W7b 50 repos by gRPC", ""},
	}
}

// Data is an organization for the workloads.
type Data struct {
	Organization, Repo core.UID
	After              string // the cursor of the repo in the middle of the list by name
	Imports            []Import
}

// An Import is what was measured of an import.
type Import struct {
	Kind string
	Rows int
	Took time.Duration
	Size int64 // by which the database has grown, in bytes
}

// Owner is the subject of the owner of the organization, at the development issuer.
const Owner = "owner"

// Sizes are the numbers that an operator chooses. The contents of the organization are the same for the same numbers.
type Sizes struct {
	Repos  int // of which the first thousand lie in the organization itself, and the others in its groups
	Tags   int // of each repo
	People int // identities that may read everything, and edit one of the groups
}

// The size of the organization, beside what Sizes has. The image of the first tag of each repo holds some packages.
const (
	reposOfOrganization = 1000
	groups              = 12
	advisories          = 50
	packagesPerImage    = 12
	reposPerPackage     = 5 // So many more repos than packages there are.
	versionsPerPackage  = 10
	importBatch         = 1000
)

// Fill creates the organization in a database that has no organization.
// size returns the size of the database in bytes.
func Fill(ctx context.Context, p *platform.Platform, sizes Sizes, size func(context.Context) (int64, error)) (*Data, error) {
	ctx = core.WithActor(ctx, core.NewOperator("bench"))
	switch isEmpty, err := p.Groups.IsEmpty(ctx); {
	case err != nil:
		return nil, err
	case !isEmpty:
		return nil, errors.New("the database already has organizations; a benchmark fills the database, so name an empty one")
	}
	made, err := p.Groups.Bootstrap(ctx, "acme", auth.DevelopmentIssuer, Owner)
	if err != nil {
		return nil, err
	}
	f := &filler{ctx: ctx, p: p, size: size, data: &Data{Organization: made.Group.UID}}
	f.people(sizes.People)
	repos := f.registry(sizes)
	f.advisories()
	f.contents(repos)
	return f.data, f.err
}

// A filler creates the organization. After an error it does nothing more.
type filler struct {
	ctx  context.Context //nolint:containedctx // it lives for one call of Fill
	p    *platform.Platform
	size func(context.Context) (int64, error)
	data *Data
	err  error

	groups []core.UID
}

// measure runs an import in batches, and records what it took.
func (f *filler) measure(kind string, rows int, run func(from, to int) error) {
	before := f.measureSize()
	began := time.Now()
	for from := 0; from < rows && f.err == nil; from += importBatch {
		f.err = run(from, min(from+importBatch, rows))
	}
	took := time.Since(began)
	f.data.Imports = append(f.data.Imports, Import{kind, rows, took, f.measureSize() - before})
}

func (f *filler) measureSize() (size int64) {
	if f.err == nil {
		size, f.err = f.size(f.ctx)
	}
	return size
}

// registry imports repos with their tags.
func (f *filler) registry(n Sizes) []*registry.ImportedRepo {
	repos := make([]*registry.ImportedRepo, n.Repos)
	for i := range repos {
		repos[i] = &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many repos of this organization"}}
	}
	f.measure("repos", n.Repos, func(from, to int) error {
		parent := f.data.Organization
		if from >= reposOfOrganization {
			parent = f.groups[from/importBatch%len(f.groups)]
		}
		_, err := f.p.Registry.ImportRepos(f.ctx, parent, repos[from:to], core.ImportOptions{})
		return err
	})
	tags := make([]*registry.ImportedTag, 0, n.Repos*n.Tags)
	for i, r := range repos {
		for t := range n.Tags {
			tags = append(tags, &registry.ImportedTag{Repo: r.UID, Tag: inventory.Tag{Name: fmt.Sprintf("1.%d", t), Digest: digest(i, t)}})
		}
	}
	f.measure("tags", len(tags), func(from, to int) error {
		_, err := f.p.Registry.ImportTags(f.ctx, tags[from:to], core.ImportOptions{})
		return err
	})
	f.data.Repo = repos[0].UID
	if f.err != nil {
		return nil
	}
	page, err := f.p.Repos.List(f.ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: f.data.Organization}, Skip: min(n.Repos, reposOfOrganization) / 2, PageSize: 1})
	if f.err = err; err == nil {
		f.data.After = page.Cursor(0)
	}
	return repos
}

// digest returns the made-up digest of a tag.
func digest(repo, tag int) string { return fmt.Sprintf("sha256:%032x%032x", repo, tag) }

// person returns the subject of an identity that has a role, and its name.
func person(i int) string { return fmt.Sprintf("person-%d", i) }

// people creates groups, and identities that may read everything and edit one of the groups.
func (f *filler) people(n int) {
	org := f.data.Organization
	for i := 0; i < groups && f.err == nil; i++ {
		group, err := f.p.Groups.Create(f.ctx, org, fieldmask.JSONInput[*iam.Group](fmt.Appendf(nil, `{"name":"team-%d"}`, i), nil))
		if f.err = err; err == nil {
			f.groups = append(f.groups, group.UID)
		}
	}
	for i := 0; i < n && f.err == nil; i++ {
		name := person(i)
		rule := fmt.Appendf(nil, `{"name":%q,"claimMatch":{"issuer":%q,"subject":%q}}`, name, auth.DevelopmentIssuer, name)
		identity, err := f.p.Identities.Create(f.ctx, org, fieldmask.JSONInput[*iam.Identity](rule, nil))
		if f.err = err; err != nil {
			return
		}
		f.bind(identity.UID, iam.ViewerRole, org)
		f.bind(identity.UID, iam.EditorRole, f.groups[i%groups])
	}
}

// bind gives a role in a group to an identity.
func (f *filler) bind(identity, role, group core.UID) {
	if f.err == nil {
		binding := fmt.Appendf(nil, `{"identityUid":%q,"roleUid":%q}`, identity, role)
		_, f.err = f.p.RoleBindings.Create(f.ctx, group, fieldmask.JSONInput[*iam.RoleBinding](binding, nil))
	}
}

func (f *filler) advisories() {
	all := make([]*inventory.Advisory, advisories)
	for i := range all {
		all[i] = &inventory.Advisory{AdvisoryID: fmt.Sprintf("CVE-2026-%04d", i), ArtifactName: fmt.Sprintf("repo-%d", i%3), ArtifactType: "oci"}
	}
	f.measure("advisories", len(all), func(from, to int) error {
		_, err := f.p.Feeds.ImportAdvisories(f.ctx, f.data.Organization, all[from:to])
		return err
	})
}

// contents imports what the images hold and what is known of it, and finds out what affects them: two of three packages
// have an advisory, so an image has about eight findings.
func (f *filler) contents(repos []*registry.ImportedRepo) {
	d := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the contents are the same each time
	packages := max(len(repos)/reposPerPackage, 2*packagesPerImage)
	f.importFlaws(d, packages)
	sboms := make([]*registry.ImportedSBOM, len(repos))
	for i, r := range repos {
		sboms[i] = &registry.ImportedSBOM{Repo: r.UID, Digest: digest(i, 0), Format: "CycloneDX 1.6"}
		for range packagesPerImage {
			name, version := fmt.Sprintf("package-%d", popular(d, packages)), fmt.Sprintf("1.%d.0", d.IntN(versionsPerPackage))
			sboms[i].Packages = append(sboms[i].Packages, inventory.InstalledPackage{Name: name, Version: version, Ecosystem: "npm", PURL: "pkg:npm/" + name + "@" + version})
		}
	}
	f.measure("SBOMs with their findings", len(sboms), func(from, to int) error {
		if _, err := f.p.Registry.ImportSBOMs(f.ctx, sboms[from:to]); err != nil {
			return err
		}
		return f.p.Findings.Settle(f.ctx)
	})
}

// popular returns a number below n. Small ones occur more often.
func popular(d *rand.Rand, n int) int {
	at := d.Float64()
	return int(at * at * float64(n))
}

// importFlaws imports advisories about packages, and how likely they are exploited.
func (f *filler) importFlaws(d *rand.Rand, packages int) {
	scores := []string{"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N"}
	var all []*inventory.Advisory
	var likely []*inventory.Exploitation
	for i := range packages {
		if i%3 == 0 {
			continue
		}
		which := affected.Range{Type: "SEMVER", Events: []affected.Event{{Introduced: "0"}}}
		if i%4 != 0 {
			which.Events = append(which.Events, affected.Event{Fixed: "2.0.0"})
		}
		chance := d.Float64() * d.Float64() * d.Float64()
		a := &inventory.Advisory{
			AdvisoryID: fmt.Sprintf("CVE-2025-%05d", i), ArtifactName: fmt.Sprintf("package-%d", i), ArtifactType: "npm", Affected: &affected.Set{Ranges: []affected.Range{which}},
			Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: scores[d.IntN(len(scores))]}},
		}
		all, likely = append(all, a), append(likely, &inventory.Exploitation{ID: a.AdvisoryID, EPSS: &chance})
	}
	for batch := range slices.Chunk(likely, importBatch) {
		if f.err == nil {
			_, f.err = f.p.Feeds.ImportExploitations(f.ctx, feeds.EPSS, batch)
		}
	}
	f.measure("advisories about packages", len(all), func(from, to int) error {
		_, err := f.p.Feeds.ImportAdvisories(f.ctx, f.data.Organization, all[from:to])
		return err
	})
}
