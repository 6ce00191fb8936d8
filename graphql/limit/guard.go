// Package limit rejects documents before they are executed: by their size, by what
// they would read, and, if only trusted documents are allowed, by their text. It
// knows the schema and nothing about the data.
package limit

import (
	"context"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
)

// Options are the guards of an endpoint.
type Options struct {
	Limits     Limits
	Schema     Schema
	Trusted    *TrustedDocuments // the only documents that are executed; nil means any
	HideSchema bool              // no introspection, and no suggestions in errors

	// IsKnown reports whether the caller has proven who they are.
	IsKnown func(ctx context.Context) bool
	// ReadSDL returns an error if the caller may not read the SDL by _service.
	ReadSDL func(ctx context.Context) error
}

// A Schema holds the facts that determine the cost of a document and are not part of
// the GraphQL schema. Fields are named as in Repo.readme.
type Schema struct {
	DefaultPage int            // number of rows on a page if the field has no page size
	MaxPage     int            // largest number of rows on a page, whatever the field requests
	LongFields  map[string]int // cost of scalars that may be long; other scalars cost nothing
	Parts       []string       // types of objects that are read together with their parent, and cost nothing
	Watched     []string       // fields that Selects can find

	// UniqueNames are lists that contain a name at most once: always (""), or if the
	// named argument is given. Such a list has one row if it is filtered by a name.
	UniqueNames map[string]string
}

// Guard adds the guards to an executor, in this order: document lookup, size limits,
// cost, and access to the schema.
func Guard(x *executor.Executor, o Options) {
	parsed := newDocumentCache[*ast.QueryDocument]()
	x.SetQueryCache(parsed)
	if o.Trusted != nil {
		x.Use(o.Trusted)
	} else {
		x.Use(persistedQueries{newDocumentCache[string]()})
	}
	x.Use(documentLimits{o.Limits, parsed})
	x.Use(newCostGuard(o.Limits, o.Schema))
	x.Use(introspection{off: o.HideSchema, isKnown: o.IsKnown, readSDL: o.ReadSDL})
	if o.HideSchema {
		x.SetDisableSuggestion(true)
		x.SetDefaultRulesFn(rulesWithoutSuggestions)
	}
}
