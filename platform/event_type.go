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
	event    string
	list     Capability
	body     string
	verbs    []string
	resource string // the kind that its subjects are of
	parent   string // the kind that they lie in
}

func (k *Kind[T]) bodyType() string { return cmp.Or(k.EventBody, k.Area+"."+k.Name) }

var (
	eventKinds    = eventKindsOf(Kinds())
	allEventTypes = EventTypes()
)

func eventKindsOf(all []KindInfo) (found []eventKind) {
	for _, k := range all {
		if len(k.Verbs) > 0 {
			found = append(found, eventKind{k.Event, k.List, k.EventBody, k.Verbs, k.subject(), k.Parent})
		}
	}
	// What is told of one kind, and read by those who read another.
	return append(found,
		eventKind{groupKind.Event, identityProviderKind.List, "iam.AllowedIssuer", []string{issuerAllowed, issuerRevoked}, groupKind.Name, ""},
		eventKind{subscriptionKind.Event, deliveryKind.List, deliveryKind.bodyType(), []string{redelivered}, deliveryKind.Name, ""},
	)
}

// subject is the kind that the subjects of events of a kind are of: that of its
// UIDs, which an acceptance of terms has none of.
func (k KindInfo) subject() string {
	if k.Name == termsKind.Name {
		return termsKind.Parent
	}
	return k.Name
}

// tells reports whether an event is of the kind.
func (k eventKind) tells(e *Event) bool {
	verb, ours := strings.CutPrefix(e.Type, eventPrefix+k.event+".")
	return ours && slices.Contains(k.verbs, strings.TrimSuffix(verb, eventVersion))
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

func eventType(kind, verb string) string { return eventPrefix + kind + "." + verb + eventVersion }

const eventVersion = ".v1"

const maxEventTypes = 100

// eventTypes checks that each is one, and tells which there are.
func (v *violations) eventTypes(types []string) {
	const field = "types"
	if len(types) > maxEventTypes {
		v.add(field, "must be at most %d", maxEventTypes)
		return
	}
	for i, t := range types {
		if !slices.Contains(allEventTypes, fullEventType(t)) {
			v.add(fmt.Sprintf("%s[%d]", field, i), "must be one of %s", strings.Join(allEventTypes, ", "))
		}
	}
}

// fullEventType is the type that a short form of it stands for, such as
// iam.group.created.
func fullEventType(t string) string {
	if !strings.HasPrefix(t, eventPrefix) {
		t = eventPrefix + t
	}
	if !strings.HasSuffix(t, eventVersion) {
		t += eventVersion
	}
	return t
}

// ShortEventType is a type without prefix and version, and whether it is one that
// there is.
func ShortEventType(t string) (short string, known bool) {
	return strings.TrimSuffix(strings.TrimPrefix(t, eventPrefix), eventVersion), slices.Contains(allEventTypes, t)
}

// fullEventTypes spells types out; nil stays nil.
func fullEventTypes(types []string) []string {
	if types == nil {
		return nil
	}
	full := make([]string, len(types))
	for i, t := range types {
		full[i] = fullEventType(t)
	}
	return full
}

// Resource names what an event tells of, by its kind: of a creation that was
// refused, what it was to lie in. The kind is "" where the event is of none that
// is known.
func (e *Event) Resource() (kind string, uid UID) {
	for _, k := range eventKinds {
		switch {
		case !k.tells(e):
		case e.Denied != "" && k.isOfParent(e):
			return k.parent, e.Subject
		default:
			return k.resource, e.Subject
		}
	}
	return "", e.Subject
}

// isOfParent reports whether a change that is refused has no resource of its own
// yet, or many.
func (k eventKind) isOfParent(e *Event) bool {
	verb := strings.TrimPrefix(e.Type, eventPrefix+k.event+".")
	return strings.HasPrefix(verb, "created") || strings.Contains(verb, ".batch")
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
