package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/platform"
)

// introspection lets callers with a token read the schema through the schema
// itself, unless it is off. Then the gateway's _service, which is how a schema
// gets into a federation at all, answers those that the operator names.
type introspection struct {
	off bool
	sdl func(context.Context) error // whether the caller may read the SDL
}

// MayReadSDL is the error of a caller who may not read the SDL: it needs what
// introspection needs and, where that is off, an identity among SchemaReaders.
func (o Options) MayReadSDL(ctx context.Context) error {
	actor := platform.ActorOf(ctx)
	switch {
	case actor == nil:
		return platform.Unauthenticated("the schema needs a bearer token")
	case !o.HideSchema:
		return nil
	case slices.ContainsFunc(actor.Identities, func(uid platform.UID) bool { return slices.Contains(o.SchemaReaders, uid) }):
		return nil
	default:
		return &platform.Error{
			Code: platform.CodePermissionDenied, Reason: "INTROSPECTION_OFF",
			Message: "Permission denied: the schema is shown only to identities that the operator names (--schema-reader)",
		}
	}
}

// ExtensionName names the extension to the executor.
func (introspection) ExtensionName() string { return "Introspection" }

// Validate fits every schema.
func (introspection) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext refuses operations that ask for the schema.
func (i introspection) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	known := platform.ActorOf(ctx) != nil
	operation.DisableIntrospection = !known
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		switch field.Name {
		case "__schema", "__type":
			if i.off {
				return gqlerror.WrapIfUnwrapped(&platform.Error{
					Code: platform.CodePermissionDenied, Reason: "INTROSPECTION_OFF", Message: "Permission denied: introspection is off",
				})
			}
		case "_service":
			if err := i.sdl(ctx); err != nil {
				return gqlerror.WrapIfUnwrapped(err)
			}
		default:
			continue
		}
		if !known {
			return gqlerror.WrapIfUnwrapped(platform.Unauthenticated("introspection needs a bearer token"))
		}
	}
	return nil
}

// rulesWithoutSuggestions validate without telling what a misspelled name might
// have been: where introspection is off, that would tell the schema bit by bit.
func rulesWithoutSuggestions() *rules.Rules {
	silent := rules.NewDefaultRules()
	silent.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	silent.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	silent.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return silent // the executor replaces those of fields
}
