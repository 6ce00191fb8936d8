// Package refusal holds the errors with which the GraphQL layer itself rejects a
// request: it cannot be decoded, it exceeds a limit, or its caller has too many open
// connections. The presenter of the executor converts these errors for clients.
package refusal

import (
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// A Code is the number of a google.rpc.Code.
type Code int

// The codes that the layer answers with, or has an HTTP status for.
const (
	InvalidArgument   Code = 3
	DeadlineExceeded  Code = 4
	NotFound          Code = 5
	PermissionDenied  Code = 7
	ResourceExhausted Code = 8
	Unimplemented     Code = 12
	Internal          Code = 13
	Unavailable       Code = 14
	Unauthenticated   Code = 16
)

// An Error is one refusal.
type Error struct {
	Code       Code
	Reason     string        // "": the name of the code
	Message    string        // "": made of the violations
	Violations []Violation   // of an invalid argument: every field that is wrong
	RetryAfter time.Duration // when to try again; 0: trying again does not help

	Field *ast.FieldDefinition // the root field that is refused; nil: the whole request
}

// A Violation is what is wrong with one field of a request.
type Violation struct{ Field, Description string }

func (e *Error) Error() string {
	if e.Message == "" && len(e.Violations) > 0 {
		return e.Violations[0].Field + ": " + e.Violations[0].Description
	}
	return e.Message
}

// NewInvalid refuses a field of a request.
func NewInvalid(field, description string) *Error {
	return &Error{Code: InvalidArgument, Violations: []Violation{{field, description}}}
}

// NewUnavailable returns an error for a temporary failure.
func NewUnavailable(description string) *Error {
	return &Error{Code: Unavailable, Message: "Unavailable: " + description, RetryAfter: time.Second}
}

// NewUnimplemented returns an error for a feature that the service does not have.
func NewUnimplemented(description string) *Error {
	return &Error{Code: Unimplemented, Message: "Unimplemented: " + description}
}

// NewUnauthenticated returns an error for a caller who is not authenticated.
func NewUnauthenticated(description string) *Error {
	return &Error{Code: Unauthenticated, Message: "Unauthenticated: " + description}
}
