package core

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"atrium/platform/fieldmask"
)

// A Kind has the facts about one kind that the shared operations need (read.go, list.go,
// write.go), and the functions that stamp and check its rows. A kind that differs has operations in
// its own file.
type Kind[T any] struct {
	Name   string // the singular, as in ResourceInfo, such as Repo
	Plural string // the key of its list envelope, such as repos
	Area   string // the area of its errors, such as registry
	Number byte   // number that identifies the kind in counters and page tokens, and is never reused
	Own    bool   // whether the kind is not in the reference
	// GraphOnly means that the operations of a kind in REST and gRPC are not those that all kinds have: the service itself makes its
	// resources, so that they are only read and decided about.
	GraphOnly bool
	Event     string // the middle of its event types, such as platform.registry.repo
	// Verbs are the verbs of its event types: created, updated, deleted ... The body of
	// an event is the resource, or else the kind that EventBody names by area and name.
	Verbs     []string
	EventBody string
	// EventsOfParent means that its events are about the parent.
	EventsOfParent bool
	// OtherEvents are for those who may read the kind, but are about resources of another one.
	OtherEvents []EventKind

	List, Create, Update, Delete Capability
	Also                         []Capability // capabilities that reading needs beside List
	// HandsOut means that a resource of the kind decides who gets a role, so creating and
	// changing it also needs role_bindings.create.
	HandsOut bool
	Blocked  string // violation type of a delete that other rows block

	// Hidden are costly fields that operations of callers do not read.
	Hidden CostlyFields

	Fields []fieldmask.Field
	// ShowsSecret means that only the answer to a creation has a secret. It is not kept, so a creation takes no idempotency key.
	ShowsSecret bool

	Required     []string // fields that a creation must set
	Unique       []string // fields that no two resources with one parent have in common
	Orders       []OrderField[T]
	DefaultOrder Order

	Parent Ref // the kind of its parent
	// LevelsInside is how many levels of other resources must fit inside a resource.
	LevelsInside int

	// SharesUID means that a resource has the UID of its group, which is its parent.
	SharesUID bool

	UID   func(T) UID
	Group func(T) UID // the group that contains it
	Stamp func(row T, uid UID, now Time)
	// Begin notes the event of the creation in a row before it is stored; nil means that nothing is noted.
	Begin func(row T, created *Event)
	// Check adds the violations of the changed fields of a row.
	Check func(row T, changed func(field string) bool, v *Violations)
	// Guarded lists what callers need, beside what they need to read, for a list in an order: it says
	// something that the rows themselves do not show.
	Guarded map[string][]Capability
	// Shared means that rows belong to no organization. A caller who holds List anywhere
	// can read all of them.
	Shared bool
	// IsBuiltIn reports whether a row belongs to no organization; nil means that every
	// row belongs to one.
	IsBuiltIn func(UID) bool
}

// A Filter is a pointer to the conditions of a list; nil means no conditions.
type Filter interface{ Check(v *Violations) }

// NewFilter returns an empty filter of the pointer type F.
func NewFilter[F any]() F {
	filter, _ := reflect.New(reflect.TypeFor[F]().Elem()).Interface().(F)
	return filter
}

// FillFilter replaces a filter that is nil by an empty one.
func FillFilter[F Filter](f F) F {
	if reflect.ValueOf(f).IsNil() {
		return NewFilter[F]()
	}
	return f
}

// filterFor returns the filter of a request, as its caller means it. A filter that says "me" has a method ForCaller, which returns one
// that names the caller.
func filterFor[F Filter](ctx context.Context, f F) F {
	f = FillFilter(f)
	if personal, ok := any(f).(interface{ ForCaller(a *Actor) F }); ok {
		return personal.ForCaller(ActorOf(ctx))
	}
	return f
}

// EditFilter returns a changed copy of a filter, which can be nil.
func EditFilter[V any](f *V, change func(*V)) *V {
	var changed V
	if f != nil {
		changed = *f
	}
	change(&changed)
	return &changed
}

// inOrder returns the kind for callers who may list rows in an order.
func (k *Kind[T]) inOrder(o Order) *Kind[T] {
	for _, key := range o.Keys() {
		k = k.also(k.Guarded[key.Field])
	}
	return k
}

// also returns the kind for callers who hold further capabilities where they read.
func (k *Kind[T]) also(capabilities []Capability) *Kind[T] {
	if len(capabilities) == 0 {
		return k
	}
	guarded := *k
	guarded.Also = slices.Concat(k.Also, capabilities)
	return &guarded
}

// ForFilter returns the kind for callers who may list rows by a filter. A filter that looks at other kinds says by its
// method capabilities what that needs: rows where the caller lacks it are left out.
func (k *Kind[T]) ForFilter(f any) *Kind[T] {
	if asking, ok := f.(interface{ Capabilities() []Capability }); ok {
		return k.also(asking.Capabilities())
	}
	return k
}

// A Ref names a kind, which can belong to another area.
type Ref struct{ Name, Area string }

// The kinds that others name.
var (
	GroupRef    = Ref{"Group", AreaIAM}
	IdentityRef = Ref{"Identity", AreaIAM}
	RepoRef     = Ref{"Repo", AreaRegistry}
)

// Ref names the kind.
func (k *Kind[T]) Ref() Ref { return Ref{k.Name, k.Area} }

// AddArea sets the area of an error that has none to that of the kind.
func (k *Kind[T]) AddArea(err error) error { return InArea(k.Area, err) }

// The areas of the API. A path in REST begins with one.
const (
	AreaIAM             = "iam"
	AreaRegistry        = "registry"
	AreaVulnerabilities = "vulnerabilities"
	AreaAdvisory        = "advisory"
	AreaLibraries       = "libraries"
	AreaEvents          = "events"
	AreaSources         = "sources"
)

// InArea sets the area of an error that has none.
func InArea(area string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) || e.Area != "" {
		return err
	}
	marked := *e
	marked.Area = area
	return &marked
}

// NotFound returns NOT_FOUND for a resource of the kind.
func (k *Kind[T]) NotFound(uid UID) error { return k.AddArea(NewNotFound(k.Ref(), uid)) }

// NewNotFound returns the error for a missing resource, for a caller who may know that it
// is missing.
func NewNotFound[Name ~string](kind Ref, name Name) *Error {
	return NewNotFoundBecause(kind, string(name), fmt.Sprintf("%s %s does not exist", spellKind(kind.Name), name))
}

// NewNotFoundBecause returns the error for a resource that a request names in another way
// than by its UID.
func NewNotFoundBecause(kind Ref, name, description string) *Error {
	return &Error{
		Code: CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: " + description,
		Resource: &ResourceInfo{Kind: kind.Name, Area: kind.Area, Name: name, Description: description},
	}
}

// NewAlreadyExists returns the error for a resource whose fields named unique are those of
// another one, which has the UID.
func NewAlreadyExists(kind Ref, uid UID, unique ...string) *Error {
	description := fmt.Sprintf("the %s already exists", spellKind(kind.Name))
	var v Violations
	for _, field := range unique {
		v.Add(field, "is already used by another %s; choose another", spellKind(kind.Name))
	}
	return &Error{
		Code: CodeAlreadyExists, Reason: "ALREADY_EXISTS", Message: "Already exists: " + description, Violations: v,
		Resource: &ResourceInfo{Kind: kind.Name, Area: kind.Area, Name: string(uid), Description: description},
	}
}

// CreateCapabilities lists what a creation needs on the parent.
func (k *Kind[T]) CreateCapabilities() []Capability { return k.changing(k.Create) }

// UpdateCapabilities lists what an update needs on the resource.
func (k *Kind[T]) UpdateCapabilities() []Capability { return k.changing(k.Update) }

func (k *Kind[T]) changing(capability Capability) []Capability {
	if k.HandsOut {
		return []Capability{capability, CapRoleBindingsCreate}
	}
	return []Capability{capability}
}

// parent returns the UID of the parent of a resource.
func (k *Kind[T]) parent(uid UID) UID {
	if k.SharesUID {
		return uid
	}
	return uid.Parent()
}

// below reports whether a resource of the kind lies below scope.
func (k *Kind[T]) below(uid, scope UID) bool { return k.parent(uid).Within(scope) }

// FieldNames lists the names of the fields.
func (k *Kind[T]) FieldNames() []string {
	names := make([]string, len(k.Fields), len(k.Fields)+1)
	for i, f := range k.Fields {
		names[i] = f.Name
	}
	return names
}

// spellKind returns the name of a kind in a sentence: role binding for RoleBinding.
func spellKind(kind string) string {
	var b strings.Builder
	for i, r := range kind {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// ParentOf returns a function that finds the group of a row: the parent of its
// UID. Most kinds use it.
func ParentOf[T any](uid func(T) UID) func(T) UID {
	return func(row T) UID { return uid(row).Parent() }
}
