package platform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// A crowd is an organization with many findings, and memory for one page of them.
const (
	crowdImages   = 25
	crowdPackages = 200
	pageMemory    = 512 << 10 // bytes
)

// crowd fills a repo: each image holds every package, and each package has an advisory.
func (w *world) crowd(group core.UID) (repo core.UID) {
	w.Helper()
	repo = w.namedRepo(group, "crowd")
	held, advisories := make([]string, crowdPackages), make([]*inventory.Advisory, crowdPackages)
	for i := range held {
		name := fmt.Sprintf("package-%d", i)
		held[i], advisories[i] = name+"@1.0.0", fixedIn(fmt.Sprintf("CVE-%d", i), name, "1.0.1")
	}
	w.advise(group.Root(), advisories...)
	for i := range crowdImages {
		w.sbom(repo, digest(i), held...)
		w.point(repo, fmt.Sprintf("v%d", i), digest(i))
	}
	w.settle()
	return repo
}

// exportFindings exports findings, and returns their number and that of the pages.
func (w *world) exportFindings(ctx context.Context, req reports.ExportRequest[*inventory.FindingFilter]) (rows, pages int, err error) {
	seen := map[core.UID]bool{}
	err = w.p.Exports.ReadFindings(ctx, req, func(page []*reports.ExportedFinding) error {
		if pages++; len(page) > core.MaxPageSize {
			w.Errorf("a page has %d findings, want at most %d", len(page), core.MaxPageSize)
		}
		for _, f := range page {
			if seen[f.UID] || f.RepoName != "crowd" || f.VulnerabilityID == "" {
				w.Fatalf("%+v was exported twice: %t", f, seen[f.UID])
			}
			seen[f.UID] = true
		}
		return nil
	})
	return len(seen), pages, err
}

func TestFindingsAreExportedPageByPage(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := w.group(acme.uid)
		repo := w.crowd(shop)
		const all = crowdImages * crowdPackages
		pool := core.NewMemoryPool(core.MemoryLimits{PerResponse: pageMemory, Total: 4 * pageMemory}, nil)
		owner, end := pool.Open(acme.owner)
		defer end()
		type request = reports.ExportRequest[*inventory.FindingFilter]
		for name, c := range map[string]struct {
			ctx  context.Context
			req  request
			want int
		}{
			"all":             {owner, request{MaxRows: all}, all},
			"a group":         {owner, request{Within: shop}, all},
			"a repo":          {owner, request{Within: repo, OrderBy: "severity desc"}, all},
			"the operator":    {w.operator(), request{Within: acme.uid}, all},
			"a filter":        {owner, request{Filter: &inventory.FindingFilter{Packages: []string{"package-1", "package-2"}}}, 2 * crowdImages},
			"nothing":         {owner, request{Filter: &inventory.FindingFilter{Packages: []string{"none"}}}, 0},
			"somebody's else": {other.owner, request{}, 0},
		} {
			rows, pages, err := w.exportFindings(c.ctx, c.req)
			must(t, err)
			if least := max(1, c.want/core.MaxPageSize); rows != c.want || pages < least {
				t.Errorf("%s: %d findings on %d pages, want %d on at least %d", name, rows, pages, c.want, least)
			}
		}
		if _, pages, err := w.exportFindings(owner, request{MaxRows: all - 1}); core.AsError(err).Reason != "LIMIT_EXCEEDED" || pages > 0 {
			t.Errorf("too many: %v after %d pages, want LIMIT_EXCEEDED before the first one", err, pages)
		}
		for _, c := range []struct {
			req  request
			want core.Code
		}{
			{request{Within: missingBelow(acme.uid)}, core.CodeNotFound}, {request{Within: "acme"}, core.CodeInvalidArgument},
			{request{Within: other.uid}, core.CodePermissionDenied}, {request{OrderBy: "nothing"}, core.CodeInvalidArgument},
		} {
			if _, pages, err := w.exportFindings(owner, c.req); core.AsError(err).Code != c.want || pages > 0 {
				t.Errorf("%+v: %v after %d pages, want %s", c.req, err, pages, c.want)
			}
		}
	})
}

// What an export shows beside a finding costs as many statements for a page as for one finding.
func TestWhatAnExportShowsIsReadForAPageAtOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.crowd(shop)
		w.point(repo, "latest", digest(0))
		w.settle()
		team := w.memberWith(iam.ViewerRole, shop, acme.uid)
		above, errs := w.p.Groups.GetMany(w.operator(), []core.UID{acme.uid, shop})
		must(t, errors.Join(errs...))
		path := above[1].Name + "/crowd"
		for _, c := range []struct {
			ctx   context.Context
			path  string
			names int
		}{{acme.owner, above[0].Name + "/" + path, 2}, {team, path, 1}} {
			var trace core.Trace
			pages := 0
			err := w.p.Exports.ReadFindings(core.WithTrace(c.ctx, &trace), reports.ExportRequest[*inventory.FindingFilter]{Within: repo}, func(page []*reports.ExportedFinding) error {
				pages++
				for _, f := range page {
					hasBoth := strings.Join(f.Tags, " ") == "latest v0"
					if hasBoth != (f.Digest == digest(0)) || !hasBoth && len(f.Tags) != 1 || f.RepoPath != c.path || len(f.GroupNames) != c.names {
						t.Fatalf("%s has the tags %q and the path %s of %q, want the path %s", f.Digest, f.Tags, f.RepoPath, f.GroupNames, c.path)
					}
				}
				return nil
			})
			must(t, err)
			if n := trace.Statements.Load(); n > int64(6*pages) {
				t.Errorf("%d pages cost %d statements, want at most 6 for each", pages, n)
			}
		}
	})
}

// A page that fails ends the export with its error.
func TestAnExportEndsWithTheErrorOfItsReader(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.crowd(acme.uid)
		full, pages := errors.New("the disk is full"), 0
		err := w.p.Exports.ReadFindings(acme.owner, reports.ExportRequest[*inventory.FindingFilter]{}, func([]*reports.ExportedFinding) error {
			pages++
			return full
		})
		if !errors.Is(err, full) || pages != 1 {
			t.Errorf("%v after %d pages, want %v after 1", err, pages, full)
		}
	})
}

func TestPackagesAreExportedWithAllTheirVersions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		var held []string
		for i := range 250 {
			held = append(held, fmt.Sprintf("many@1.%d.0", i), fmt.Sprintf("package-%d@1.0.0", i))
		}
		w.sbom(repo, digest(1), held...)
		w.point(repo, "latest", digest(1))
		w.sbom(w.repo(acme.uid), digest(2), "elsewhere@1.0.0")
		w.settle()
		export := func(ctx context.Context, req reports.ExportRequest[*inventory.PackageFilter]) (int, error) {
			seen := map[core.UID]bool{}
			err := w.p.Exports.ReadPackages(ctx, req, func(versions []*reports.ExportedVersion) error {
				for _, v := range versions {
					if seen[v.UID] || v.Package.Name == "" || v.Version == "" {
						t.Fatalf("%+v was exported twice: %t", v, seen[v.UID])
					}
					seen[v.UID] = true
				}
				return nil
			})
			return len(seen), err
		}
		type request = reports.ExportRequest[*inventory.PackageFilter]
		for name, c := range map[string]struct {
			ctx  context.Context
			req  request
			want int
		}{
			"a group": {acme.owner, request{Within: shop, MaxRows: 500}, 500},
			"a name":  {w.operator(), request{Within: acme.uid, Filter: &inventory.PackageFilter{Names: []string{"many"}}}, 250},
			"nothing": {other.owner, request{}, 0},
		} {
			if got, err := export(c.ctx, c.req); err != nil || got != c.want {
				t.Errorf("%s: %d versions, %v, want %d", name, got, err, c.want)
			}
		}
		if _, err := export(acme.owner, request{Within: shop, MaxRows: 499}); core.AsError(err).Reason != "LIMIT_EXCEEDED" {
			t.Errorf("too many versions: %v, want LIMIT_EXCEEDED", err)
		}
	})
}
