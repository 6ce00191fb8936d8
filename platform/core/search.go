package platform

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"atrium/platform/fieldmask"
)

// SearchQueries find rows of several kinds by words.
type SearchQueries interface {
	// Search finds the places of the hits of a query, best first.
	Search(ctx context.Context, on Conn, q SearchQuery) ([]SearchPlace, error)
}

// A SearchKind is a kind of resource that a search can find.
type SearchKind string

// The kinds, in the order in which equally good hits are listed.
const (
	SearchGroups     SearchKind = "GROUP"
	SearchIdentities SearchKind = "IDENTITY"
	SearchRoles      SearchKind = "ROLE"
	SearchRepos      SearchKind = "REPO"
	SearchTags       SearchKind = "TAG"
)

var searchKinds = []SearchKind{SearchGroups, SearchIdentities, SearchRoles, SearchRepos, SearchTags}

// Values lists the kinds.
func (SearchKind) Values() []string { return fieldmask.Texts(searchKinds) }

// A SearchStage ranks a hit by how well it matches.
type SearchStage int64

// The stages, best first.
const (
	SearchExact  SearchStage = 1 + iota // the name equals the query
	SearchPrefix                        // the name begins with the query
	SearchPart                          // the texts contain all words of the query
)

// A SearchPlace is the position of a row among the hits of a search. Hits are
// sorted by stage, then by name, by kind, and by UID.
type SearchPlace struct {
	Stage SearchStage
	Name  string
	Kind  byte // the number of the kind
	UID   UID
}

// A SearchScope is the scope of a kind in a search: subtrees, and built-in roles.
type SearchScope struct {
	Kind  byte // the number of the kind
	Scope Scope
}

// A SearchQuery is a checked and authorised search for the store. Only this
// package can make one.
type SearchQuery struct {
	query  string
	scopes []SearchScope
	after  *SearchPlace
	limit  int
}

// Start returns the beginning of the folded search texts of hits of the stages
// SearchExact, where a line break follows it, and SearchPrefix.
func (q SearchQuery) Start() string { return searchStart(q.query) }

// Words returns the texts that the folded search texts of all hits contain.
func (q SearchQuery) Words() []string { return SearchWords(q.query) }

// Scopes returns the scopes of the kinds to search.
func (q SearchQuery) Scopes() []SearchScope { return q.scopes }

// After returns the position after which the page begins, or nil.
func (q SearchQuery) After() *SearchPlace { return q.after }

// Limit returns the maximum number of hits.
func (q SearchQuery) Limit() int { return q.limit }

// A SearchRequest asks for resources whose texts contain the words of a query.
type SearchRequest struct {
	Query     string
	Kinds     []SearchKind // the only kinds; nil means all
	Within    UID          // the group below which resources are found
	PageSize  int          // as in a ListRequest, like Empty
	Empty     bool
	PageToken string

	Malformed []fieldmask.Violation // violations that the adapter found while decoding
}

// A SearchHit is a resource that a search found, and the field that matched.
type SearchHit struct {
	Object any // *Group, *Identity, *Role, *Repo or *Tag
	Field  SearchField

	place SearchPlace
}

// A SearchPage is one page of hits, best first.
type SearchPage struct {
	Hits                 []SearchHit
	HasNext, HasPrevious bool

	cursor func(SearchPlace) string
}

// Cursor returns the page token that continues right after hit i.
func (p SearchPage) Cursor(i int) string { return p.cursor(p.Hits[i].place) }

// Search finds resources of several kinds by words.
type Search struct {
	core   *Core
	tables SearchQueries
	kinds  map[SearchKind]searchable
}

// A searchable provides what a search needs to know about a kind.
type searchable interface {
	number() byte
	scope(a *Actor, within UID) (Scope, error)
	read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error
	checkScope(ctx context.Context, within UID) error
}

// searchableKind implements searchable for a kind.
type searchableKind[T any, F filter] struct {
	*Collection[T, F]
	texts func(T) []fieldText
}

// newSearch returns a search of the kinds that areas have.
func newSearch(core *Core, tables SearchQueries, areas ...map[SearchKind]searchable) Search {
	s := Search{core, tables, map[SearchKind]searchable{}}
	for _, kinds := range areas {
		maps.Copy(s.kinds, kinds)
	}
	return s
}

// searchableBy returns what a search needs of a kind, whose rows have texts.
func searchableBy[T any, F filter](rows *Collection[T, F], texts func(T) []fieldText) searchable {
	return searchableKind[T, F]{rows, texts}
}

func (s searchableKind[T, F]) number() byte { return s.kind.Number }

func (s searchableKind[T, F]) scope(a *Actor, within UID) (Scope, error) {
	return s.kind.scope(a, UIDFilter{DescendantsOf: within})
}

func (s searchableKind[T, F]) checkScope(ctx context.Context, within UID) error {
	return s.scopeExists(ctx, UIDFilter{DescendantsOf: within})
}

// read reads rows that the caller may see.
func (s searchableKind[T, F]) read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error {
	rows, err := s.table.Get(ctx, s.core.store, Keys{UIDs: uids})
	for _, row := range rows {
		found[s.kind.UID(row)] = SearchHit{Object: row, Field: matchedField(s.texts(row), words, s.core.store.FoldText)}
	}
	return err
}

// List searches the resources that the caller may see. It leaves out kinds that
// the caller may not list in the scope, and returns PERMISSION_DENIED if no kind
// is left.
func (s Search) List(ctx context.Context, req SearchRequest) (SearchPage, error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return SearchPage{}, err
	}
	v := violations(slices.Clone(req.Malformed))
	req.check(&v)
	req.Query = s.core.store.FoldText(req.Query)
	q, err := s.query(ctx, req, &v)
	if err == nil {
		err = v.err()
	}
	if err != nil {
		return SearchPage{}, err
	}
	if q.scopes, err = s.scopes(actor, req); err != nil {
		return SearchPage{}, err
	}
	return s.page(ctx, req, q)
}

func (req SearchRequest) check(v *violations) {
	if v.checkQuery(req.Query); req.Query == "" {
		v.add("query", "is required")
	}
	for _, k := range req.Kinds {
		if checkOneOf(v, "kinds", k, searchKinds); k == "" {
			v.add("kinds", "must not hold an empty text")
		}
	}
	if req.Within != "" {
		v.checkUID("within", req.Within)
	}
}

// query converts a request into a query without scopes.
func (s Search) query(ctx context.Context, req SearchRequest, v *violations) (SearchQuery, error) {
	q := SearchQuery{query: req.Query, limit: pageLimit(req.PageSize, req.Empty, v)}
	if req.PageToken == "" || len(*v) > 0 {
		return q, nil
	}
	t, err := s.core.tokens.open(ctx, req.PageToken, req.name())
	if errors.Is(err, errToken) {
		v.add("page_token", "%s", errToken)
		return q, nil
	}
	if err == nil && !s.core.tokens.isExpired(t) { // otherwise the list restarts
		q.after = placeOf(t)
	}
	return q, err
}

// name returns the associated data of page tokens.
func (req SearchRequest) name() []byte {
	return listName("Search", UIDFilter{DescendantsOf: req.Within}, []any{searchStart(req.Query), req.Kinds})
}

// placeOf decodes the place in a page token. The order of the token is the stage,
// and its value begins with the number of the kind.
func placeOf(t token) *SearchPlace {
	value, _ := t.Value.(string)
	return &SearchPlace{SearchStage(t.order), value[1:], value[0], t.UID}
}

func (p SearchPlace) token(issued time.Time) token {
	return token{issued: issued, order: int(p.Stage), Position: Position{string([]byte{p.Kind}) + p.Name, p.UID}}
}

// scopes returns the scopes of the requested kinds that the caller may list.
func (s Search) scopes(actor *Actor, req SearchRequest) ([]SearchScope, error) {
	var scopes []SearchScope
	var denied error
	for _, name := range searchKinds {
		if req.Kinds != nil && !slices.Contains(req.Kinds, name) {
			continue
		}
		scope, err := s.kinds[name].scope(actor, req.Within)
		switch {
		case err == nil:
			scopes = append(scopes, SearchScope{s.kinds[name].number(), scope})
		case denied == nil:
			denied = err
		}
	}
	if len(scopes) == 0 && denied != nil {
		return nil, denied
	}
	return slices.DeleteFunc(scopes, func(s SearchScope) bool { return len(s.Scope.Branches) == 0 }), nil
}

// page reads the page of hits that a query asks for.
func (s Search) page(ctx context.Context, req SearchRequest, q SearchQuery) (SearchPage, error) {
	limit := q.limit
	q.limit++ // one more hit shows whether there is a next page
	var places []SearchPlace
	if len(q.scopes) > 0 {
		var err error
		if places, err = s.tables.Search(ctx, s.core.store, q); err != nil {
			return SearchPage{}, err
		}
	}
	page := SearchPage{HasNext: len(places) > limit, HasPrevious: q.after != nil}
	places = places[:min(len(places), limit)]
	if len(places) == 0 && req.Within != "" {
		if err := s.kinds[SearchGroups].checkScope(ctx, req.Within); err != nil {
			return SearchPage{}, err
		}
	}
	name := sync.OnceValue(req.name)
	issued := s.core.tokens.time()
	page.cursor = func(p SearchPlace) string { return s.core.tokens.seal(p.token(issued), name()) }
	var err error
	page.Hits, err = s.hits(ctx, q, places)
	return page, err
}

// hits reads the rows at places, with one read for each kind. It leaves out rows
// that were deleted in the meantime.
func (s Search) hits(ctx context.Context, q SearchQuery, places []SearchPlace) ([]SearchHit, error) {
	found := make(map[UID]SearchHit, len(places))
	words := q.Words()
	for _, name := range searchKinds {
		var uids []UID
		for _, p := range places {
			if p.Kind == s.kinds[name].number() {
				uids = append(uids, p.UID)
			}
		}
		if len(uids) == 0 {
			continue
		}
		if err := s.kinds[name].read(ctx, uids, words, found); err != nil {
			return nil, err
		}
	}
	hits := make([]SearchHit, 0, len(places))
	for _, p := range places {
		if hit, ok := found[p.UID]; ok {
			hit.place = p
			hits = append(hits, hit)
		}
	}
	return hits, nil
}
