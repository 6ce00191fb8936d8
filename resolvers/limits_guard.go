package resolvers

import (
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
)

// guard puts before execution, in this order: which document is meant, how
// large it is, what the operation costs, and whether it may see the schema.
func (o Options) guard(x *executor.Executor) {
	limits := DefaultLimits()
	if o.Limits != nil {
		limits = *o.Limits
	}
	parsed := newDocumentCache[*ast.QueryDocument]()
	x.SetQueryCache(parsed)
	if o.Trusted != nil {
		x.Use(o.Trusted)
	} else {
		x.Use(persistedQueries{newDocumentCache[string]()})
	}
	x.Use(documentLimits{limits, parsed})
	x.Use(&costGuard{Limits: limits})
	x.Use(introspection{off: o.HideSchema, sdl: o.MayReadSDL})
	if o.HideSchema {
		x.SetDisableSuggestion(true)
		x.SetDefaultRulesFn(rulesWithoutSuggestions)
	}
}
