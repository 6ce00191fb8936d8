package storetest_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A searchedRow is a row for a simple search.
type searchedRow struct {
	kind       core.SearchKind
	capability core.Capability
	name       string
	uid        core.UID
	texts      []string
}

// searchable lists the rows of a forest that searches look at.
func (f *forest) searchable() (rows []searchedRow) {
	for _, g := range f.groups {
		rows = append(rows, searchedRow{core.SearchGroups, core.CapGroupsList, g.Name, g.UID, []string{g.Name, g.Description}})
	}
	for _, i := range f.identities {
		rows = append(rows, searchedRow{core.SearchIdentities, core.CapIdentityList, i.Name, i.UID, []string{i.Name, i.Description, i.Email, i.EmailUnverified}})
	}
	for _, r := range slices.Concat(f.roles, f.builtIn) {
		rows = append(rows, searchedRow{core.SearchRoles, core.CapRolesList, r.Name, r.UID, []string{r.Name, r.Description}})
	}
	for _, r := range f.repos {
		rows = append(rows, searchedRow{core.SearchRepos, core.CapRepoList, r.Name, r.UID, append([]string{r.Name, r.Description}, r.Aliases...)})
	}
	for _, t := range f.tags {
		rows = append(rows, searchedRow{core.SearchTags, core.CapTagList, t.Name, t.UID, []string{t.Name}})
	}
	return rows
}

var searchOrder = []core.SearchKind{core.SearchGroups, core.SearchIdentities, core.SearchRoles, core.SearchRepos, core.SearchTags}

// stage returns how well a row matches a query, computed in the simplest way; 0 means not
// at all.
func (r searchedRow) stage(query string) core.SearchStage {
	wanted := strings.Fields(naiveFold(query))
	name := strings.Join(strings.Fields(naiveFold(r.name)), " ")
	switch whole := strings.Join(wanted, " "); {
	case name == whole:
		return core.SearchExact
	case strings.HasPrefix(name, whole):
		return core.SearchPrefix
	}
	for _, word := range wanted {
		if !slices.ContainsFunc(r.texts, func(text string) bool { return holds(text, word) }) {
			return 0
		}
	}
	return core.SearchPart
}

// naiveFold folds the few letters of the queries and texts of this test that strings.ToLower does
// not fold.
func naiveFold(text string) string { return foldedLetters.Replace(strings.ToLower(text)) }

var foldedLetters = strings.NewReplacer("ς", "σ", "ß", "ss", "ẞ", "ss", "e\u0301", "é", "E\u0301", "é", "i\u0307", "i", "I\u0307", "i", "ı", "i")

// holds reports whether a text contains a word: inside one of its words, or for a short
// word only at the beginning of one.
func holds(text, word string) bool {
	return slices.ContainsFunc(strings.Fields(naiveFold(text)), func(w string) bool {
		return strings.HasPrefix(w, word) || len([]rune(word)) > 2 && strings.Contains(w, word)
	})
}

// expectedHits returns what a caller must find, the best first.
func (f *forest) expectedHits(c *caller, req core.SearchRequest) (found []core.UID) {
	stages := map[core.UID]core.SearchStage{}
	var rows []searchedRow
	for _, r := range f.searchable() {
		stage := r.stage(req.Query)
		if stage > 0 && f.maySee(c, r.capability, r.uid) && (req.Kinds == nil || slices.Contains(req.Kinds, r.kind)) && (req.Within == "" || r.uid.Below(req.Within)) {
			rows, stages[r.uid] = append(rows, r), stage
		}
	}
	slices.SortFunc(rows, func(a, b searchedRow) int {
		return cmp.Or(cmp.Compare(stages[a.uid], stages[b.uid]), strings.Compare(a.name, b.name),
			cmp.Compare(slices.Index(searchOrder, a.kind), slices.Index(searchOrder, b.kind)), strings.Compare(string(a.uid), string(b.uid)))
	})
	for _, r := range rows {
		found = append(found, r.uid)
	}
	return found
}

func uidOfHit(t *testing.T, hit core.SearchHit) core.UID {
	t.Helper()
	switch row := hit.Object.(type) {
	case *iam.Group:
		return row.UID
	case *iam.Identity:
		return row.UID
	case *iam.Role:
		return row.UID
	case *inventory.Repo:
		return row.UID
	case *inventory.Tag:
		return row.UID
	default:
		t.Fatalf("found %T", hit.Object)
		return ""
	}
}

// searchQueries has queries that find much, little and nothing, with letters that have a
// special meaning in patterns and indexes.
var searchQueries = []string{
	"a", "A", "b", "a b", "b a", "latest", "LAT", "ates", "test lat", "v1", "1", "1.0", "9-r1", "%", "_x", "a_b", "a.b", "a/b", "b/c", "20260327", "x-2026", "ÄHRE", "ähr", "hre", "straße",
	"pay team", "team pay", "pa", "pay_", "100%", "\\", `"pay"`, "'", "ops@example.com", "viewer", "reads every", "every reads", "zz", "owner", "STRASSE", "STRAẞE", "aße", "ss", "Σίσυφος", "ΣΊΣΥΦΟΣ", "σίς", "σ", "istanbul", "İSTAN", "i̇st", "ıstanbul", "café", "CAFE\u0301", "fe\u0301", "日本", "日本語", "本語", "billing", "bil ing",
}

// addTexts gives rows texts that searches can find.
func (f *forest) addTexts() {
	texts := []string{"", "", "Pays the  team", "pay_ments 100%", "Ähre und Straße", "back\\slash", `says "pay"`, "it's", "日本語 の 文", "PAYTEAM", "team  of\u00a0billing", "Σίσυφος", "ΣΊΣΥΦΟΣ", "STRASSE", "İstanbul", "ISTANBUL", "Cafe\u0301", "CAFÉ"}
	for _, g := range f.groups {
		g.Description = pick(f.d, texts)
	}
	for _, i := range f.identities {
		i.Description, i.Email = pick(f.d, texts), pick(f.d, []string{"", "Ops@Example.com", "pay@team.example.com"})
	}
	for _, r := range f.roles {
		r.Description = pick(f.d, texts)
	}
	for _, r := range f.repos {
		r.Description, r.CatalogTier = pick(f.d, texts), pick(f.d, []core.CatalogTier{"", core.CatalogTierBase, core.CatalogTierAI})
		for range f.d.IntN(3) {
			r.Aliases, r.Bundles = append(r.Aliases, pick(f.d, texts[2:])), append(r.Bundles, pick(f.d, texts[2:]))
		}
	}
}

func TestSearchesAgreeWithANaiveSearch(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		found, pages := 0, 0
		for _, c := range f.callers {
			ctx, d := f.contextAs(c.subject), newDice(23)
			for _, query := range searchQueries {
				req := core.SearchRequest{Query: query, PageSize: 1 + d.IntN(30)}
				if d.IntN(2) == 0 {
					req.Kinds = pick(d, [][]core.SearchKind{{core.SearchRepos}, {core.SearchTags, core.SearchGroups}, {core.SearchRoles, core.SearchIdentities}})
				}
				want := f.expectedHits(c, req)
				got, n := f.searchAll(t, ctx, req)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %+v: got %v, want %v", c.subject, req, got, want)
				}
				found, pages = found+len(got), pages+n
				req.Within, req.PageSize = pick(d, f.groups).UID, 200
				if page, err := f.p.Search.List(ctx, req); err == nil {
					got := []core.UID{}
					for _, hit := range page.Hits {
						got = append(got, uidOfHit(t, hit))
					}
					if want := f.expectedHits(c, req); !slices.Equal(got, want[:min(len(want), 200)]) {
						t.Errorf("%s, %+v: got %v, want %v", c.subject, req, got, want)
					}
				}
			}
		}
		if found < 1000 || pages < 300 {
			t.Errorf("found %d on %d pages", found, pages)
		}
	})
}

// searchAll reads a search page by page.
func (f *forest) searchAll(t *testing.T, ctx context.Context, req core.SearchRequest) (all []core.UID, pages int) {
	t.Helper()
	for {
		page, err := f.p.Search.List(ctx, req)
		if err != nil {
			if core.AsError(err).Code != core.CodePermissionDenied {
				t.Fatal(err)
			}
			return nil, 1
		}
		if pages++; page.HasPrevious != (pages > 1) || page.HasNext && len(page.Hits) != req.PageSize {
			t.Errorf("page %d of %+v has %d hits, previous %v, next %v", pages, req, len(page.Hits), page.HasPrevious, page.HasNext)
		}
		for _, hit := range page.Hits {
			all = append(all, uidOfHit(t, hit))
		}
		if !page.HasNext {
			return all, pages
		}
		req.PageToken = page.Cursor(len(page.Hits) - 1)
	}
}

func TestASearchFollowsEveryChange(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := must[*inventory.Repo](t)(w.p.Repos.Create(ctx, org.Group.UID, input[*inventory.Repo](`{"name": "checkout", "description": "pays", "aliases": ["till"]}`)))
		tag := must[*inventory.Tag](t)(w.p.Tags.Create(ctx, repo.UID, tagInput("Release-7", digests[1])))
		finds := func(query string, want ...string) {
			t.Helper()
			page, err := w.p.Search.List(ctx, core.SearchRequest{Query: query})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, hit := range page.Hits {
				got = append(got, fmt.Sprintf("%T %s", hit.Object, hit.Field))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q finds %q, want %q", query, got, want)
			}
		}
		const isRepo, isTag = "*inventory.Repo ", "*inventory.Tag "
		finds("HECKOU", isRepo+"NAME")
		finds("pay", isRepo+"DESCRIPTION")
		finds("till", isRepo+"ALIASES")
		finds("pays till", isRepo+"DESCRIPTION")
		finds("release-7", isTag+"NAME")
		_, err := w.p.Repos.Update(ctx, repo.UID, input[*inventory.Repo](`{"description": "sells"}`))
		must[any](t)(nil, err)
		finds("pay")
		finds("sells till check", isRepo+"NAME")
		_, err = w.p.Repos.Update(ctx, repo.UID, input[*inventory.Repo](`{"name": "cart", "aliases": null}`))
		must[any](t)(nil, err)
		finds("till")
		finds("checkout")
		finds("cart sells", isRepo+"NAME")
		must[any](t)(nil, w.p.Tags.Delete(ctx, tag.UID))
		finds("release")
		must[any](t)(nil, w.p.Repos.Delete(ctx, repo.UID))
		finds("cart")
		for _, query := range []string{"", " ", strings.Repeat("a ", 17), "a\x00", "a\nb", strings.Repeat("a", 513)} {
			if _, err := w.p.Search.List(ctx, core.SearchRequest{Query: query}); core.AsError(err).Code != core.CodeInvalidArgument {
				t.Errorf("%.20q: %v, want Code %v", query, err, core.CodeInvalidArgument)
			}
		}
	})
}
