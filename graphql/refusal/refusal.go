// Package refusal holds the errors with which the GraphQL layer itself refuses
// a request: one that it cannot read, that is beyond a limit, or whose caller
// holds too much open. What these errors look like to a client is for the
// presenter that the executor is given.
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

// NewUnavailable refuses what can be had a little later.
func NewUnavailable(description string) *Error {
	return &Error{Code: Unavailable, Message: "Unavailable: " + description, RetryAfter: time.Second}
}

// NewUnimplemented refuses what this service does not do.
func NewUnimplemented(description string) *Error {
	return &Error{Code: Unimplemented, Message: "Unimplemented: " + description}
}

// NewUnauthenticated refuses a caller who has not proven who they are.
func NewUnauthenticated(description string) *Error {
	return &Error{Code: Unauthenticated, Message: "Unauthenticated: " + description}
}
