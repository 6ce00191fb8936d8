package resolvers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/edge"
	"atrium/graphql/refusal"
	"atrium/platform"
)

// unlessMissing is err, or nil where it only says that something is missing.
func unlessMissing(err error) error {
	if errors.Is(err, &platform.Error{Code: platform.CodeNotFound}) {
		return nil
	}
	return err
}

// unlessHidden is the same for what the caller may not see.
func unlessHidden(err error) error {
	if errors.Is(err, &platform.Error{Code: platform.CodePermissionDenied}) {
		return nil
	}
	return unlessMissing(err)
}

// A Presenter shows errors to clients. RequestID gives the id that an answer
// names, which the log holds too.
type Presenter struct {
	edge.Errors
	RequestID func(ctx context.Context) string
}

// Present shows an error as every protocol does: code, number and details of
// the core's error in `extensions`. What the query itself has wrong was found
// by gqlgen and has a code of its own.
func (o *Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	shown := graphql.DefaultErrorPresenter(ctx, err)
	cause := shown.Unwrap()
	switch {
	case cause == nil: // of gqlgen's own, for the log
		cause = errors.New(shown.Message)
	case isRepresentation(ctx) && !isPlatform(cause):
		cause = platform.Invalid(platform.Violation{Field: "representations", Description: cause.Error()})
	}
	e := edge.Show(coreError(cause), areaOf(ctx))
	o.report(ctx, e)
	status := o.Status(spelled(ctx, e), o.RequestID(ctx))
	extensions := map[string]any{"code": status.Code.String(), "status": int(status.Code), "details": status.Details}
	if messages := fieldMessages(spelled(ctx, e).Violations); len(messages) > 0 {
		extensions["fields"] = messages
	}
	maps.Copy(extensions, shown.Extensions) // gqlgen's codes, which limit it was
	return &gqlerror.Error{
		Message: status.Message, Path: graphql.GetPath(ctx), Locations: shown.Locations, // err's path can end in an argument
		Extensions: extensions,
	}
}

// isRepresentation tells errors about representations, which the generated
// code makes as plain text: our own resolvers answer the core's errors.
func isRepresentation(ctx context.Context) bool {
	field := graphql.GetFieldContext(ctx)
	return field != nil && field.Field.Field != nil && field.Field.Name == "_entities"
}

// coreError is err as the core has it. A refusal of the endpoint itself has the
// same codes, reasons and violations.
func coreError(err error) *platform.Error {
	var refused *refusal.Error
	if !errors.As(err, &refused) {
		return platform.AsError(err)
	}
	e := &platform.Error{Code: platform.Code(refused.Code), Message: refused.Message}
	if len(refused.Violations) > 0 {
		violations := make([]platform.Violation, len(refused.Violations))
		for i, v := range refused.Violations {
			violations[i] = platform.Violation(v)
		}
		e = platform.Invalid(violations...)
	}
	e.Reason = cmp.Or(refused.Reason, e.Code.String())
	e.Message = cmp.Or(refused.Message, e.Message)
	e.RetryAfter = refused.RetryAfter
	if refused.Field != nil {
		e.Area = areaOfField(refused.Field)
	}
	return e
}

func isPlatform(err error) bool {
	var e *platform.Error
	return errors.As(err, &e)
}

// report tells the operator what the client is not told, once in a response.
func (o *Presenter) report(ctx context.Context, e *platform.Error) {
	if r := readsOf(ctx); r != nil && edge.IsHidden(ctx, e) {
		if _, reported := r.reported.LoadOrStore(e.Error(), true); reported {
			return
		}
	}
	o.Report(ctx, e, o.RequestID(ctx), "path", graphql.GetPath(ctx).String())
}

// caught makes an error of a panic.
func caught(_ context.Context, panicked any) error {
	return fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
}

// safely is read, whose panic is one error for all that it was asked for.
func safely[K, V any](read func(context.Context, []K) ([]V, []error)) func(context.Context, []K) ([]V, []error) {
	return func(ctx context.Context, keys []K) (values []V, errs []error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				values, errs = make([]V, len(keys)), slices.Repeat([]error{caught(ctx, panicked)}, len(keys))
			}
		}()
		return read(ctx, keys)
	}
}

// spelled names arguments as the schema does, where the core says what REST
// does.
func spelled(ctx context.Context, e *platform.Error) *platform.Error {
	field := graphql.GetFieldContext(ctx)
	if len(e.Violations) == 0 || field == nil {
		return e
	}
	names := spellings
	if backward(field.Args) {
		names = spellingsBackward
	}
	violations := make([]platform.Violation, len(e.Violations))
	for i, v := range e.Violations {
		violations[i] = platform.Violation{Field: names.Replace(v.Field), Description: names.Replace(v.Description)}
	}
	return finding(violations, e)
}

// renamed is err with other names for the fields that it finds wrong: those of
// an input that is of another shape than what the core takes.
func renamed(err error, name func(field string) string) error {
	var e *platform.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return err
	}
	violations := make([]platform.Violation, len(e.Violations))
	for i, v := range e.Violations {
		violations[i] = platform.Violation{Field: name(v.Field), Description: v.Description}
	}
	return finding(violations, e)
}

// finding is e with other violations.
func finding(violations []platform.Violation, e *platform.Error) *platform.Error {
	again := platform.Invalid(violations...)
	again.Area, again.Reason, again.Metadata = e.Area, e.Reason, e.Metadata
	return again
}

func backward(arguments map[string]any) bool {
	last, _ := arguments["last"].(*int)
	before, _ := arguments["before"].(*string)
	return last != nil || before != nil
}

var (
	spellings         = strings.NewReplacer(slices.Concat(alike, []string{"page_size", "first", "page_token", "after"})...)
	spellingsBackward = strings.NewReplacer(slices.Concat(alike, []string{"page_size", "last", "page_token", "before"})...)
)

var alike = []string{
	"order_by", "orderBy",
	"uidp.ancestors_of", "ancestorsOf", "uidp.descendants_of", "descendantsOf", "uidp.children_of", "childrenOf", "uidp.ids", "uids",
	"relationship_type", "relationshipType",
	"sync_config", "syncConfig", "cuda_version", "cudaVersion",
	"identity_provider_uid", "identityProvider", "external_group_id", "externalGroupId", "key_id", "keyId",
	"event_id", "event",
}
