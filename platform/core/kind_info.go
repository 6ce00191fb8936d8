package core

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// An AnyKind is a Kind of any type of rows.
type AnyKind interface {
	Info() KindInfo
	ReadableBy(a *Actor, uid UID) bool
}

// An EventKind describes events: the middle of their types and the verbs, the type of their bodies, and the kind of
// their subjects.
type EventKind struct {
	Event    string
	Verbs    []string
	Body     string
	Resource string
}

// A KindInfo has the facts of a Kind that do not depend on the type of its rows.
type KindInfo struct {
	Name, Plural, Area, Parent   string
	Number                       byte
	Own                          bool        // whether the kind is not in the reference
	GraphOnly                    bool        // whether only GraphQL has the kind
	Shared                       bool        // whether its rows belong to no organization
	Event                        string      // the middle of its event types
	Verbs                        []string    // the verbs of its event types
	EventBody                    string      // the kind of the bodies of its events
	EventsOfParent               bool        // whether its events are about the parent
	OtherEvents                  []EventKind // events of other kinds for those who may read it
	List, Create, Update, Delete Capability
	Required                     []string // fields that a creation must set
	Orders                       []string // fields that lists can be sorted by
	Descending                   []string // those of Orders whose natural direction is descending
	Row                          reflect.Type
}

// Info returns the facts about the kind.
func (k *Kind[T]) Info() KindInfo {
	orders, descending := make([]string, len(k.Orders)), []string(nil)
	for i, o := range k.Orders {
		if orders[i] = o.Name; k.isDescByNature(o.Name) {
			descending = append(descending, o.Name)
		}
	}
	return KindInfo{
		Name: k.Name, Plural: k.Plural, Area: k.Area, Parent: k.Parent.Name, Number: k.Number, Own: k.Own, GraphOnly: k.GraphOnly, Shared: k.Shared,
		Event: k.Event, Verbs: k.Verbs, EventBody: k.bodyType(), EventsOfParent: k.EventsOfParent, OtherEvents: k.OtherEvents,
		List: k.List, Create: k.Create, Update: k.Update, Delete: k.Delete,
		Required: k.Required, Orders: orders, Descending: descending, Row: reflect.TypeFor[T]().Elem(),
	}
}

func (k *Kind[T]) bodyType() string { return cmp.Or(k.EventBody, k.Area+"."+k.Name) }

// Subject returns the kind of the subjects of a kind's events.
func (k KindInfo) Subject() string {
	if k.EventsOfParent {
		return k.Parent
	}
	return k.Name
}

// Matches reports whether an event belongs to the kind.
func (k EventKind) Matches(e *Event) bool {
	verb, ours := strings.CutPrefix(e.Type, EventPrefix+k.Event+".")
	return ours && slices.Contains(k.Verbs, strings.TrimSuffix(verb, EventVersion))
}

// IsAboutParent reports whether a denied change is about the parent, because its
// resource does not exist yet or because it is about many resources.
func (k EventKind) IsAboutParent(e *Event) bool {
	verb := strings.TrimPrefix(e.Type, EventPrefix+k.Event+".")
	return strings.HasPrefix(verb, "created") || strings.Contains(verb, ".batch")
}
