package platform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The types of events: what happens to the resources of a kind.

// eventKind is what may happen to a kind, what reading of it needs, and what
// the bodies of its events are.
type eventKind struct {
	event string
	list  Capability
	body  string
	verbs []string
}

func (k *Kind[T]) bodyType() string { return cmp.Or(k.EventBody, k.Area+"."+k.Name) }

var eventKinds = eventKindsOf(Kinds())

func eventKindsOf(all []KindInfo) (found []eventKind) {
	for _, k := range all {
		if len(k.Verbs) > 0 {
			found = append(found, eventKind{k.Event, k.List, k.EventBody, k.Verbs})
		}
	}
	// What is told of one kind, and read by those who read another.
	return append(found,
		eventKind{groupKind.Event, identityProviderKind.List, "iam.AllowedIssuer", []string{issuerAllowed, issuerRevoked}},
		eventKind{subscriptionKind.Event, deliveryKind.List, deliveryKind.bodyType(), []string{redelivered}},
	)
}

// tells reports whether an event is of the kind.
func (k eventKind) tells(e *Event) bool {
	verb, ours := strings.CutPrefix(e.Type, eventPrefix+k.event+".")
	return ours && slices.Contains(k.verbs, strings.TrimSuffix(verb, ".v1"))
}

// EventTypes lists the types of all events that are recorded of changes.
func EventTypes() []string {
	var types []string
	for _, k := range eventKinds {
		for _, verb := range k.verbs {
			types = append(types, eventType(k.event, verb))
		}
	}
	return types
}

func eventType(kind, verb string) string { return eventPrefix + kind + "." + verb + ".v1" }

const maxEventTypes = 100

// eventTypes checks that each is one, and tells which there are.
func (v *violations) eventTypes(field string, types []string) {
	if len(types) > maxEventTypes {
		v.add(field, "must be at most %d", maxEventTypes)
		return
	}
	known := EventTypes()
	for i, t := range types {
		if !slices.Contains(known, t) {
			v.add(fmt.Sprintf("%s[%d]", field, i), "must be one of %s", strings.Join(known, ", "))
		}
	}
}

// mayHear reports whether a may read what an event tells of.
func (a *Actor) mayHear(e *Event) bool {
	for _, k := range eventKinds {
		if k.tells(e) {
			return a.Can(k.list, e.Subject)
		}
	}
	return false
}
