package platform

import (
	"errors"
	"fmt"
)

// A Kind is what the recipes (read.go, list.go, write.go) need to know of one
// kind: data only. A kind that differs writes its steps out in its own file.
type Kind[T any] struct {
	Name   string // Repo: the singular, as in ResourceInfo
	Plural string // repos: the key of its list envelope
	Area   string // registry: the area of its errors
	Number byte   // in counters and page tokens; never reused
	Event  string // platform.registry.repo: the middle of its event types

	List, Create, Update, Delete Capability
	Blocked                      string // violation type of a delete that other rows block

	Fields       []Field
	Orders       []OrderField[T]
	DefaultOrder Order

	Parent string // the kind that it lives in

	UID   func(*T) UID
	Group func(*T) UID // the group that it lies in
	Stamp func(row *T, uid UID, now Time)
	// Check adds what is wrong with the changed fields of a row.
	Check func(row *T, changed func(field string) bool, v *violations)
	// IsBuiltIn tells rows that belong to no organisation; nil: none do.
	IsBuiltIn func(UID) bool
}

// Filter is what each kind's filter does beside holding values.
type filter interface{ check(v *violations) }

// resources are the recipes that kinds share.
type resources[T any, F filter] struct {
	p     *Platform
	kind  *Kind[T]
	table func(Reader) Table[T, F]
	rows  func(Tx) Rower[T]
}

// Kind tells what is known of the kind.
func (r resources[T, F]) Kind() *Kind[T] { return r.kind }

// in marks an error as one of the kind's area.
func (k *Kind[T]) in(err error) error { return inArea(k.Area, err) }

func inArea(area string, err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Area != "" {
		return err
	}
	marked := *e
	marked.Area = area
	return &marked
}

func (k *Kind[T]) notFound(uid UID) error { return k.in(missing(k.Name, uid)) }

// missing answers a resource that is not there to a caller who may know it.
func missing(kind string, uid UID) *Error {
	description := fmt.Sprintf("%s %s does not exist", lowerFirst(kind), uid)
	return &Error{
		Code: CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: " + description,
		Resource: &ResourceInfo{Kind: kind, Area: kindArea[kind], Name: string(uid), Description: description},
	}
}

func exists(kind string, uid UID) *Error {
	description := fmt.Sprintf("such a %s exists already", lowerFirst(kind))
	return &Error{
		Code: CodeAlreadyExists, Reason: "ALREADY_EXISTS", Message: "Already exists: " + description,
		Resource: &ResourceInfo{Kind: kind, Area: kindArea[kind], Name: string(uid), Description: description},
	}
}

// kindArea is the area of the kinds that others live in or point to.
var kindArea = map[string]string{"Group": "iam", "Identity": "iam", "Role": "iam", "Repo": "registry", "Tag": "registry"}

func (k *Kind[T]) fieldNames() []string {
	names := make([]string, len(k.Fields), len(k.Fields)+1)
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return names
}

func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}
