package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// An ExportRequest asks for all rows of a list with filter F.
type ExportRequest[F any] struct {
	Within  core.UID // a group or a repo; "" means all that the caller may see
	Filter  F
	OrderBy string // as in ListRequest; "" means the order of the kind, which indexes have
	MaxRows int64  // an export of more rows fails; 0 means no limit

	// Malformed holds violations that the adapter found while decoding.
	Malformed []fieldmask.Violation
}

// An ExportedFinding is a finding with what a reader of a file needs beside it. What the caller may not see is left out.
type ExportedFinding struct {
	*inventory.Finding
	Aliases  []string `json:"aliases,omitempty"` // other names of the vulnerability, also those of its sources, sorted
	RepoName string   `json:"repoName,omitempty"`
	RepoPath string   `json:"repoPath,omitempty"` // names of the groups and of the repo, such as acme/shop/checkout
	Tags     []string `json:"tags,omitempty"`     // of the image, if they are not deprecated; the first exportedTags
	Summary  string   `json:"summary,omitempty"`  // of the vulnerability
	Link     string   `json:"link,omitempty"`     // to the advisory

	Direct       *bool                          `json:"direct,omitempty"`      // whether the project in the image depends on the package itself; nil if it is not known
	IntroducedBy []inventory.IntroducingPackage `json:"introducedBy,omitzero"` // the packages through which it comes; nil if it is not known

	GroupNames []string `json:"-"`
}

// exportedTags is how many tags of an image an export shows.
const exportedTags = 20

// Exports read all rows of lists, for files.
type Exports struct{ area *Area }

// ReadFindings calls yield for each page of the findings that a request asks for and the caller may see,
// at least once. Only one page is in memory. yield must not keep the page. If ReadFindings returns an
// error, what yield has got is not the whole list.
func (s Exports) ReadFindings(ctx context.Context, req ExportRequest[*inventory.FindingFilter], yield func([]*ExportedFinding) error) error {
	list, rows := exportList(&req)
	list.UIDP.DescendantsOf = req.Within
	return inventory.FindingKind.AddArea(exportPages(ctx, list, rows, s.area.inventory.Findings.List, func(found []*inventory.Finding) error {
		exported, err := s.describe(ctx, found)
		if err == nil {
			err = rows.add(len(exported))
		}
		if err != nil {
			return err
		}
		return yield(exported)
	}))
}

// describe adds what an export shows beside findings, with one read each of groups, repos, tags and vulnerabilities, and those of
// where packages come from.
func (s Exports) describe(ctx context.Context, found []*inventory.Finding) ([]*ExportedFinding, error) {
	exported := make([]*ExportedFinding, len(found))
	if len(found) == 0 {
		return exported, nil
	}
	repos, ids, groups := make([]core.UID, len(found)), []string{}, []core.UID{}
	vulnerabilities := map[string]*inventory.Vulnerability{}
	byImage, images, versions := map[core.ImageKey][]*ExportedFinding{}, []core.ImageKey{}, make([]HeldVersion, len(found))
	for i, f := range found {
		exported[i], repos[i], ids = &ExportedFinding{Finding: f}, f.Repo, append(append(ids, f.VulnerabilityID), f.Sources...)
		versions[i] = HeldVersion{f.Image(), f.PackageVersion}
		if byImage[f.Image()] == nil {
			images = append(images, f.Image())
		}
		byImage[f.Image()], groups = append(byImage[f.Image()], exported[i]), append(groups, f.Repo.Ancestors()...)
	}
	slices.Sort(groups)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	names := map[core.UID]string{}
	above, groupErrs := s.area.iam.Groups.GetManyWithout(ctx, slices.Compact(groups), 0)
	named, repoErrs := s.area.inventory.Repos.GetManyWithout(ctx, repos, core.RepoLists)
	known, idErrs := s.area.inventory.Vulnerabilities.GetManyWithout(ctx, ids, core.VulnerabilityDetails)
	live := core.ListRequest[*inventory.TagFilter]{PageSize: exportedTags, Parts: core.PartItems, Filter: &inventory.TagFilter{Deprecated: new(bool), Without: []inventory.TagClass{inventory.TagClassReferrer}}}
	tags, tagErrs := s.area.inventory.Tags.ListOfImages(ctx, live, images)
	origins, originErrs := s.area.PackageOrigins.Read(ctx, versions)
	err := errors.Join(
		eachShown(origins, originErrs, func(i int, o inventory.PackageOrigin) {
			exported[i].Direct, exported[i].IntroducedBy = o.Direct, o.IntroducedBy
		}),
		eachShown(above, groupErrs, func(_ int, g *iam.Group) { names[g.UID] = g.Name }),
		eachShown(named, repoErrs, func(i int, r *inventory.Repo) { exported[i].locate(r, names) }),
		eachShown(known, idErrs, func(i int, v *inventory.Vulnerability) { vulnerabilities[ids[i]] = v }),
		eachShown(tags, tagErrs, func(i int, page core.Page[*inventory.Tag]) {
			for _, f := range byImage[images[i]] {
				for _, t := range page.Items {
					f.Tags = append(f.Tags, t.Name)
				}
			}
		}))
	for _, f := range exported {
		for _, id := range append([]string{f.VulnerabilityID}, f.Sources...) {
			f.describe(id, vulnerabilities[id])
		}
		slices.Sort(f.Aliases)
		f.Aliases = slices.Compact(f.Aliases)
	}
	return exported, err
}

// locate sets the names of the repo and of the groups above it.
func (f *ExportedFinding) locate(repo *inventory.Repo, names map[core.UID]string) {
	for _, group := range repo.UID.Ancestors() {
		if names[group] != "" {
			f.GroupNames = append(f.GroupNames, names[group])
		}
	}
	f.RepoName, f.RepoPath = repo.Name, strings.Join(append(slices.Clone(f.GroupNames), repo.Name), "/")
}

// describe adds what is known of the vulnerability by one of its ids; v is nil if that is nothing. What is known by an earlier id
// stays. The link is that to an advisory, or else the first one.
func (f *ExportedFinding) describe(id string, v *inventory.Vulnerability) {
	if v == nil {
		v = &inventory.Vulnerability{}
	}
	for _, name := range slices.Concat([]string{id}, v.Aliases, v.Upstream) {
		if name != f.VulnerabilityID {
			f.Aliases = append(f.Aliases, name)
		}
	}
	f.Summary = cmp.Or(f.Summary, v.Summary)
	if f.Link != "" {
		return
	}
	for _, r := range v.References {
		if isWeb := strings.HasPrefix(r.URL, "https://") || strings.HasPrefix(r.URL, "http://"); isWeb && (f.Link == "" || r.Type == "TYPE_ADVISORY") {
			f.Link = r.URL
		}
	}
}

// eachShown calls show with each row that the caller may see. It returns the first other error.
func eachShown[T any](rows []T, errs []error, show func(i int, row T)) error {
	for i, err := range errs {
		if err == nil {
			show(i, rows[i])
		} else if !isHidden(err) {
			return err
		}
	}
	return nil
}

// isHidden reports whether an error says that there is no such row for the caller.
func isHidden(err error) bool {
	code := core.AsError(err).Code
	return code == core.CodeNotFound || code == core.CodePermissionDenied
}

// exportVersions is the number of versions of a package that are read with those of other packages.
const exportVersions = 20

// ReadPackages calls yield for versions of the packages that a request asks for and images hold, of one
// package after the other. It is otherwise like ReadFindings. MaxRows limits the versions.
func (s Exports) ReadPackages(ctx context.Context, req ExportRequest[*inventory.PackageFilter], yield func([]*ExportedVersion) error) error {
	list, rows := exportList(&req)
	held := func(ctx context.Context, list core.ListRequest[*inventory.PackageFilter]) (core.Page[*inventory.Package], error) {
		return s.area.inventory.Packages.ListHeld(ctx, req.Within, list)
	}
	pass := func(versions []*ExportedVersion) error {
		if err := rows.add(len(versions)); err != nil {
			return err
		}
		return yield(versions)
	}
	return inventory.PackageKind.AddArea(exportPages(ctx, list, rows, held, func(packages []*inventory.Package) error {
		if len(packages) == 0 {
			return pass(nil)
		}
		return s.readVersions(ctx, packages, pass)
	}))
}

// An ExportedVersion is a version of a package with the licenses that the SBOMs of the images give it that hold it.
type ExportedVersion struct {
	*inventory.PackageVersion
	Licenses []string
}

// readVersions calls yield for all versions of packages that images hold where the list of packages
// was read.
func (s Exports) readVersions(ctx context.Context, packages []*inventory.Package, yield func([]*ExportedVersion) error) error {
	req := core.ListRequest[*inventory.PackageVersionFilter]{PageSize: exportVersions, Parts: core.PartItems | core.PartMore}
	pages, err := s.readVersionPages(ctx, req, packages)
	for i, page := range pages {
		for {
			if err == nil {
				err = yield(page.versions)
			}
			if err != nil {
				return err
			}
			if page.next == "" {
				break
			}
			next := core.ListRequest[*inventory.PackageVersionFilter]{PageSize: core.MaxPageSize, Parts: req.Parts, PageToken: page.next}
			var more []exportedPage
			if more, err = s.readVersionPages(ctx, next, packages[i:i+1]); err == nil {
				page = more[0]
			}
		}
	}
	return err
}

// An exportedPage is a page of the versions of a package.
type exportedPage struct {
	versions []*ExportedVersion
	next     string // token of the next page; "" if there is none
}

// readVersionPages reads a page of the versions of each package, with their licenses.
func (s Exports) readVersionPages(ctx context.Context, req core.ListRequest[*inventory.PackageVersionFilter], packages []*inventory.Package) ([]exportedPage, error) {
	pages, errs := s.area.inventory.PackageVersions.ListOfPackages(ctx, req, packages)
	var all []*inventory.PackageVersion
	for i, page := range pages {
		if errs[i] != nil {
			return nil, errs[i]
		}
		all = append(all, page.Items...)
	}
	licenses, err := s.area.inventory.PackageVersions.Licenses(ctx, all)
	exported := make([]exportedPage, len(pages))
	for i, page := range pages {
		for n, v := range page.Items {
			if err == nil {
				exported[i].versions = append(exported[i].versions, &ExportedVersion{v, licenses[n]})
			}
		}
		if licenses = licenses[min(len(page.Items), len(licenses)):]; page.HasNext {
			exported[i].next = page.NextPageToken()
		}
	}
	return exported, err
}

// exportList returns the request of the pages of an export, and the count of its rows. If Within is
// malformed, it becomes a violation, with which every list fails.
func exportList[F any](req *ExportRequest[F]) (core.ListRequest[F], *exportedRows) {
	if req.Within != "" && !req.Within.Valid() {
		v := core.Violations(req.Malformed)
		v.CheckUID("within", req.Within)
		req.Within, req.Malformed = "", v
	}
	list := core.ListRequest[F]{Filter: req.Filter, OrderBy: req.OrderBy, PageSize: core.MaxPageSize, Parts: core.PartItems | core.PartMore, Malformed: req.Malformed}
	if req.MaxRows > 0 {
		list.Parts |= core.PartTotal
	}
	return list, &exportedRows{most: req.MaxRows}
}

// exportedRows counts the rows of an export.
type exportedRows struct{ n, most int64 }

func (r *exportedRows) add(n int) error {
	r.n += int64(n)
	return r.check(r.n)
}

// check returns an error if n rows are too many.
func (r *exportedRows) check(n int64) error {
	if r.most == 0 || n <= r.most {
		return nil
	}
	err := core.Invalid(fieldmask.Violation{Field: "within", Description: fmt.Sprintf("has more than %d rows; export a smaller part, or restrict it with filters", r.most)})
	err.Reason = "LIMIT_EXCEEDED"
	err.Metadata = map[string]string{"limit": "export-rows", "value": fmt.Sprint(r.most)}
	return err
}

// exportPages calls yield for each page of a list, and frees its memory after that. The total is
// read with the first page only.
func exportPages[T, F any](ctx context.Context, req core.ListRequest[F], rows *exportedRows, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), yield func([]T) error) error {
	for {
		page, err := list(ctx, req)
		if err == nil && req.PageToken == "" {
			err = rows.check(page.TotalCount)
		}
		if err == nil {
			err = yield(page.Items)
		}
		if err != nil || !page.HasNext {
			return err
		}
		core.ResponseMemoryOf(ctx).ReleaseRead()
		req.PageToken, req.Parts = page.NextPageToken(), core.PartItems|core.PartMore
	}
}
