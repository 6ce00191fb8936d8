package resolvers

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/apierror"
	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/refusal"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/operations"
	"atrium/platform/reports"
)

// ignoreNotFound returns err, or nil when err says that an object was not found.
func ignoreNotFound(err error) error {
	if errors.Is(err, &core.Error{Code: core.CodeNotFound}) {
		return nil
	}
	return err
}

// ignoreHidden returns err, or nil when err says that an object was not found or
// that the caller may not see it.
func ignoreHidden(err error) error {
	if errors.Is(err, &core.Error{Code: core.CodePermissionDenied}) {
		return nil
	}
	return ignoreNotFound(err)
}

// A Presenter converts errors into what clients see. RequestID returns the
// request id, which both the response and the log name.
type Presenter struct {
	apierror.Errors
	RequestID func(ctx context.Context) string
}

// Present converts an error as every protocol does: the code, its number, the reason and the
// details of the core's error are in `extensions`, which has the form of ErrorExtensions in the schema. An error of the document itself
// keeps the code that gqlgen gives it.
func (o *Presenter) Present(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	cause := presented.Unwrap()
	if cause == nil { // the log needs its text
		cause = errors.New(presented.Message)
	}
	e := apierror.Show(coreError(cause), areaOf(ctx))
	o.report(ctx, e)
	e = spellFields(ctx, e)
	status := o.Status(e, o.RequestID(ctx))
	extensions := map[string]any{"code": status.Code.String(), "status": int(status.Code), "reason": reasonOf(e), "details": status.Details}
	if len(e.Violations) > 0 {
		extensions["fields"] = fieldMessages(e.Violations, placesOf(ctx, cause, e.Violations))
	}
	maps.Copy(extensions, presented.Extensions) // the code of gqlgen, or the name of the limit that was exceeded
	return &gqlerror.Error{
		Message: status.Message, Path: graphql.GetPath(ctx), Locations: presented.Locations, // the path of err can end in an argument
		Extensions: extensions,
	}
}

// reasonOf returns the most exact reason that there is: which precondition failed, or else the reason of the error.
func reasonOf(e *core.Error) string {
	if len(e.Preconditions) > 0 && e.Reason == e.Code.String() {
		return e.Preconditions[0].Type
	}
	return e.Reason
}

// coreError converts err into an error of the core. An error of the endpoint
// itself has the same codes, reasons and violations.
func coreError(err error) *core.Error {
	var refused *refusal.Error
	if !errors.As(err, &refused) {
		return core.AsError(err)
	}
	e := &core.Error{Code: core.Code(refused.Code), Message: refused.Message}
	if len(refused.Violations) > 0 {
		violations := make([]fieldmask.Violation, len(refused.Violations))
		for i, v := range refused.Violations {
			violations[i] = fieldmask.Violation{Field: v.Field, Description: v.Description}
		}
		e = core.Invalid(violations...)
	}
	e.Reason = cmp.Or(refused.Reason, e.Code.String())
	e.Message = cmp.Or(refused.Message, e.Message)
	e.RetryAfter = refused.RetryAfter
	if refused.Field != nil {
		e.Area = areaOfField(refused.Field)
	}
	return e
}

// report logs the cause of an internal error, which clients do not see. It logs
// each message once in a response.
func (o *Presenter) report(ctx context.Context, e *core.Error) {
	if r := readsOf(ctx); r != nil && apierror.IsHidden(ctx, e) {
		if _, reported := r.reported.LoadOrStore(e.Error(), true); reported {
			return
		}
	}
	o.Report(ctx, e, o.RequestID(ctx), graphql.GetPath(ctx).String())
}

// recoverPanics wraps read so that a panic becomes the error of every key.
func recoverPanics[K, V any](read func(context.Context, []K) ([]V, []error)) func(context.Context, []K) ([]V, []error) {
	return func(ctx context.Context, keys []K) (values []V, errs []error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				values, errs = make([]V, len(keys)), slices.Repeat([]error{execute.PanicError(ctx, panicked)}, len(keys))
			}
		}()
		return read(ctx, keys)
	}
}

// spellFields replaces the REST names of fields and of values of enums, which the core uses,
// by those of GraphQL.
func spellFields(ctx context.Context, e *core.Error) *core.Error {
	field := graphql.GetFieldContext(ctx)
	if len(e.Violations) == 0 || field == nil {
		return e
	}
	names := spellings
	if isBackward(field.Args) {
		names = spellingsBackward
	}
	violations := make([]fieldmask.Violation, len(e.Violations))
	for i, v := range e.Violations {
		if violations[i] = v; !strings.Contains(v.Field, "claimMatch.") { // in which clients choose the names of claims
			violations[i] = fieldmask.Violation{Field: names.Replace(v.Field), Description: names.Replace(v.Description)}
		}
	}
	return withViolations(violations, e)
}

// renameFields renames the fields in the violations of err. It is for inputs
// whose structure differs from what the core takes.
func renameFields(err error, name func(field string) string) error {
	var e *core.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		return err
	}
	violations := make([]fieldmask.Violation, len(e.Violations))
	for i, v := range e.Violations {
		violations[i] = fieldmask.Violation{Field: name(v.Field), Description: v.Description}
	}
	return withViolations(violations, e)
}

// renameField renames one field in the violations of err, which the core has under another name.
func renameField(err error, core, name string) error {
	return renameFields(err, func(field string) string {
		if field == core {
			return name
		}
		return field
	})
}

// withViolations returns a copy of e with other violations.
func withViolations(violations []fieldmask.Violation, e *core.Error) *core.Error {
	replaced := *e
	if replaced.Violations = violations; e.Code == core.CodeInvalidArgument {
		replaced.Message = core.Invalid(violations...).Message
	}
	return &replaced
}

func isBackward(arguments map[string]any) bool {
	last, _ := arguments["last"].(*int)
	before, _ := arguments["before"].(*string)
	return last != nil || before != nil
}

var (
	spellings         = strings.NewReplacer(slices.Concat(commonSpellings, enumSpellings(), []string{"page_size", "first", "page_token", "after"})...)
	spellingsBackward = strings.NewReplacer(slices.Concat(commonSpellings, enumSpellings(), []string{"page_size", "last", "page_token", "before"})...)
)

var commonSpellings = []string{
	"order_by", "orderBy",
	"uidp.descendants_of", "within", "uidp.children_of", "within", "uidp.ids", "uids", "uidp", "uids",
	"relationship_type", "relationshipType",
	"sync_config", "syncConfig", "cuda_version", "cudaVersion",
	"identity_provider_uid", "identityProvider", "external_group_id", "externalGroupId", "key_id", "keyId",
	"a page token of", "a cursor of", "event_id", "event", "imageRefs", "images", "start_time", "startTime", "end_time", "endTime",
}

// enumSpellings returns the name of each value of an enum in the core, followed by its name in the graph.
func enumSpellings() (spellings []string) {
	for _, enum := range []interface{ Values() []string }{
		iam.OrgKind(""), iam.OrgStatus(""), core.CatalogTier(""), iam.CorrelationRule(""), iam.RelationshipType(""),
		iam.IdentityType(""), inventory.ReviewState(""), inventory.EventType(""), inventory.AdvisoryState(""), core.SeverityRating(""),
		inventory.SeveritySource(""), libraries.Ecosystem(""), inventory.FindingBasis(""), inventory.FindingState(""), inventory.PackageScope(""), reports.CheckVerdict(""), reports.UpgradeReason(""), operations.OperationState(""), intake.SourceType(""), intake.SourceState(""),
	} {
		for _, value := range enum.Values() {
			spellings = append(spellings, value, strings.TrimPrefix(value, fieldmask.EnumPrefix(enum.Values())))
		}
	}
	for _, reason := range inventory.FindingJustifications() {
		spellings = append(spellings, reason, strings.ToUpper(reason))
	}
	return spellings
}
