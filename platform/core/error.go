package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"atrium/platform/fieldmask"
)

// Code is a canonical status code with the numbers of google.rpc.Code.
type Code int

// The codes that operations return. There are no others.
const (
	CodeInvalidArgument    Code = 3
	CodeDeadlineExceeded   Code = 4
	CodeNotFound           Code = 5
	CodeAlreadyExists      Code = 6
	CodePermissionDenied   Code = 7
	CodeResourceExhausted  Code = 8
	CodeFailedPrecondition Code = 9
	CodeAborted            Code = 10
	CodeUnimplemented      Code = 12
	CodeInternal           Code = 13
	CodeUnavailable        Code = 14
	CodeUnauthenticated    Code = 16
)

var codeNames = map[Code]string{
	CodeInvalidArgument:    "INVALID_ARGUMENT",
	CodeDeadlineExceeded:   "DEADLINE_EXCEEDED",
	CodeNotFound:           "NOT_FOUND",
	CodeAlreadyExists:      "ALREADY_EXISTS",
	CodePermissionDenied:   "PERMISSION_DENIED",
	CodeResourceExhausted:  "RESOURCE_EXHAUSTED",
	CodeFailedPrecondition: "FAILED_PRECONDITION",
	CodeAborted:            "ABORTED",
	CodeUnimplemented:      "UNIMPLEMENTED",
	CodeInternal:           "INTERNAL",
	CodeUnavailable:        "UNAVAILABLE",
	CodeUnauthenticated:    "UNAUTHENTICATED",
}

func (c Code) String() string { return codeNames[c] }

// An Error is the error of an operation. Every protocol shows the same code,
// message and details. Clients never see the cause.
type Error struct {
	Code    Code
	Reason  string // a reason for programs: the name of the code, or a more specific one
	Message string
	Area    string // the service area, such as registry; "" means iam

	Violations    []fieldmask.Violation // all violations of the request, in field order, for INVALID_ARGUMENT
	Preconditions []Precondition        // the preconditions that fail, for FAILED_PRECONDITION
	Resource      *ResourceInfo         // the resource, for NOT_FOUND and ALREADY_EXISTS
	Metadata      map[string]string     // metadata of the ErrorInfo
	RetryAfter    time.Duration         // delay of a retry, for RESOURCE_EXHAUSTED, UNAVAILABLE and DEADLINE_EXCEEDED

	cause error
}

// A Precondition is one reason why the state of the system blocks a request.
type Precondition struct {
	Type        string `json:"type"`
	Subject     string `json:"subject"`
	Description string `json:"description"`
}

// ResourceInfo names the resource that is missing or that exists already. Kind is
// the name of a kind, such as Group. Clients see it as
// `<area>.<service domain>/<Kind>`.
type ResourceInfo struct {
	Kind        string
	Area        string // "" means the area of the error
	Name        string
	Description string
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause, for logs only.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is(err, &Error{Code: c}) true for every Error of code c.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && (t.Reason == "" || t.Reason == e.Reason)
}

// AsError returns the Error in err. It converts other errors: an ended context
// becomes DEADLINE_EXCEEDED, and everything else INTERNAL with err as the hidden
// cause.
func AsError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{Code: CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED", Message: "The request exceeded its time limit.", RetryAfter: time.Second, cause: err}
	default:
		return &Error{Code: CodeInternal, Reason: "INTERNAL", Message: "Internal error.", cause: err}
	}
}

// MaxViolations limits the violations in one response. Clients decide how many
// violations a request has, so code that collects them for Invalid can stop there.
const MaxViolations = 100

// Invalid returns INVALID_ARGUMENT with the first MaxViolations of the given
// violations. The message names the first one.
func Invalid(violations ...fieldmask.Violation) *Error {
	violations = violations[:min(len(violations), MaxViolations)]
	first := violations[0]
	return &Error{
		Code: CodeInvalidArgument, Reason: "INVALID_ARGUMENT", Violations: violations,
		Message: fmt.Sprintf("Invalid argument: %s: %s", first.Field, first.Description),
	}
}

// Unauthenticated returns the error for a request without a known caller.
func Unauthenticated(description string) *Error {
	return &Error{Code: CodeUnauthenticated, Reason: "UNAUTHENTICATED", Message: "Unauthenticated: " + description}
}

// Unavailable returns the error for a failure that is expected to be temporary.
func Unavailable(description string, cause error) *Error {
	return &Error{Code: CodeUnavailable, Reason: "UNAVAILABLE", Message: "Unavailable: " + description, RetryAfter: time.Second, cause: cause}
}

// NewAborted returns the error for a request that collided with another one.
func NewAborted(description string, cause error) *Error {
	return &Error{Code: CodeAborted, Reason: "ABORTED", Message: "Aborted: " + description + "; try again", cause: cause}
}

// ErrUncertain is the target of errors.Is for the error of Uncertain.
var ErrUncertain = &Error{Code: CodeAborted, Reason: "COMMIT_UNCERTAIN"}

// Uncertain returns the error for a change whose commit was sent to the database without an
// answer, so that nobody knows whether the change was made. A client that repeats it blindly
// could make it twice. Therefore the code is ABORTED, which asks clients to begin again with
// what they read, and not UNAVAILABLE, which asks them to send the same request again. For
// the same reason there is no RetryAfter.
func Uncertain(cause error) *Error {
	return &Error{
		Code: ErrUncertain.Code, Reason: ErrUncertain.Reason, cause: cause,
		Message: "Aborted: the database did not answer whether it has stored the change, so the change may have been made; look for its result before you repeat it",
	}
}

func permissionDenied(capability Capability, on UID) *Error {
	where := "on any group"
	metadata := map[string]string{"capability": string(capability)}
	if on != "" {
		where = "on " + string(on)
		metadata["resource"] = string(on)
	}
	return &Error{
		Code: CodePermissionDenied, Reason: "PERMISSION_DENIED", Metadata: metadata,
		Message: fmt.Sprintf("Permission denied: capability %s is needed %s", capability, where),
	}
}

// NewRefusal returns the error for a caller whom no capability would help.
func NewRefusal(because string) *Error {
	return &Error{Code: CodePermissionDenied, Reason: "PERMISSION_DENIED", Message: "Permission denied: " + because}
}

// FailedPrecondition returns FAILED_PRECONDITION with a violation.
func FailedPrecondition(kind, subject, description string) *Error {
	return &Error{
		Code: CodeFailedPrecondition, Reason: "FAILED_PRECONDITION",
		Message:       "Precondition failed: " + description,
		Preconditions: []Precondition{{Type: kind, Subject: subject, Description: description}},
	}
}

// A Status is the form of an Error that clients see: google.rpc.Status as JSON.
type Status struct {
	Code    Code             `json:"code"`
	Message string           `json:"message"`
	Details []map[string]any `json:"details"`
}

// typeURL is the prefix of the types of details.
const typeURL = "type.googleapis.com/google.rpc."

// Status returns the form of e that clients see. ErrorInfo.domain and resource
// types end in serviceDomain. Errors with a hidden cause include requestID, which
// leads to the log entry.
func (e *Error) Status(serviceDomain, requestID string) Status {
	area := e.Area
	if area == "" {
		area = AreaIAM
	}
	domain := area + "." + serviceDomain
	info := map[string]any{"@type": typeURL + "ErrorInfo", "reason": e.Reason, "domain": domain}
	if metadata := e.metadataWithRequestID(requestID); len(metadata) > 0 {
		info["metadata"] = metadata
	}
	details := []map[string]any{info}
	if len(e.Violations) > 0 {
		details = append(details, map[string]any{"@type": typeURL + "BadRequest", "fieldViolations": e.Violations})
	}
	if len(e.Preconditions) > 0 {
		details = append(details, map[string]any{"@type": typeURL + "PreconditionFailure", "violations": e.Preconditions})
	}
	if r := e.Resource; r != nil {
		kind := domain + "/" + r.Kind
		if r.Area != "" {
			kind = r.Area + "." + serviceDomain + "/" + r.Kind
		}
		details = append(details, map[string]any{
			"@type": typeURL + "ResourceInfo", "resourceType": kind, "resourceName": r.Name, "description": r.Description,
		})
	}
	if e.RetryAfter > 0 {
		details = append(details, map[string]any{"@type": typeURL + "RetryInfo", "retryDelay": fmt.Sprintf("%gs", e.RetryAfter.Seconds())})
	}
	return Status{Code: e.Code, Message: e.Message, Details: details}
}

func (e *Error) metadataWithRequestID(requestID string) map[string]string {
	if e.Code != CodeInternal || requestID == "" {
		return e.Metadata
	}
	shown := maps.Clone(e.Metadata)
	if shown == nil {
		shown = map[string]string{}
	}
	shown["requestId"] = requestID
	return shown
}

// Violations collects the violations of a request. Checks add them in any order;
// SortByField sorts them.
type Violations []fieldmask.Violation

// Add adds a violation of a field.
func (v *Violations) Add(field, format string, args ...any) {
	*v = append(*v, fieldmask.Violation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// Has reports whether a field has a violation.
func (v Violations) Has(field string) bool {
	return slices.ContainsFunc(v, func(x fieldmask.Violation) bool {
		top := x.Field
		if i := strings.IndexAny(top, ".["); i >= 0 {
			top = top[:i]
		}
		return top == field
	})
}

// Err returns INVALID_ARGUMENT with the violations, or nil if there are none.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return Invalid(v...)
}

// SortByField sorts violations in the order of fields. The parent comes first and
// unknown fields come last. If the body could not be decoded, violations of its
// fields are dropped.
func (v Violations) SortByField(fields []string) Violations {
	position := func(x fieldmask.Violation) int {
		top := x.Field
		if i := strings.IndexAny(top, ".["); i >= 0 {
			top = top[:i]
		}
		switch i := slices.Index(fields, top); {
		case top == "parent":
			return -2
		case top == "body":
			return -1
		case i < 0:
			return len(fields)
		default:
			return i
		}
	}
	slices.SortStableFunc(v, func(a, b fieldmask.Violation) int { return position(a) - position(b) })
	if v.Has("body") {
		v = slices.DeleteFunc(v, func(x fieldmask.Violation) bool { return position(x) >= 0 && position(x) < len(fields) })
	}
	return v
}
