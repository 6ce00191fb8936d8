// Package limit rejects documents before they are executed: by their size, by what
// they would read, and, if only trusted documents are allowed, by their text. It
// knows the schema and nothing about the data.
package limit

import (
	"context"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/internal/graphql/analysis"
)

// Options are the settings of a Guard.
type Options struct {
	Limits     Limits
	Schema     analysis.Schema
	Trusted    *TrustedDocuments // the only documents that are executed; nil means any
	HideSchema bool              // whether introspection, and suggestions in errors, are off

	// IsKnown reports whether the caller has proven who they are.
	IsKnown func(ctx context.Context) bool
	// ReadSDL returns an error if the caller may not read the SDL by _service.
	ReadSDL func(ctx context.Context) error
}

// A Guard accepts the requests that may be executed and rejects all others.
type Guard struct {
	schema        *ast.Schema
	limits        Limits
	named         namedDocuments
	cost          *costGuard
	introspection introspection
	rules         *rules.Rules
	accepted      *documentCache[*ast.QueryDocument] // parsed documents that are valid and within the limits
}

// NewGuard returns the guard of an endpoint. It panics if a trusted document is not valid
// under the schema, which ReadTrustedDocuments excludes.
func NewGuard(schema *ast.Schema, o Options) *Guard {
	g := &Guard{
		schema: schema, limits: o.Limits, cost: newCostGuard(schema, o.Limits, o.Schema), rules: validationRules(o.HideSchema),
		named:         persistedQueries{newDocumentCache[string]()},
		introspection: introspection{off: o.HideSchema, isKnown: o.IsKnown, readSDL: o.ReadSDL},
		accepted:      newDocumentCache[*ast.QueryDocument](),
	}
	if o.Trusted != nil {
		if err := o.Trusted.check(schema); err != nil {
			panic(err)
		}
		g.named = o.Trusted
	}
	return g
}

// namedDocuments are the documents that a request may name instead of sending their text.
type namedDocuments interface {
	// find sets the text of the document that a request names. It fails if the document
	// must not be executed.
	find(ctx context.Context, raw *graphql.RawParams) *gqlerror.Error
	// keep is called with an operation whose document is valid and within the limits.
	keep(ctx context.Context, operation *graphql.OperationContext)
}

// Accept sets the document, the operation and the variables of operation to those of a
// request. It rejects requests in this order: a document that may not be executed or is
// too large, a document or variables that are not valid, an operation that costs too much
// or reads the schema without permission.
func (g *Guard) Accept(ctx context.Context, raw *graphql.RawParams, operation *graphql.OperationContext) gqlerror.List {
	if err := g.named.find(ctx, raw); err != nil {
		return gqlerror.List{err}
	}
	document, errs := g.parse(ctx, raw.Query)
	if errs != nil {
		return errs
	}
	operation.RawQuery, operation.OperationName, operation.Extensions, operation.Headers = raw.Query, raw.OperationName, raw.Extensions, raw.Headers
	operation.Doc, operation.Operation = document, document.Operations.ForName(raw.OperationName)
	if operation.Operation == nil {
		return invalid(unknownOperation(document, raw.OperationName))
	}
	given, invalidVariable := g.coerceVariables(operation.Operation, raw.Variables)
	if invalidVariable != nil {
		return invalid(nameVariable(invalidVariable))
	}
	variables, err := validator.VariableValues(g.schema, operation.Operation, given)
	if err != nil {
		return invalid(nameVariable(gqlerror.WrapIfUnwrapped(err)))
	}
	operation.Variables = variables
	g.named.keep(ctx, operation)
	if err := g.cost.check(operation); err != nil {
		return gqlerror.List{err}
	}
	if err := g.introspection.check(ctx, operation); err != nil {
		return gqlerror.List{err}
	}
	if err := checkStreams(operation); err != nil {
		return invalid(err)
	}
	return nil
}

// unknownOperation returns the error for a request that does not choose one of the operations
// in its document.
func unknownOperation(document *ast.QueryDocument, name string) *gqlerror.Error {
	path := ast.Path{ast.PathName("operationName")}
	if name == "" {
		return gqlerror.ErrorPathf(path, "Give operationName: the document has %d operations, and the request names none of them", len(document.Operations))
	}
	return gqlerror.ErrorPathf(path, "The document has no operation named %q", name)
}

// checkStreams rejects subscriptions without exactly one root field. Validation compares
// their names, but not their aliases, and ignores @skip and @include.
func checkStreams(operation *graphql.OperationContext) *gqlerror.Error {
	asked := operation.Operation
	if asked.Operation != ast.Subscription {
		return nil
	}
	streams := map[string]bool{}
	for field := range analysis.SelectedFields(asked.SelectionSet, operation.Variables) {
		streams[field.Alias] = true
	}
	if len(streams) == 1 {
		return nil
	}
	name := "Anonymous Subscription"
	if asked.Name != "" {
		name = "Subscription " + strconv.Quote(asked.Name)
	}
	return gqlerror.ErrorPosf(asked.Position, "%s must select exactly one top level field.", name)
}

// parse parses a document, checks its size, and validates it. Validation comes last,
// because it takes quadratic time: 10,000 fields take seconds.
func (g *Guard) parse(ctx context.Context, text string) (*ast.QueryDocument, gqlerror.List) {
	if document, known := g.accepted.Get(ctx, text); known {
		return document, nil
	}
	source := &ast.Source{Input: text}
	if err := g.limits.checkTokens(source); err != nil {
		return nil, gqlerror.List{err}
	}
	document, err := parser.ParseQuery(source)
	if err != nil {
		return nil, withCode(errcode.ParseFailed, gqlerror.WrapIfUnwrapped(err))
	}
	if err := g.limits.check(document); err != nil {
		return nil, gqlerror.List{err}
	}
	if len(document.Operations) == 0 {
		return nil, invalid(gqlerror.Errorf("no operation provided"))
	}
	if errs := validator.ValidateWithRules(g.schema, document, g.rules); len(errs) > 0 {
		return nil, invalid(errs...)
	}
	g.accepted.Add(ctx, text, document)
	return document, nil
}

// invalid gives errors the code of documents that are not valid.
func invalid(errs ...*gqlerror.Error) gqlerror.List {
	return withCode(errcode.ValidationFailed, errs...)
}

func withCode(code string, errs ...*gqlerror.Error) gqlerror.List {
	for _, err := range errs {
		errcode.Set(err, code)
	}
	return errs
}

// validationRules returns the rules that documents must follow. If the schema is hidden,
// errors suggest no names, because suggestions would reveal it bit by bit.
func validationRules(hideSchema bool) *rules.Rules {
	all := rules.NewDefaultRules()
	all.AddRule("ValuesOfLiterals", checkLiterals)
	if !hideSchema {
		return all
	}
	for _, rule := range []core.Rule{rules.KnownArgumentNamesRuleWithoutSuggestions, rules.KnownTypeNamesRuleWithoutSuggestions, rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions, rules.ScalarLeafsRuleWithoutSuggestions} {
		all.ReplaceRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"), rule.RuleFunc)
	}
	return all
}
