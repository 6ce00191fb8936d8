package platform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/fieldmask"
)

// An eventKind describes the events of a kind: the verbs, the kind that callers must be
// allowed to read, and the type of their bodies.
type eventKind struct {
	event    string
	read     anyKind
	body     string
	verbs    []string
	resource string // the kind of the subjects
	parent   string // the parent kind of the subjects
}

func (k *Kind[T]) bodyType() string { return cmp.Or(k.EventBody, k.Area+"."+k.Name) }

var (
	eventKinds    = eventKindsOf(kinds())
	allEventTypes = EventTypes()
)

func eventKindsOf(all []anyKind) (found []eventKind) {
	for _, read := range all {
		if k := read.Info(); len(k.Verbs) > 0 {
			found = append(found, eventKind{k.Event, read, k.EventBody, k.Verbs, k.subject(), k.Parent})
		}
	}
	// These events belong to one kind, and are for those who may read another.
	return append(found,
		eventKind{groupKind.Event, &identityProviderKind, "iam.AllowedIssuer", []string{issuerAllowed, issuerRevoked}, groupKind.Name, ""},
		eventKind{findingKind.Event, &findingKind, areaVulnerabilities + ".TriageChange", []string{verbTriaged}, groupKind.Name, ""},
		eventKind{subscriptionKind.Event, &deliveryKind, deliveryKind.bodyType(), []string{verbRedelivered}, deliveryKind.Name, ""},
	)
}

// subject returns the kind of the subjects of a kind's events. An acceptance of
// terms has no UID of its own, so its events are about the group. The events of findings are about
// several of a repo.
func (k KindInfo) subject() string {
	switch k.Name {
	case termsKind.Name, findingKind.Name:
		return k.Parent
	default:
		return k.Name
	}
}

// matches reports whether an event belongs to the kind.
func (k eventKind) matches(e *Event) bool {
	verb, ours := strings.CutPrefix(e.Type, eventPrefix+k.event+".")
	return ours && slices.Contains(k.verbs, strings.TrimSuffix(verb, eventVersion))
}

// kind returns the kind that the event belongs to. All of its fields are empty if this
// version does not know the type of the event.
func (e *Event) kind() eventKind {
	for _, k := range eventKinds {
		if k.matches(e) {
			return k
		}
	}
	return eventKind{}
}

// EventTypes lists the types of all events.
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

const (
	eventVersion = ".v1"
	// batchVersion ends the types of changes that were made together with others. A filter
	// by the type of a single change selects them too.
	batchVersion = ".batch" + eventVersion
)

// deniedVersion ends the types under which denied changes are delivered to sinks.
const deniedVersion = ".denied" + eventVersion

// DeliveredType returns the type under which the event is delivered to sinks. That of a denied change differs from that
// of the change, so that no sink takes it for one that was made.
func (e *Event) DeliveredType() string {
	if e.Denied == "" {
		return e.Type
	}
	return strings.TrimSuffix(e.Type, eventVersion) + deniedVersion
}

// isOfType reports whether a filter by full types selects the event.
func (e *Event) isOfType(types []string) bool {
	if slices.Contains(types, e.Type) {
		return true
	}
	single, isBatch := strings.CutSuffix(e.Type, batchVersion)
	return isBatch && slices.Contains(types, single+eventVersion)
}

// selectedTypes lists the types of the events that a filter selects by types and by kinds,
// which are more types. It returns nil, which means all, if both are nil.
func selectedTypes(types, kinds []string) []string {
	if types == nil && kinds == nil {
		return nil
	}
	selected := []string{}
	for _, t := range fullEventTypes(slices.Concat(types, kinds)) {
		selected = append(selected, t)
		if batch := strings.TrimSuffix(t, eventVersion) + batchVersion; slices.Contains(allEventTypes, batch) {
			selected = append(selected, batch)
		}
	}
	slices.Sort(selected)
	return slices.Compact(selected)
}

const maxEventTypes = 100

// checkEventTypes checks that all types exist.
func (v *violations) checkEventTypes(field string, types []string) {
	if len(types) > maxEventTypes {
		v.add(field, "must be at most %d", maxEventTypes)
		return
	}
	for i, t := range types {
		if !slices.Contains(allEventTypes, fullEventType(t)) {
			v.add(fmt.Sprintf("%s[%d]", field, i), unknownEventType)
		}
	}
}

const unknownEventType = "must be the type of an event, such as iam.group.created; the metadata of this error lists all types"

// listEventTypes adds the list of all types to an error about an unknown one. It is in the
// metadata, because the text of a violation occurs several times in a response.
func listEventTypes(err error) error {
	var e *Error
	if !errors.As(err, &e) || !slices.ContainsFunc(e.Violations, func(v fieldmask.Violation) bool { return v.Description == unknownEventType }) {
		return err
	}
	short := make([]string, len(allEventTypes))
	for i, t := range allEventTypes {
		short[i], _ = ShortEventType(t)
	}
	listed := *e
	listed.Metadata = map[string]string{"types": strings.Join(short, ", ")}
	return &listed
}

// fullEventType converts the short form of an event type, such as iam.group.created, or the
// name of its kind, such as IAM_GROUP_CREATED, into the type.
func fullEventType(t string) string {
	if full, isName := eventTypesByName[t]; isName {
		return full
	}
	if !strings.HasPrefix(t, eventPrefix) {
		t = eventPrefix + t
	}
	if !strings.HasSuffix(t, eventVersion) {
		t += eventVersion
	}
	return t
}

var eventTypesByName = func() map[string]string {
	byName := make(map[string]string, len(allEventTypes))
	for _, t := range allEventTypes {
		name, _ := EventKindName(t)
		byName[name] = t
	}
	return byName
}()

// EventKindName returns the name of a type as the value of an enum, such as IAM_GROUP_CREATED,
// and whether the type exists.
func EventKindName(t string) (name string, known bool) {
	short, known := ShortEventType(t)
	return strings.ToUpper(strings.ReplaceAll(short, ".", "_")), known
}

// ShortEventType returns a type without prefix and version, and whether the type
// exists.
func ShortEventType(t string) (short string, known bool) {
	return strings.TrimSuffix(strings.TrimPrefix(t, eventPrefix), eventVersion), slices.Contains(allEventTypes, t)
}

// fullEventTypes converts short types into full types; nil stays nil.
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

// Resource returns the kind and the UID of the resource that the event is about.
// For a denied creation, this is the parent. The kind is "" if it is unknown.
func (e *Event) Resource() (kind string, uid UID) {
	k := e.kind()
	if e.Denied != "" && k.isAboutParent(e) {
		return k.parent, e.Subject
	}
	return k.resource, e.Subject
}

// isAboutParent reports whether a denied change is about the parent, because its
// resource does not exist yet or because it is about many resources.
func (k eventKind) isAboutParent(e *Event) bool {
	verb := strings.TrimPrefix(e.Type, eventPrefix+k.event+".")
	return strings.HasPrefix(verb, "created") || strings.Contains(verb, ".batch")
}

// maySeeEvent reports whether the actor may read the resource of an event.
func (a *Actor) maySeeEvent(e *Event) bool {
	k := e.kind()
	return k.read != nil && k.read.readableBy(a, e.Subject)
}
