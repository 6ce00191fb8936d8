// Package refusal holds the errors with which the GraphQL layer itself rejects a
// request: it cannot be decoded, it exceeds a limit, or its caller has too many open
// connections. The presenter of the executor converts these errors for clients. This
// package must not know the errors of package platform.
package refusal

import (
	"time"

	"github.com/vektah/gqlparser/v2/ast"
)

// A Code is the number of a google.rpc.Code.
type Code int

// The codes that this layer uses.
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

// An Error is the rejection of a request.
type Error struct {
	Code       Code
	Reason     string        // "" means the name of the code
	Message    string        // "" means a message made of the violations
	Violations []Violation   // all invalid fields, for an invalid argument
	RetryAfter time.Duration // when to retry; 0 means that a retry does not help

	Field *ast.FieldDefinition // the rejected root field; nil means the whole request
}

// A Violation describes what is wrong with one field of a request.
type Violation struct {
	Field, Description string

	Path []any // the place in the variables, as names and indices; nil means that it is not in them
}

func (e *Error) Error() string {
	if e.Message == "" && len(e.Violations) > 0 {
		return e.Violations[0].Field + ": " + e.Violations[0].Description
	}
	return e.Message
}

// NewInvalid returns the error for an invalid field of a request.
func NewInvalid(field, description string) *Error {
	return &Error{Code: InvalidArgument, Violations: []Violation{{Field: field, Description: description}}}
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
