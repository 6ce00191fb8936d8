package apierror

import (
	"net/http"
	"strings"

	"atrium/platform/core"
)

// The headers by which REST and gRPC ask for conditions of a change, and tell the ETag of a resource. gRPC writes them in lower case.
const (
	ETagHeader           = "ETag"
	IfMatchHeader        = "If-Match"
	IdempotencyKeyHeader = "Idempotency-Key"
	ValidateOnlyHeader   = "Validate-Only" // of gRPC; REST has a parameter
)

// ReadConditions returns what the headers of a request ask for. A read heeds none of them.
func ReadConditions(h http.Header, isChange bool) (*core.Conditions, error) {
	if !isChange {
		return &core.Conditions{}, nil
	}
	c := &core.Conditions{
		IfMatch:        strings.Join(h.Values(IfMatchHeader), ","),
		IdempotencyKey: strings.Trim(h.Get(IdempotencyKeyHeader), `"`), // a string of RFC 9651 has quotes
	}
	return c, c.Check(IfMatchHeader, IdempotencyKeyHeader)
}

// statusOfReason has the reasons whose HTTP status is not that of their code.
var statusOfReason = map[string]int{
	core.ReasonETagMismatch:         http.StatusPreconditionFailed,
	core.ReasonIdempotencyKeyReused: http.StatusUnprocessableEntity,
}

// StatusOf returns the HTTP status of an error.
func StatusOf(e *core.Error) int {
	if status := statusOfReason[e.Reason]; status != 0 {
		return status
	}
	return HTTPStatus(e.Code)
}
