// Package limit refuses documents before they cost anything: by their size, by
// what they would read, and, where only trusted documents are executed, by
// their text. It knows the schema's shape and nothing of what stands behind it.
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
	Trusted    *TrustedDocuments // the only documents that are executed; nil: any
	HideSchema bool              // no introspection, and no suggestions in errors

	// IsKnown reports whether the caller has proven who they are.
	IsKnown func(ctx context.Context) bool
	// ReadSDL is the error of a caller who may not read the SDL by _service.
	ReadSDL func(ctx context.Context) error
}

// A Schema is what cannot be seen in a schema and decides what a document costs.
// Its fields are named as in Repo.readme.
type Schema struct {
	DefaultPage int            // rows of a connection's page, where a field gives none
	MaxPage     int            // rows of one, however many a field asks for
	LongFields  map[string]int // what scalars cost that may be long; others cost nothing
	Parts       []string       // types of objects that come with those that hold them, and cost nothing
	Watched     []string       // fields of which Selects tells

	// UniqueNames are lists that hold a name at most once: always (""), or where
	// an argument is given. One that is asked for one name has one row.
	UniqueNames map[string]string
}

// Guard puts before execution, in this order: which document is meant, how
// large it is, what the operation costs, and whether it may see the schema.
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
