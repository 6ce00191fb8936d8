package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/fieldmask"
)

// A Workload is a request that is sent many times. A query of GraphQL has the variable $org or
// $repo. Without a query, the workload is a page of 50 repos by REST or, if its name says so, by gRPC.
type Workload struct{ Name, Query string }

// Workloads returns the requests of a dashboard: one repo, a page with its total, nested lists,
// role bindings with their objects, five lists in one query, and a page by REST and by gRPC.
// The benchmark that compares servers has the same ones.
func Workloads() []Workload {
	return []Workload{
		{"W1 one repo", `query($repo: ID!) { repo(uid: $repo) { name description createTime } }`},
		{"W2 50 repos and their total", `query($org: ID!) { repos(childrenOf: $org, first: 50) { edges { node { uid name description createTime updateTime } } pageInfo { hasNextPage endCursor } totalCount } }`},
		{"W4 20 repos with 10 tags", `query($org: ID!) { repos(childrenOf: $org, first: 20) { edges { node { uid name tags(first: 10) { edges { node { name digest deprecated updateTime } } } } } } }`},
		{"W5 50 bindings", `query($org: ID!) { roleBindings(childrenOf: $org, first: 50, orderBy: {field: UID}) { edges { node { uid createTime identity { name } group { name } role { name } } } } }`},
		{"W6 five lists with totals", `query($org: ID!) {
			groups(childrenOf: $org, first: 10) { edges { node { uid name } } totalCount }
			identities(childrenOf: $org, first: 10) { edges { node { uid name claimMatch { issuer subject } } } totalCount }
			roleBindings(childrenOf: $org, first: 10, orderBy: {field: UID}) { edges { node { uid createTime } } totalCount }
			repos(childrenOf: $org, first: 10) { edges { node { uid name updateTime } } totalCount }
			advisories(where: {artifactNames: ["repo-1"]}, orderBy: {field: ADVISORY_ID}, first: 10) { edges { node { uid advisoryId updateTime } } totalCount } }`},
		{"W7 50 repos by REST", ""},
		{"W8 50 repos by gRPC", ""},
	}
}

// Data is an organisation for the workloads.
type Data struct {
	Organisation, Repo platform.UID
	Imports            []Import
}

// An Import is what was measured of an import.
type Import struct {
	Kind string
	Rows int
	Took time.Duration
	Size int64 // by which the database has grown, in bytes
}

// Owner is the subject of the owner of the organisation, at the development issuer.
const Owner = "owner"

// The size of the organisation, beside its repos.
const (
	tagsPerRepo = 12
	groups      = 12
	people      = 60
	advisories  = 50
	importBatch = 1000
)

// Fill creates the organisation with a number of repos, in a database that has no organisation.
// size returns the size of the database in bytes.
func Fill(ctx context.Context, p *platform.Platform, repos int, size func(context.Context) (int64, error)) (*Data, error) {
	ctx = platform.WithActor(ctx, platform.NewOperator("bench"))
	switch isEmpty, err := p.Groups.IsEmpty(ctx); {
	case err != nil:
		return nil, err
	case !isEmpty:
		return nil, errors.New("the database has organisations already: a benchmark runs only in a database that can be thrown away, so name an empty one")
	}
	made, err := p.Groups.Bootstrap(ctx, "acme", auth.DevelopmentIssuer, Owner)
	if err != nil {
		return nil, err
	}
	f := &filler{ctx: ctx, p: p, size: size, data: &Data{Organisation: made.Group.UID}}
	f.registry(repos)
	f.people()
	f.advisories()
	return f.data, f.err
}

// A filler creates the organisation. After an error it does nothing more.
type filler struct {
	ctx  context.Context //nolint:containedctx // it lives for one call of Fill
	p    *platform.Platform
	size func(context.Context) (int64, error)
	data *Data
	err  error
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
func (f *filler) registry(n int) {
	repos := make([]*platform.ImportedRepo, n)
	for i := range repos {
		repos[i] = &platform.ImportedRepo{Repo: platform.Repo{Name: fmt.Sprintf("repo-%d", i), Description: "One of many repos of this organisation"}}
	}
	f.measure("repos", n, func(from, to int) error {
		_, err := f.p.Repos.Import(f.ctx, f.data.Organisation, repos[from:to], platform.ImportOptions{})
		return err
	})
	tags := make([]*platform.ImportedTag, 0, n*tagsPerRepo)
	for i, r := range repos {
		for t := range tagsPerRepo {
			tags = append(tags, &platform.ImportedTag{Repo: r.UID, Tag: platform.Tag{Name: fmt.Sprintf("1.%d", t), Digest: fmt.Sprintf("sha256:%064x", i*tagsPerRepo+t)}})
		}
	}
	f.measure("tags", len(tags), func(from, to int) error {
		_, err := f.p.Tags.Import(f.ctx, tags[from:to], platform.ImportOptions{})
		return err
	})
	f.data.Repo = repos[0].UID
}

// people creates groups, and identities with a role.
func (f *filler) people() {
	org := f.data.Organisation
	for i := 0; i < groups && f.err == nil; i++ {
		_, f.err = f.p.Groups.Create(f.ctx, org, fieldmask.JSONInput[*platform.Group](fmt.Appendf(nil, `{"name":"team-%d"}`, i), nil))
	}
	for i := 0; i < people && f.err == nil; i++ {
		name := fmt.Sprintf("person-%d", i)
		rule := fmt.Appendf(nil, `{"name":%q,"claimMatch":{"issuer":%q,"subject":%q}}`, name, auth.DevelopmentIssuer, name)
		identity, err := f.p.Identities.Create(f.ctx, org, fieldmask.JSONInput[*platform.Identity](rule, nil))
		if f.err = err; err != nil {
			return
		}
		binding := fmt.Appendf(nil, `{"identityUid":%q,"roleUid":%q}`, identity.UID, platform.ViewerRole)
		_, f.err = f.p.RoleBindings.Create(f.ctx, org, fieldmask.JSONInput[*platform.RoleBinding](binding, nil))
	}
}

func (f *filler) advisories() {
	all := make([]*platform.Advisory, advisories)
	for i := range all {
		all[i] = &platform.Advisory{AdvisoryID: fmt.Sprintf("CVE-2026-%04d", i), ArtifactName: fmt.Sprintf("repo-%d", i%3), ArtifactType: "oci"}
	}
	f.measure("advisories", len(all), func(from, to int) error {
		_, err := f.p.Advisories.Import(f.ctx, f.data.Organisation, all[from:to])
		return err
	})
}
