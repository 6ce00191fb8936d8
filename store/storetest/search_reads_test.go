package storetest_test

import (
	"context"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// search returns a function that runs a search.
func (r *readList) search(req core.SearchRequest) func(context.Context) error {
	return func(ctx context.Context) error {
		page, err := r.p.Search.List(ctx, req)
		if err == nil && len(page.Hits) == 0 {
			err = errNothing
		}
		return err
	}
}

// searchBuffers is what a search may touch: the index, and the rows of one page of
// results.
const searchBuffers = 500

// addSearches adds searches by words.
func (r *readList) addSearches() {
	add := func(name string, run func(context.Context) error) *hotRead {
		read := r.add(name, searchBuffers, run)
		read.sorts, read.scans, read.maxTotalBuffers, read.grows = true, true, searchBuffers, "It reads the postings of each trigram."
		return read
	}
	rare := fmt.Sprintf("repo-%d", len(r.b.repos)-7)
	add("a search for one repo among all", r.search(core.SearchRequest{Query: rare}))
	add("a search for a part of a name", r.search(core.SearchRequest{Query: rare[2:], Kinds: []core.SearchKind{core.SearchRepos}}))
	add("a search for a tag", r.search(core.SearchRequest{Query: r.b.tagName[1:], Kinds: []core.SearchKind{core.SearchTags}}))
	add("a search for a tag from its beginning", r.search(core.SearchRequest{Query: r.b.tagName, Kinds: []core.SearchKind{core.SearchTags}}))
	add("a search below a group", r.search(core.SearchRequest{Query: "group 1", Within: r.b.deep[3]}))
	deep := add("a search of who sees a part", r.search(core.SearchRequest{Query: rare[2:]}))
	deep.subject, deep.run = "many", func(ctx context.Context) error {
		_, err := r.p.Search.List(ctx, core.SearchRequest{Query: rare[2:]})
		return err
	}
	add("repos by a rare word", askList(r.p.Repos.List, core.ListRequest[*inventory.RepoFilter]{UIDP: descendantsOf(r.b.root), Filter: &inventory.RepoFilter{Query: rare}}))
	add("repos of a group by a rare word", func(ctx context.Context) error {
		_, errs := r.p.Repos.ListEach(ctx, core.ListRequest[*inventory.RepoFilter]{Filter: &inventory.RepoFilter{Query: rare}, OrderBy: "uid"}, []core.UIDFilter{descendantsOf(r.b.deep[1])})
		return errs[0]
	})
	add("tags by a rare word", askList(r.p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: descendantsOf(r.b.root), Filter: &inventory.TagFilter{Query: r.b.tagName[1:]}, OrderBy: "update_time desc"}))
}
