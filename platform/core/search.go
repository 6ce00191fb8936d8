package core

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

// A SearchQuery is a checked and authorized search for the store. Only this
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
	kinds  map[SearchKind]Searchable
}

// A Searchable provides what a search needs to know about a kind.
type Searchable interface {
	number() byte
	Scope(a *Actor, within UID) (Scope, error)
	Read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error
	checkScope(ctx context.Context, within UID) error
}

// searchableKind implements searchable for a kind.
type searchableKind[T any, F Filter] struct {
	*Collection[T, F]
	texts func(T) []FieldText
}

// NewSearch returns a search of the kinds that areas have.
func NewSearch(core *Core, tables SearchQueries, areas ...map[SearchKind]Searchable) Search {
	s := Search{core, tables, map[SearchKind]Searchable{}}
	for _, kinds := range areas {
		maps.Copy(s.kinds, kinds)
	}
	return s
}

// SearchableBy returns what a search needs of a kind, whose rows have texts.
func SearchableBy[T any, F Filter](rows *Collection[T, F], texts func(T) []FieldText) Searchable {
	return searchableKind[T, F]{rows, texts}
}

func (s searchableKind[T, F]) number() byte { return s.Kind.Number }

// Scope returns what a caller may find within a UID.
func (s searchableKind[T, F]) Scope(a *Actor, within UID) (Scope, error) {
	return s.Kind.Scope(a, UIDFilter{DescendantsOf: within})
}

func (s searchableKind[T, F]) checkScope(ctx context.Context, within UID) error {
	return s.ScopeExists(ctx, UIDFilter{DescendantsOf: within})
}

// Read reads rows that the caller may see.
func (s searchableKind[T, F]) Read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error {
	rows, err := s.Table.Get(ctx, s.Core.Store, Keys{UIDs: uids})
	for _, row := range rows {
		found[s.Kind.UID(row)] = SearchHit{Object: row, Field: matchedField(s.texts(row), words, s.Core.Store.FoldText)}
	}
	return err
}

// List searches the resources that the caller may see. It leaves out kinds that
// the caller may not list in the scope, and returns PERMISSION_DENIED if no kind
// is left.
func (s Search) List(ctx context.Context, req SearchRequest) (SearchPage, error) {
	actor, err := RequireCaller(ctx)
	if err != nil {
		return SearchPage{}, err
	}
	v := Violations(slices.Clone(req.Malformed))
	req.Check(&v)
	req.Query = s.core.Store.FoldText(req.Query)
	q, err := s.query(ctx, req, &v)
	if err == nil {
		err = v.Err()
	}
	if err != nil {
		return SearchPage{}, err
	}
	if q.scopes, err = s.scopes(actor, req); err != nil {
		return SearchPage{}, err
	}
	return s.page(ctx, req, q)
}

// Check adds the violations of the fields.
func (req SearchRequest) Check(v *Violations) {
	if v.CheckQuery(req.Query); req.Query == "" {
		v.Add("query", "is required")
	}
	for _, k := range req.Kinds {
		if CheckOneOf(v, "kinds", k, searchKinds); k == "" {
			v.Add("kinds", "must not contain an empty text")
		}
	}
	if req.Within != "" {
		v.CheckUID("within", req.Within)
	}
}

// query converts a request into a query without scopes.
func (s Search) query(ctx context.Context, req SearchRequest, v *Violations) (SearchQuery, error) {
	q := SearchQuery{query: req.Query, limit: PageLimit(req.PageSize, req.Empty, v)}
	if req.PageToken == "" || len(*v) > 0 {
		return q, nil
	}
	t, err := s.core.Tokens.Open(ctx, req.PageToken, req.name())
	if errors.Is(err, ErrToken) {
		v.Add("page_token", "%s", ErrToken)
		return q, nil
	}
	if err == nil && !s.core.Tokens.isExpired(t) { // otherwise the list restarts
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
func placeOf(t Token) *SearchPlace {
	value, _ := t.Value.(string)
	return &SearchPlace{SearchStage(t.order), value[1:], value[0], t.UID}
}

func (p SearchPlace) token(issued time.Time) Token {
	return Token{issued: issued, order: int(p.Stage), Position: Position{Value: string([]byte{p.Kind}) + p.Name, UID: p.UID}}
}

// scopes returns the scopes of the requested kinds that the caller may list.
func (s Search) scopes(actor *Actor, req SearchRequest) ([]SearchScope, error) {
	var scopes []SearchScope
	var denied error
	for _, name := range searchKinds {
		if req.Kinds != nil && !slices.Contains(req.Kinds, name) {
			continue
		}
		scope, err := s.kinds[name].Scope(actor, req.Within)
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
		if places, err = s.tables.Search(ctx, s.core.Store, q); err != nil {
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
	issued := s.core.Tokens.time()
	page.cursor = func(p SearchPlace) string { return s.core.Tokens.Seal(p.token(issued), name()) }
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
		if err := s.kinds[name].Read(ctx, uids, words, found); err != nil {
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
