package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// Types has the types of all events, as the kinds describe them.
type Types struct {
	kinds []eventKind
	all   []string
	named map[string]string // by names as values of an enum, such as IAM_GROUP_CREATED
}

// An eventKind describes events that callers may see who may read a kind.
type eventKind struct {
	core.EventKind
	read   core.AnyKind
	parent string // the parent kind of the subjects
}

// NewTypes returns the types of the events of kinds.
func NewTypes(kinds []core.AnyKind) *Types {
	t := &Types{named: map[string]string{}}
	for _, read := range kinds {
		k := read.Info()
		if len(k.Verbs) > 0 {
			t.kinds = append(t.kinds, eventKind{core.EventKind{Event: k.Event, Verbs: k.Verbs, Body: k.EventBody, Resource: k.Subject()}, read, k.Parent})
		}
	}
	for _, read := range kinds { // after the others: the order of kinds is that of the documentation
		for _, other := range read.Info().OtherEvents {
			t.kinds = append(t.kinds, eventKind{EventKind: other, read: read})
		}
	}
	for _, k := range t.kinds {
		for _, verb := range k.Verbs {
			full := core.EventTypeOf(k.Event, verb)
			t.all, t.named[eventKindName(full)] = append(t.all, full), full
		}
	}
	return t
}

// kindOf returns the kind that the event belongs to. All of its fields are empty if this
// version does not know the type of the event.
func (t *Types) kindOf(e *core.Event) eventKind {
	for _, k := range t.kinds {
		if k.Matches(e) {
			return k
		}
	}
	return eventKind{}
}

// All lists the types.
func (t *Types) All() []string { return slices.Clone(t.all) }

// BodyOf returns the area and the kind of the body of an event, such as iam.Group, or "" if the
// kind of the event is unknown.
func (t *Types) BodyOf(e *core.Event) string { return t.kindOf(e).Body }

// IdentityProviderOf returns the provider of the mapping that the event is about,
// or "" for events of other kinds.
func (t *Types) IdentityProviderOf(e *core.Event) core.UID {
	if t.kindOf(e).Resource != "ExternalGroupRoleMapping" {
		return ""
	}
	return e.Subject.Parent()
}

// ResourceOf returns the kind and the UID of the resource that the event is about.
// For a denied creation, this is the parent. The kind is "" if it is unknown.
func (t *Types) ResourceOf(e *core.Event) (kind string, uid core.UID) {
	k := t.kindOf(e)
	if e.Denied != "" && k.IsAboutParent(e) {
		return k.parent, e.Subject
	}
	return k.Resource, e.Subject
}

// maySee reports whether the actor may read the resource of an event.
func (t *Types) maySee(a *core.Actor, e *core.Event) bool {
	k := t.kindOf(e)
	return k.read != nil && k.read.ReadableBy(a, e.Subject)
}

// selectTypes lists the types of the events that a filter selects by types. It returns nil, which means all, for nil.
func (t *Types) selectTypes(types []string) []string {
	if types == nil {
		return nil
	}
	selected := []string{}
	for _, full := range t.FullTypes(types) {
		selected = append(selected, full)
		if batch := strings.TrimSuffix(full, core.EventVersion) + core.BatchVersion; slices.Contains(t.all, batch) {
			selected = append(selected, batch)
		}
	}
	slices.Sort(selected)
	return slices.Compact(selected)
}

const maxEventTypes = 100

// Check adds violations unless all types exist.
func (t *Types) Check(v *core.Violations, field string, types []string) {
	if len(types) > maxEventTypes {
		v.Add(field, "must have at most %d items", maxEventTypes)
		return
	}
	for i, one := range types {
		if !slices.Contains(t.all, t.fullType(one)) {
			v.Add(fmt.Sprintf("%s[%d]", field, i), unknownEventType)
		}
	}
}

const unknownEventType = "must be the type of an event, such as iam.group.created; the metadata of this error lists all types"

// ListIn adds the list of all types to an error about an unknown one. It is in the
// metadata, because the text of a violation occurs several times in a response.
func (t *Types) ListIn(err error) error {
	var e *core.Error
	if !errors.As(err, &e) || !slices.ContainsFunc(e.Violations, func(v fieldmask.Violation) bool { return v.Description == unknownEventType }) {
		return err
	}
	short := make([]string, len(t.all))
	for i, full := range t.all {
		short[i] = ShortEventType(full)
	}
	listed := *e
	listed.Metadata = map[string]string{"types": strings.Join(short, ", ")}
	return &listed
}

// fullType converts the short form of an event type, such as iam.group.created, or the
// name of its kind, such as IAM_GROUP_CREATED, into the type.
func (t *Types) fullType(one string) string {
	if full, isName := t.named[one]; isName {
		return full
	}
	if !strings.HasPrefix(one, core.EventPrefix) {
		one = core.EventPrefix + one
	}
	if !strings.HasSuffix(one, core.EventVersion) {
		one += core.EventVersion
	}
	return one
}

// FullTypes converts short types into full types; nil stays nil.
func (t *Types) FullTypes(types []string) []string {
	if types == nil {
		return nil
	}
	full := make([]string, len(types))
	for i, one := range types {
		full[i] = t.fullType(one)
	}
	return full
}

// KindName returns the name of a type as the value of an enum, such as IAM_ROLE_BINDING_CREATED,
// and whether the type exists.
func (t *Types) KindName(full string) (name string, known bool) {
	return eventKindName(full), slices.Contains(t.all, full)
}

// eventKindName returns the name that a type has as the value of an enum: area, kind and verb. Types of v2 name some kinds
// otherwise than the graph does.
func eventKindName(full string) string {
	return kindsOfGraph.Replace(strings.ToUpper(strings.ReplaceAll(ShortEventType(full), ".", "_")))
}

var kindsOfGraph = strings.NewReplacer(
	"PLATFORM_REGISTRY_", "REGISTRY_", "IAM_ROLES_", "IAM_ROLE_", "IAM_ROLEBINDINGS_", "IAM_ROLE_BINDING_", "IAM_IDENTITY_PROVIDERS_", "IAM_IDENTITY_PROVIDER_",
	"IAM_ACCOUNT_ASSOCIATIONS_", "IAM_ACCOUNT_ASSOCIATION_", "IAM_EXTERNAL_GROUP_ROLE_MAPPINGS_", "IAM_EXTERNAL_GROUP_ROLE_MAPPING_",
)

// ShortEventType returns a type without prefix and version.
func ShortEventType(full string) string {
	return strings.TrimSuffix(strings.TrimPrefix(full, core.EventPrefix), core.EventVersion)
}
