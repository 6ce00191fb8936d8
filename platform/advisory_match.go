package platform

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/ecosystem"
)

// An advisory applies to its own group and everything below. There it matches
// the repos with the name of its artifact, as its ecosystem compares names. It
// matches a tag if the artifact names the digest of the tag, or a package of the
// tag's image. If the packages of an image are not known, the name of the repo is
// used as the package.

// A matchTarget is a resource that advisories are matched with.
type matchTarget struct {
	uid   UID      // advisories in the groups that contain it match
	names []string // the artifact names that match
}

// narrow reduces a branch to the advisories that match the target.
func (a matchTarget) narrow(b Branch) []Branch {
	keys := ecosystem.NameKeys(a.names...)
	branches := make([]Branch, len(keys))
	for i, key := range keys {
		branches[i] = Branch{Relation: OfArtifact, Name: key.Name, Rule: key.Rule, Inside: b.UID, Around: a.uid}
	}
	return branches
}

// repoTargets returns the match targets of repos.
func repoTargets(repos []*Repo) []matchTarget {
	all := make([]matchTarget, len(repos))
	for i, r := range repos {
		all[i] = matchTarget{r.UID, []string{r.Name}}
	}
	return all
}

// ListOfRepos reads, for each repo, the same page of the advisories that match
// it, with one read. The page tokens are those of the plain list with the
// corresponding filter.
func (s Advisories) ListOfRepos(ctx context.Context, req ListRequest[*AdvisoryFilter], repos []*Repo) ([]Page[*Advisory], []error) {
	return s.listForTargets(ctx, req, repoTargets(repos))
}

// ListOfTags reads, for each tag, the same page of the advisories that match it.
// It needs one read for the advisories, one for the images, and one for the repos
// of images without known packages.
func (s Advisories) ListOfTags(ctx context.Context, req ListRequest[*AdvisoryFilter], tags []*Tag) ([]Page[*Advisory], []error) {
	pages, errs := make([]Page[*Advisory], len(tags)), make([]error, len(tags))
	all, failed := s.tagTargets(ctx, tags)
	var known []matchTarget
	var indices []int
	for i := range tags {
		if errs[i] = failed[i]; errs[i] == nil {
			known, indices = append(known, all[i]), append(indices, i)
		}
	}
	if len(known) == 0 {
		return pages, errs
	}
	found, failures := s.listForTargets(ctx, req, known)
	for n, i := range indices {
		pages[i], errs[i] = found[n], failures[n]
	}
	return pages, errs
}

func (s Advisories) listForTargets(ctx context.Context, req ListRequest[*AdvisoryFilter], all []matchTarget) ([]Page[*Advisory], []error) {
	return listReferring(ctx, s.resources, req, len(all), func(i int, req *ListRequest[*AdvisoryFilter]) func(Branch) []Branch {
		req.UIDP.DescendantsOf = all[i].uid.Root()
		req.Filter = changeFilter(req.Filter, func(f *AdvisoryFilter) { f.ArtifactNames, f.Around = all[i].names, all[i].uid })
		return all[i].narrow
	})
}

// tagTargets returns the match targets of tags. Those that could not be determined have an error.
func (s Advisories) tagTargets(ctx context.Context, tags []*Tag) ([]matchTarget, []error) {
	all, keys := make([]matchTarget, len(tags)), make([]ImageKey, len(tags))
	for i, t := range tags {
		keys[i] = ImageKey{t.UID.Parent(), t.Digest}
	}
	images, errs := s.p.Images.GetMany(ctx, keys)
	var unknown []int
	var repos []UID
	for i, t := range tags {
		all[i] = matchTarget{t.UID, []string{t.Digest}}
		if errors.Is(errs[i], &Error{Code: CodeNotFound}) {
			errs[i] = nil
		}
		switch {
		case errs[i] != nil:
		case images[i] != nil && len(images[i].Packages) > 0:
			all[i].names = append(all[i].names, images[i].Packages...)
			slices.Sort(all[i].names)
			all[i].names = slices.Compact(all[i].names)
		default:
			unknown, repos = append(unknown, i), append(repos, t.UID.Parent())
		}
	}
	found, missing := s.p.Repos.GetMany(ctx, repos)
	for n, i := range unknown {
		if errs[i] = missing[n]; errs[i] == nil {
			all[i].names = append(all[i].names, found[n].Name)
		}
	}
	return all, errs
}

// NameRule returns the rule by which the name of the artifact is compared.
func (a *Advisory) NameRule() ecosystem.NameRule { return ecosystem.NameRuleOf(a.ArtifactType) }

// NormalName returns the normal form of the name of the artifact.
func (a *Advisory) NormalName() string { return a.NameRule().Normalize(a.ArtifactName) }
