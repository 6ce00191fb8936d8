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
	Pages      Pages
	Trusted    *TrustedDocuments // the only documents that are executed; nil: any
	HideSchema bool              // no introspection, and no suggestions in errors

	// IsKnown reports whether the caller has proven who they are.
	IsKnown func(ctx context.Context) bool
}

// Pages are the sizes of a connection's page.
type Pages struct {
	DefaultPage int // where a field gives none
	MaxPage     int // however much a field asks for
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
	x.Use(&costGuard{Limits: o.Limits, Pages: o.Pages})
	x.Use(introspection{off: o.HideSchema, isKnown: o.IsKnown})
	if o.HideSchema {
		x.SetDisableSuggestion(true)
		x.SetDefaultRulesFn(rulesWithoutSuggestions)
	}
}
