package platform

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A SearchKind is a kind that a search looks at.
type SearchKind string

// The kinds, in the order in which equally good finds are given.
const (
	SearchGroups     SearchKind = "GROUP"
	SearchIdentities SearchKind = "IDENTITY"
	SearchRoles      SearchKind = "ROLE"
	SearchRepos      SearchKind = "REPO"
	SearchTags       SearchKind = "TAG"
)

var searchKinds = []SearchKind{SearchGroups, SearchIdentities, SearchRoles, SearchRepos, SearchTags}

// Values lists the kinds.
func (SearchKind) Values() []string { return textsOf(searchKinds) }

// A SearchStage says how good a find is.
type SearchStage int64

// The stages, the best first.
const (
	SearchExact  SearchStage = 1 + iota // the name is what is looked for
	SearchPrefix                        // the name begins with it
	SearchPart                          // all of its words are somewhere
)

// A SearchPlace is where a row stands in what a search finds: by stage, then by
// name, by kind, and by UID.
type SearchPlace struct {
	Stage SearchStage
	Name  string
	Kind  byte // its number
	UID   UID
}

// A SearchScope is where rows of a kind are searched for: subtrees, and roles that
// are built in.
type SearchScope struct {
	Kind  byte // its number
	Scope Scope
}

// A SearchQuery is a search that may be made as it stands. Only this package can
// make one.
type SearchQuery struct {
	query  string
	scopes []SearchScope
	after  *SearchPlace
	limit  int
}

// Start is how the search texts of rows begin that are found at SearchExact, where
// a line break follows, and at SearchPrefix.
func (q SearchQuery) Start() string { return SearchStart(q.query) }

// Words are what the search texts of all rows hold that are found.
func (q SearchQuery) Words() []string { return SearchWords(q.query) }

// Scopes are those of the kinds to look at.
func (q SearchQuery) Scopes() []SearchScope { return q.scopes }

// After is the place behind which to look; nil: the beginning.
func (q SearchQuery) After() *SearchPlace { return q.after }

// Limit is how many to find at most.
func (q SearchQuery) Limit() int { return q.limit }

// A SearchRequest asks for what holds the words of a query.
type SearchRequest struct {
	Query     string
	Kinds     []SearchKind // nil: all
	Within    UID          // only what is below this group
	PageSize  int          // as in a ListRequest
	PageToken string

	Malformed []Violation // what the adapter could not decode
}

// A SearchHit is one find.
type SearchHit struct {
	Object any // *Group, *Identity, *Role, *Repo or *Tag
	Field  SearchField

	place SearchPlace
}

// A SearchPage is one page of what was found, the best first.
type SearchPage struct {
	Hits                 []SearchHit
	HasNext, HasPrevious bool

	cursor func(SearchPlace) string
}

// Cursor is the page token that continues right after hit i.
func (p SearchPage) Cursor(i int) string { return p.cursor(p.Hits[i].place) }

// Search finds rows of several kinds by words.
type Search struct {
	p     *Platform
	kinds map[SearchKind]searchable
}

// A searchable is what a search needs of a kind.
type searchable interface {
	number() byte
	scope(a *Actor, within UID) (Scope, error)
	read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error
	missingScope(ctx context.Context, within UID) error
}

// searched makes a kind searchable.
type searched[T any, F filter] struct {
	resources[T, F]
	texts func(*T) []searchedText
}

func newSearch(p *Platform) Search {
	return Search{p, map[SearchKind]searchable{
		SearchGroups:     searched[Group, GroupFilter]{p.Groups.resources, (*Group).searched},
		SearchIdentities: searched[Identity, IdentityFilter]{p.Identities.resources, (*Identity).searched},
		SearchRoles:      searched[Role, RoleFilter]{p.Roles.resources, (*Role).searched},
		SearchRepos:      searched[Repo, RepoFilter]{p.Repos.resources, (*Repo).searched},
		SearchTags:       searched[Tag, TagFilter]{p.Tags.resources, (*Tag).searched},
	}}
}

func (s searched[T, F]) number() byte { return s.kind.Number }

func (s searched[T, F]) scope(a *Actor, within UID) (Scope, error) {
	return s.kind.scope(a, UIDFilter{DescendantsOf: within})
}

func (s searched[T, F]) missingScope(ctx context.Context, within UID) error {
	return s.scopeExists(ctx, UIDFilter{DescendantsOf: within})
}

// read reads rows that the caller may see.
func (s searched[T, F]) read(ctx context.Context, uids []UID, words []string, found map[UID]SearchHit) error {
	rows, err := s.table(s.p.store).Get(ctx, Keys{uids: uids})
	for _, row := range rows {
		found[s.kind.UID(row)] = SearchHit{Object: row, Field: matchedField(s.texts(row), words)}
	}
	return err
}

// List finds what the caller may see. Kinds that it may list nowhere in the scope
// are left out; PERMISSION_DENIED where there is no other.
func (s Search) List(ctx context.Context, req SearchRequest) (SearchPage, error) {
	actor, err := caller(ctx)
	if err != nil {
		return SearchPage{}, err
	}
	v := violations(slices.Clone(req.Malformed))
	req.check(&v)
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
	if v.query(req.Query); req.Query == "" {
		v.add("query", "is required")
	}
	for _, k := range req.Kinds {
		if oneOf(v, "kinds", k, searchKinds); k == "" {
			v.add("kinds", "must not hold an empty text")
		}
	}
	if req.Within != "" {
		v.uid("within", req.Within)
	}
	if req.PageSize < 0 {
		v.add("page_size", "must not be negative")
	}
}

// query decides which page to read. It has no scopes yet.
func (s Search) query(ctx context.Context, req SearchRequest, v *violations) (SearchQuery, error) {
	q := SearchQuery{query: req.Query, limit: min(req.PageSize, MaxPageSize)}
	if req.PageSize == 0 {
		q.limit = DefaultPageSize
	}
	if req.PageToken == "" || len(*v) > 0 {
		return q, nil
	}
	t, err := s.p.openToken(ctx, req.PageToken, req.name())
	if errors.Is(err, errToken) {
		v.add("page_token", "%s", errToken)
		return q, nil
	}
	if err == nil && s.p.options.Clock().Sub(t.issued) <= tokenLifetime { // else the list restarts
		q.after = placeOf(t)
	}
	return q, err
}

// name is what page tokens are bound to.
func (req SearchRequest) name() []byte {
	return listName("Search", UIDFilter{DescendantsOf: req.Within}, []any{SearchStart(req.Query), req.Kinds})
}

// A place is sealed as a token whose order is the stage, and whose value begins
// with the number of the kind.
func placeOf(t token) *SearchPlace {
	value, _ := t.Value.(string)
	return &SearchPlace{SearchStage(t.order), value[1:], value[0], t.UID}
}

func (p SearchPlace) token(issued time.Time) token {
	return token{issued: issued, order: int(p.Stage), Position: Position{string([]byte{p.Kind}) + p.Name, p.UID}}
}

// scopes are those of the kinds that were asked for, as far as the caller may
// list them.
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
	return slices.DeleteFunc(scopes, func(s SearchScope) bool { return len(s.Scope.branches) == 0 }), nil
}

func (s Search) page(ctx context.Context, req SearchRequest, q SearchQuery) (SearchPage, error) {
	limit := q.limit
	q.limit++ // so that it is known whether more follow
	var places []SearchPlace
	if len(q.scopes) > 0 {
		var err error
		if places, err = s.p.store.Search(ctx, q); err != nil {
			return SearchPage{}, err
		}
	}
	page := SearchPage{HasNext: len(places) > limit, HasPrevious: q.after != nil}
	places = places[:min(len(places), limit)]
	if len(places) == 0 && req.Within != "" {
		if err := s.kinds[SearchGroups].missingScope(ctx, req.Within); err != nil {
			return SearchPage{}, err
		}
	}
	name := sync.OnceValue(req.name)
	issued, sealer := s.p.options.Clock(), s.p.sealer.Load()
	page.cursor = func(p SearchPlace) string { return sealer.seal(p.token(issued), name()) }
	var err error
	page.Hits, err = s.hits(ctx, q, places)
	return page, err
}

// hits reads what stands at places, with one read for each kind. What has gone
// meanwhile is left out.
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
		if hit, there := found[p.UID]; there {
			hit.place = p
			hits = append(hits, hit)
		}
	}
	return hits, nil
}
