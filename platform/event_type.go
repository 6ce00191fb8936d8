package platform

import (
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

func happens[T any](k *Kind[T], verbs ...string) eventKind {
	return eventKind{k.Event, k.List, k.bodyType(), verbs}
}

func (k *Kind[T]) bodyType() string { return k.Area + "." + k.Name }

var eventKinds = []eventKind{
	happens(&groupKind, "created", "updated", "deleted"),
	{groupKind.Event, identityProviderKind.List, "iam.AllowedIssuer", []string{issuerAllowed, issuerRevoked}},
	happens(&identityKind, "created", "updated", "deleted"),
	happens(&roleKind, "created", "updated", "deleted"),
	happens(&roleBindingKind, "created", "created.batch", "updated", "deleted"),
	happens(&identityProviderKind, "created", "updated", "deleted"),
	happens(&accountAssociationKind, "created", "updated", "deleted"),
	happens(&groupInviteKind, "created", "deleted"),
	happens(&externalGroupRoleMappingKind, "created", "deleted", "deleted.batch"),
	{termsKind.Event, termsKind.List, "iam.AcceptedTerms", []string{"accepted"}}, // together: the body is an answer
	happens(&repoKind, "created", "updated", "deleted"),
	happens(&tagKind, "created", "deleted"), // a tag that moves is made anew
	happens(&subscriptionKind, "created", "updated", "deleted", "test", "disabled"),
	{subscriptionKind.Event, deliveryKind.List, deliveryKind.bodyType(), []string{redelivered}},
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
