package core

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// EventPrefix is the reverse-DNS prefix of every event type.
const EventPrefix = "dev.atrium.api."

// EventTypeOf returns the type of an event of a kind.
func EventTypeOf(kind, verb string) string { return EventPrefix + kind + "." + verb + EventVersion }

// The ends of event types.
const (
	EventVersion = ".v1"
	// BatchVersion ends the types of changes that were made together with others. A filter
	// by the type of a single change selects them too.
	BatchVersion = ".batch" + EventVersion
)

// deniedVersion ends the types under which denied changes are delivered to sinks.
const deniedVersion = ".denied" + EventVersion

// An Event records one change. It is stored in the transaction of the change, so
// that neither exists without the other.
type Event struct {
	ID      string // ids sort by time
	Type    string // event type, such as dev.atrium.api.iam.group.created.v1
	Subject UID    // the resource that changed
	Group   UID    // the group it lies in
	Actor   EventActor
	Body    json.RawMessage // the resource after the change, or before a deletion, without secrets
	Changes []EventChange   // the fields that an update changed
	Time    Time
	// Denied is the reason of a denied change. Only the audit log has denied changes.
	Denied string
	Count  int32 // number of equal denials within a minute; 1 for all other events

	Position EventPosition // position in the feed, once it is stored
	// Burst has the events that a live feed delivers together with this one. It is nil
	// outside of live feeds.
	Burst *Burst

	// Cause is the W3C traceparent of the request that made the change; "" if it
	// had none.
	Cause string

	// Denial is a key that equal denials share. They are stored as one event with
	// a count. It is "" for a change that was made.
	Denial string
}

// An EventPosition is a position in the feed. Positions only grow: an event that
// is committed later never comes before an event that could already be read, and an event
// comes after all events that were committed before it was recorded.
type EventPosition struct{ Transaction, Number int64 }

// Before reports whether p comes before q.
func (p EventPosition) Before(q EventPosition) bool {
	return p.Transaction < q.Transaction || p.Transaction == q.Transaction && p.Number < q.Number
}

// EventActor names who made a change.
type EventActor struct {
	Subject string            `json:"subject"` // the UID of an identity, or the name of an operator's command
	Act     map[string]string `json:"act,omitempty"`
}

// Size estimates the size of the event's content in bytes.
func (e *Event) Size() int {
	n := len(e.Body)
	for _, c := range e.Changes {
		n += len(c.Before) + len(c.After)
	}
	return n
}

// Identity returns the identity that made the change, or "" if it was not one.
func (a *EventActor) Identity() UID {
	if uid := UID(a.Subject); uid.Valid() {
		return uid
	}
	return ""
}

// Cursor returns the position of the event in the audit log.
func (e *Event) Cursor() string { return e.ID }

// NodeID returns the id as the key of the event in global ids.
func (e *Event) NodeID() UID { return UID(e.ID) }

// NewEvent makes the event of a change.
func NewEvent(ctx context.Context, at Time, kind, verb string, subject, group UID, body any) *Event {
	e := &Event{
		ID: NewEventID(at.Time), Type: EventTypeOf(kind, verb),
		Subject: subject, Group: group, Actor: ChangeActor(ctx, subject), Time: at, Count: 1, Cause: TraceOf(ctx).traceParent(),
	}
	if body != nil {
		e.SetBody(body)
	}
	return e
}

// SetBody encodes the body of the event.
func (e *Event) SetBody(body any) {
	e.Body, _ = json.Marshal(body) // cannot fail for plain data
}

// ChangeActor returns the actor of a change of subject.
func ChangeActor(ctx context.Context, changed UID) EventActor {
	a := ActorOf(ctx)
	switch {
	case a == nil:
		return EventActor{}
	case a.Operator != "":
		return EventActor{Subject: a.Subject}
	}
	subject := TruncateStorable(a.Subject, MaxActorBytes) // used for a token without an identity
	act := map[string]string{"iss": a.Issuer, "sub": subject}
	if a.Email != "" {
		act["email"] = TruncateStorable(a.Email, MaxActorBytes)
	}
	if len(a.Identities) > 0 {
		subject = string(a.IdentityOn(changed))
	}
	return EventActor{Subject: subject, Act: act}
}

// IdentityOn returns the identity as which the actor acts on a resource: one that can have rights
// on it, or else one of its organization, or else the first. An organization must not learn
// identities of others, and must find its own ones in its audit log.
func (a *Actor) IdentityOn(uid UID) UID {
	closeness := func(identity UID) int {
		switch {
		case uid.Within(identity.Parent()):
			return 2
		case identity.Root() == uid.Root():
			return 1
		default:
			return 0
		}
	}
	return slices.MaxFunc(a.Identities, func(x, y UID) int { return cmp.Compare(closeness(x), closeness(y)) })
}

// MaxActorBytes limits the subject and the email address of a token that are stored
// with an event. The subject of an actor without an identity is indexed, and nobody
// should fill an audit log with long texts.
const MaxActorBytes = 1024

// DeliveredType returns the type under which the event is delivered to sinks. That of a denied change differs from that
// of the change, so that no sink takes it for one that was made.
func (e *Event) DeliveredType() string {
	if e.Denied == "" {
		return e.Type
	}
	return strings.TrimSuffix(e.Type, EventVersion) + deniedVersion
}

// IsOfType reports whether a filter by full types selects the event.
func (e *Event) IsOfType(types []string) bool {
	if slices.Contains(types, e.Type) {
		return true
	}
	single, isBatch := strings.CutSuffix(e.Type, BatchVersion)
	return isBatch && slices.Contains(types, single+EventVersion)
}
