package platform

import (
	"context"
	"errors"
	"slices"
)

// An advisory speaks of what its artifact names, in its own group and below. So
// it matches a repo of that name there, and not one of the same name elsewhere. It
// matches a tag there whose digest it names, or a package that the tag's image
// holds; where nothing is known of the packages, an image is taken for what its
// repo is named after.

// An advised is what advisories are matched with.
type advised struct {
	uid   UID // in whose groups they lie
	names []string
}

// narrow gives, of a branch of what the caller may see, the advisories that match.
func (a advised) narrow(b Branch) []Branch {
	branches := make([]Branch, len(a.names))
	for i, name := range a.names {
		branches[i] = Branch{Relation: OfArtifact, Name: name, Inside: b.UID, Around: a.uid}
	}
	return branches
}

func adviseRepos(repos []*Repo) []advised {
	all := make([]advised, len(repos))
	for i, r := range repos {
		all[i] = advised{r.UID, []string{r.Name}}
	}
	return all
}

// ListOfRepos reads, for each repo, the same page of the advisories that match it,
// with one read. A page token of such a list is one of the plain list with that
// filter.
func (s Advisories) ListOfRepos(ctx context.Context, req ListRequest[AdvisoryFilter], repos []*Repo) ([]Page[Advisory], []error) {
	return s.listOf(ctx, req, adviseRepos(repos))
}

// SummarizeRepos counts the advisories of each repo, as ListOfRepos lists them,
// with one read.
func (s Advisories) SummarizeRepos(ctx context.Context, repos []*Repo) ([]*AdvisorySummary, []error) {
	return s.summarizeOf(ctx, adviseRepos(repos))
}

// ListOfTags reads, for each tag, the same page of the advisories that match it:
// with one read, beside those of the images, and of the repos where packages are
// not known.
func (s Advisories) ListOfTags(ctx context.Context, req ListRequest[AdvisoryFilter], tags []*Tag) ([]Page[Advisory], []error) {
	return readAdvised(ctx, s, tags, func(known []advised) ([]Page[Advisory], []error) { return s.listOf(ctx, req, known) })
}

// SummarizeTags counts the advisories of each tag, as ListOfTags lists them.
func (s Advisories) SummarizeTags(ctx context.Context, tags []*Tag) ([]*AdvisorySummary, []error) {
	return readAdvised(ctx, s, tags, func(known []advised) ([]*AdvisorySummary, []error) { return s.summarizeOf(ctx, known) })
}

func (s Advisories) listOf(ctx context.Context, req ListRequest[AdvisoryFilter], all []advised) ([]Page[Advisory], []error) {
	return listPointing(ctx, s.resources, req, len(all), func(i int, req *ListRequest[AdvisoryFilter]) func(Branch) []Branch {
		req.UIDP.DescendantsOf = all[i].uid.Root()
		req.Filter.ArtifactNames, req.Filter.Around = all[i].names, all[i].uid
		return all[i].narrow
	})
}

func (s Advisories) summarizeOf(ctx context.Context, all []advised) ([]*AdvisorySummary, []error) {
	return s.summarize(ctx, len(all), func(i int) (UIDFilter, func(Branch) []Branch) {
		return UIDFilter{DescendantsOf: all[i].uid.Root()}, all[i].narrow
	})
}

// readAdvised reads what belongs to those of tags of which it can be said what they
// are matched by. The others have an error in their places.
func readAdvised[V any](ctx context.Context, s Advisories, tags []*Tag, read func([]advised) ([]V, []error)) ([]V, []error) {
	values, errs := make([]V, len(tags)), make([]error, len(tags))
	all, failed := s.adviseTags(ctx, tags)
	var known []advised
	var places []int
	for i := range tags {
		if errs[i] = failed[i]; errs[i] == nil {
			known, places = append(known, all[i]), append(places, i)
		}
	}
	if len(known) == 0 {
		return values, errs
	}
	found, missing := read(known)
	for n, i := range places {
		values[i], errs[i] = found[n], missing[n]
	}
	return values, errs
}

func (s Advisories) adviseTags(ctx context.Context, tags []*Tag) ([]advised, []error) {
	all, keys := make([]advised, len(tags)), make([]ImageKey, len(tags))
	for i, t := range tags {
		keys[i] = ImageKey{t.UID.Parent(), t.Digest}
	}
	images, errs := s.p.Images.GetMany(ctx, keys)
	var unknown []int
	var repos []UID
	for i, t := range tags {
		all[i] = advised{t.UID, []string{t.Digest}}
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
