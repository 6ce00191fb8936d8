package rpc

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	"atrium/internal/apierror"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// changes are what the names of procedures begin with that can be validated only.
var changes = []string{"Create", "Update", "Delete", "BatchCreate", "BatchDelete"}

// callUnderConditions calls a procedure under the conditions that its metadata has, and tells the ETag of the resource. They are metadata and no
// fields, since the messages are those that existing clients know.
func callUnderConditions(ctx context.Context, r connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	isRead := r.Spec().IdempotencyLevel == connect.IdempotencyNoSideEffects
	conditions, err := apierror.ReadConditions(r.Header(), !isRead)
	if err != nil {
		return nil, err
	}
	switch given := r.Header().Get(apierror.ValidateOnlyHeader); {
	case given == "" || given == "false":
	case given != "true":
		return nil, core.Invalid(fieldmask.Violation{Field: apierror.ValidateOnlyHeader, Description: "must be true or false"})
	case !isRead && !isChange(r.Spec().Procedure):
		return nil, core.Invalid(fieldmask.Violation{Field: apierror.ValidateOnlyHeader, Description: "is not supported by this procedure, whose changes would take effect"})
	default:
		conditions.ValidateOnly = true
	}
	answer, err := next(core.WithConditions(ctx, conditions), r)
	if err != nil {
		return nil, err
	}
	if etag := conditions.ETag(); etag != "" && hasUID(answer.Any()) {
		answer.Header().Set(apierror.ETagHeader, etag)
	}
	return answer, nil
}

// isChange reports whether a procedure creates, updates or deletes.
func isChange(procedure string) bool {
	name := procedure[strings.LastIndexByte(procedure, '/')+1:]
	for _, verb := range changes {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// hasUID reports whether an answer is one resource.
func hasUID(answer any) bool {
	_, is := answer.(interface{ GetUid() string })
	return is
}
