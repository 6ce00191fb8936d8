package storetest_test

import (
	"context"
	"errors"
	"fmt"

	"atrium/platform"
)

// finding adapts a search.
func (r *reading) finding(req platform.SearchRequest) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := r.p.Search.List(ctx, req)
		if err == nil && len(page.Hits) == 0 {
			err = errNothing
		}
		return err
	}
}

// barFound is what a search may touch: the index, and the rows of one page of what
// it finds.
const barFound = 500

// matches are the advisories of tags, and how repos are spread.
func (r *reading) matches() {
	tags := times(50, func(i int) *platform.Tag {
		return &platform.Tag{UID: r.b.repos[i] + "/00000000000000ff", Digest: r.b.digests[i].Digest}
	})
	// Three names of each are looked for.
	r.add("advisories of 50 tags", 2*barEach, func(ctx context.Context) error {
		return foundIn(r.p.Advisories.ListOfTags(ctx, platform.ListRequest[*platform.AdvisoryFilter]{PageSize: 10}, tags))
	}).total = 2 * barEach
	r.add("summaries of 50 tags", 2*barEach, func(ctx context.Context) error {
		_, errs := r.p.Advisories.SummarizeTags(ctx, tags)
		return errors.Join(errs...)
	}).total = 2 * barEach
}

// searches are what is found by words.
func (r *reading) searches() {
	add := func(name string, run func(context.Context) error) *hotRead {
		read := r.add(name, barFound, run)
		read.sorts, read.scans, read.total = true, true, barFound
		return read
	}
	rare := fmt.Sprintf("repo-%d", len(r.b.repos)-7)
	add("a search for one repo among all", r.finding(platform.SearchRequest{Query: rare}))
	add("a search for a part of a name", r.finding(platform.SearchRequest{Query: rare[2:], Kinds: []platform.SearchKind{platform.SearchRepos}}))
	add("a search for a tag", r.finding(platform.SearchRequest{Query: r.b.tagName[1:], Kinds: []platform.SearchKind{platform.SearchTags}}))
	add("a search for a tag from its beginning", r.finding(platform.SearchRequest{Query: r.b.tagName, Kinds: []platform.SearchKind{platform.SearchTags}}))
	add("a search below a group", r.finding(platform.SearchRequest{Query: "group 1", Within: r.b.deep[3]}))
	deep := add("a search of who sees a part", r.finding(platform.SearchRequest{Query: rare[2:]}))
	deep.as, deep.run = "many", func(ctx context.Context) error {
		_, err := r.p.Search.List(ctx, platform.SearchRequest{Query: rare[2:]})
		return err
	}
	add("repos by a rare word", askList(r.p.Repos.List, platform.ListRequest[*platform.RepoFilter]{UIDP: below(r.b.root), Filter: &platform.RepoFilter{Query: rare}}))
	add("repos of a group by a rare word", func(ctx context.Context) error {
		_, errs := r.p.Repos.ListEach(ctx, platform.ListRequest[*platform.RepoFilter]{Filter: &platform.RepoFilter{Query: rare}, OrderBy: "uid"}, []platform.UIDFilter{below(r.b.deep[1])})
		return errs[0]
	})
	add("tags by a rare word", askList(r.p.Tags.List, platform.ListRequest[*platform.TagFilter]{UIDP: below(r.b.root), Filter: &platform.TagFilter{Query: r.b.tagName[1:]}, OrderBy: "update_time desc"}))
}
