package platform

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"
)

// eventPrefix is the reverse-DNS prefix of every event type.
const eventPrefix = "dev.atrium.api."

// An Event is the record of one change. It is stored in the transaction of the
// change it tells of, so that neither is ever there without the other.
type Event struct {
	ID      string // time-ordered
	Type    string // such as dev.atrium.api.iam.group.created.v1
	Subject UID    // the resource that changed
	Group   UID    // the group it lies in
	Actor   EventActor
	Body    json.RawMessage // the resource after the change (before it, when deleted), without secrets
	Changes []EventChange   // of an update: what became of the fields that it named
	Time    Time
	Denied  string // of a change that was refused: why. Only the audit log has those
	Count   int32  // how often it happened: denials that are equal within a minute are one event, all others have 1

	Position EventPosition // its place in the feed, once it is stored
	Burst    *Burst        // with which others a live feed gives it; nil: none does

	// Cause is the W3C traceparent of the request that made the change; "": it
	// named none.
	Cause string

	// Denial is what a denial has in common with those that are equal to it:
	// they are one event, which counts them. "" of a change that was made.
	Denial string
}

// An EventPosition is a place in the order of the feed. It only ever grows:
// what is committed later never comes before what could be read already.
type EventPosition struct{ Transaction, Number int64 }

// before reports whether p comes before q.
func (p EventPosition) before(q EventPosition) bool {
	return p.Transaction < q.Transaction || p.Transaction == q.Transaction && p.Number < q.Number
}

// EventActor names who made a change.
type EventActor struct {
	Subject string            `json:"subject"` // identity UID, or the operator's command
	Act     map[string]string `json:"act,omitempty"`
	Burst   *Burst            `json:"-"` // of the event
}

// size is about how many bytes what an event tells takes.
func (e *Event) size() int {
	n := len(e.Body)
	for _, c := range e.Changes {
		n += len(c.Before) + len(c.After)
	}
	return n
}

// Identity is the identity that made the change; "" where it was none.
func (a *EventActor) Identity() UID {
	if uid := UID(a.Subject); uid.Valid() {
		return uid
	}
	return ""
}

// NodeID is the id as what names the event among objects of all kinds.
func (e *Event) NodeID() UID { return UID(e.ID) }

// BodyType names what Body is by the area and kind of its resource, such as
// iam.Group; "" where the event is of no known kind.
func (e *Event) BodyType() string {
	for _, k := range eventKinds {
		if k.tells(e) {
			return k.body
		}
	}
	return ""
}

// IdentityProvider is the provider of the mapping that an event tells of; ""
// of events of other kinds.
func (e *Event) IdentityProvider() UID {
	if e.BodyType() != externalGroupRoleMappingKind.bodyType() {
		return ""
	}
	return e.Subject.Parent()
}

// event describes a change of verb (created, updated, deleted ...) to one
// resource of kind k.
func (p *Platform) event(ctx context.Context, kind, verb string, subject, group UID, body any) *Event {
	now := p.now()
	b, _ := json.Marshal(body) // a resource is plain data: it cannot fail
	return &Event{
		ID: newEventID(now.Time), Type: eventType(kind, verb),
		Subject: subject, Group: group, Actor: eventActor(ctx), Body: b, Time: now, Count: 1, Cause: TraceOf(ctx).parent(),
	}
}

func eventActor(ctx context.Context) EventActor {
	a := ActorOf(ctx)
	switch {
	case a == nil:
		return EventActor{}
	case a.operator != "":
		return EventActor{Subject: a.Subject}
	}
	act := map[string]string{"iss": a.Issuer, "sub": a.Subject}
	if a.Email != "" {
		act["email"] = a.Email
	}
	subject := storable(a.Subject, maxActorBytes) // of a token that has no identity, or is just getting one
	if len(a.Identities) > 0 {
		subject = string(a.Identities[0])
	}
	return EventActor{Subject: subject, Act: act}
}

// maxActorBytes bounds what is kept of the subject of a token as its name in
// the audit log, which is looked up by it. The whole is in what the token said.
const maxActorBytes = 1024

// newEventID is a UUID of version 7: it sorts by time.
func newEventID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[6:])
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16|uint64(b[6])<<8|uint64(b[7]))
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return eventIDOf(b)
}

func eventIDOf(b [16]byte) string {
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
