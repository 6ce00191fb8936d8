package platform

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"atrium/platform/fieldmask"
)

// A Subscription sends the events of its group and of everything below to a
// sink.
type Subscription struct {
	UID   UID      `json:"uid"`
	Sink  string   `json:"sink"`            // https URL, unique in its group
	Types []string `json:"types,omitempty"` // event types; an empty list means all
	// Secret signs deliveries. Only the response to a creation contains it.
	Secret     string `json:"secret,omitempty"`
	CreateTime Time   `json:"createTime,omitzero"`
	UpdateTime Time   `json:"updateTime,omitzero"`

	// Only GraphQL shows these fields about the health of the sink.
	FailingSince  Time   `json:"-"` // time of the first failure after the last success
	DisableTime   Time   `json:"-"` // time since which there are no deliveries; zero means that the subscription is enabled
	DisableReason string `json:"-"`

	// Conditions narrow or widen which events are sent; nil means all changes. Only GraphQL has them.
	Conditions *EventConditions `json:"-"`

	// Findings narrows which events about findings are sent; nil means all. Only GraphQL has it.
	Findings *FindingConditions `json:"-"`

	BeginEvent string         `json:"-"` // id of the event that created or enabled it: it gets no earlier ones
	Begin      *EventPosition `json:"-"` // position of that event, for the relay; nil if the event is no longer stored

	EncryptedSecret    []byte `json:"-"` // the secret, encrypted
	OldEncryptedSecret []byte `json:"-"` // the previous secret, which also signs
	OldSecretUntil     Time   `json:"-"` // end of the previous secret's validity
}

// SubscriptionFilter restricts a list of subscriptions.
type SubscriptionFilter struct {
	ChangeFilter

	Sink string `json:",omitempty"` // exact sink
}

func (f *SubscriptionFilter) check(v *violations) { v.checkFilter("sink", f.Sink) }

var subscriptionKind = Kind[*Subscription]{
	Name: "Subscription", Plural: "subscriptions", Area: areaEvents, Number: 9, Event: "events.subscription", Parent: groupRef, LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted", "test", "disabled"},
	List:  CapSubscriptionsList, Create: CapSubscriptionsCreate, Delete: CapSubscriptionsDelete,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "sink", Mode: fieldmask.AtCreation},
		{Name: "types", Mode: fieldmask.AtCreation}, {Name: "secret", Mode: fieldmask.OutputOnly},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"sink"},
	Unique:   []string{"sink"},
	Orders: []OrderField[*Subscription]{
		{"uid", []string{"name"}, func(s *Subscription) any { return string(s.UID) }},
		{"create_time", createTimeSpellings, func(s *Subscription) any { return s.CreateTime }},
		{"update_time", updateTimeSpellings, func(s *Subscription) any { return s.UpdateTime }},
	},
	DefaultOrder: Order{Field: "uid"},
	UID:          func(s *Subscription) UID { return s.UID },
	Group:        parentOf(func(s *Subscription) UID { return s.UID }),
	Stamp:        func(s *Subscription, uid UID, now Time) { s.UID, s.CreateTime, s.UpdateTime = uid, now, now },
	Begin:        func(s *Subscription, created *Event) { s.BeginEvent = created.ID },
}

// SubscriptionQueries read and write subscriptions in other ways than a Table does.
type SubscriptionQueries interface {
	// ActiveSubscriptions reads the subscriptions of organisations that are
	// not disabled, with the positions at which they begin.
	ActiveSubscriptions(ctx context.Context, on Conn, roots []UID) ([]*Subscription, error)
}

// Subscriptions are the operations on event subscriptions.
type Subscriptions struct {
	Resources[*Subscription, *SubscriptionFilter]
	rows *Collection[*Subscription, *SubscriptionFilter]
	area *webhooksArea
}

// subscriptionKind returns the kind, whose check of sinks follows the options.
func (area *webhooksArea) subscriptionKind() *Kind[*Subscription] {
	kind := subscriptionKind
	kind.Check = func(s *Subscription, changed func(string) bool, v *violations) {
		if changed("sink") {
			v.checkSink(s.Sink, &area.options)
		}
		if changed("types") {
			area.events.types.check(v, "types", s.Types)
			s.Types = area.events.types.fullTypes(s.Types)
		}
	}
	return &kind
}

func subscriptionKeyFilter(s *Subscription) *SubscriptionFilter {
	return &SubscriptionFilter{Sink: s.Sink}
}

// Create makes a subscription. Only this response shows its secret.
func (s Subscriptions) Create(ctx context.Context, parent UID, in fieldmask.Input[*Subscription]) (*Subscription, error) {
	return s.CreateConditional(ctx, parent, in, nil, nil)
}

// CreateConditional is Create for a subscription that gets only the events that meet conditions, and of those about
// findings only the ones that meet further conditions. Denied changes need groups.update besides, as the audit log does.
func (s Subscriptions) CreateConditional(ctx context.Context, parent UID, in fieldmask.Input[*Subscription], conditions *EventConditions, findings *FindingConditions) (*Subscription, error) {
	r := SubscriptionRequest{BatchRequest[*Subscription]{parent, in}, conditions, findings}
	made, err := s.rows.authorizeCreate(ctx, parent, r.checkedInput())
	if err == nil {
		err = r.authorizeDenied(ctx)
	}
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", parent, s.area.events.types.listIn(err))
	}
	secret := ""
	err = s.area.store.Write(ctx, func(tx Tx) error {
		current, err := s.area.secrets.lockEncryption(ctx, tx)
		if err != nil {
			return err
		}
		secret = made.complete(r, current)
		return s.rows.insertInTx(ctx, tx, made)
	})
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", parent, s.rows.insertError(ctx, parent, made, err))
	}
	made.Secret = secret
	return made, nil
}

// A SubscriptionRequest is one subscription of a batch, with the conditions of CreateConditional.
type SubscriptionRequest struct {
	BatchRequest[*Subscription]
	Conditions *EventConditions
	Findings   *FindingConditions
}

// checkedInput returns the input, with what is wrong with the conditions.
func (r SubscriptionRequest) checkedInput() fieldmask.Input[*Subscription] {
	var v violations
	if r.Findings != nil {
		r.Findings.check(r.UID, &v)
	}
	if r.Conditions != nil {
		r.Conditions.check(r.UID, &v)
	}
	return r.Input.Malformed(v...)
}

// authorizeDenied fails unless the caller may receive denied changes, if the request asks for them.
func (r SubscriptionRequest) authorizeDenied(ctx context.Context) error {
	if r.Conditions == nil || !r.Conditions.IncludeDenied {
		return nil
	}
	_, err := require(ctx, r.UID, CapGroupsUpdate)
	return err
}

// CreateBatch makes several subscriptions: all or none. Only this response shows their secrets.
func (s Subscriptions) CreateBatch(ctx context.Context, requests []SubscriptionRequest) ([]*Subscription, error) {
	plain := make([]BatchRequest[*Subscription], len(requests))
	for i, r := range requests {
		plain[i] = BatchRequest[*Subscription]{r.UID, r.checkedInput()}
	}
	secrets := make([]string, len(requests))
	made, err := s.rows.createBatch(ctx, plain, func(tx Tx, made []*Subscription) (func(int) error, error) {
		current, err := s.area.secrets.lockEncryption(ctx, tx)
		if err != nil {
			return nil, err
		}
		for i := range made {
			secrets[i] = made[i].complete(requests[i], current)
		}
		return func(i int) error { return requests[i].authorizeDenied(ctx) }, nil
	})
	for i := range made {
		made[i].Secret = secrets[i]
	}
	return made, s.area.events.types.listIn(err)
}

// complete gives a subscription the conditions of a request and a new secret, which is stored encrypted.
func (s *Subscription) complete(r SubscriptionRequest, current *encryption) (secret string) {
	secret = "whsec_" + newSecret()
	s.Conditions, s.Findings, s.EncryptedSecret = r.Conditions, r.Findings, current.seal([]byte(secret), string(s.UID))
	return secret
}

// Delete deletes a subscription.
func (s Subscriptions) Delete(ctx context.Context, uid UID) error {
	return s.rows.removeChecked(ctx, uid, holdDeliveries)
}

// DeleteBatch deletes several subscriptions: all or none.
func (s Subscriptions) DeleteBatch(ctx context.Context, uids []UID) error {
	return s.rows.removeBatchChecked(ctx, uids, holdDeliveries)
}

// holdDeliveries lets no delivery of a subscription end while it is deleted.
func holdDeliveries(tx Tx, uid UID) error {
	tx.Lock(uid)
	return nil
}

// secretOverlap is the time during which the previous secret still signs.
const secretOverlap = 24 * time.Hour

// testEventType is the type of events that are sent to one subscription only,
// whatever its types are.
const testEventType = eventPrefix + "events.subscription.test.v1"

// RotateSecret gives a subscription a new secret, which only this response shows.
// For a day, deliveries are also signed with the previous one. It needs
// subscriptions.create.
func (s Subscriptions) RotateSecret(ctx context.Context, uid UID) (*Subscription, error) {
	secret := "whsec_" + newSecret()
	rotated, err := s.updateInternal(ctx, uid, func(tx Tx, sub *Subscription, _ string) (fields []string, err error) {
		sub.OldEncryptedSecret, sub.OldSecretUntil = sub.EncryptedSecret, At(s.area.now().Add(secretOverlap))
		sub.EncryptedSecret, err = s.area.secrets.encryptSecret(ctx, tx, secret, uid)
		return []string{"secret", "oldSecret"}, err
	})
	if err != nil {
		return nil, err
	}
	rotated.Secret = secret
	return rotated, nil
}

// Enable enables a disabled subscription. It receives the events from now on. It
// needs subscriptions.create.
func (s Subscriptions) Enable(ctx context.Context, uid UID) (*Subscription, error) {
	return s.updateInternal(ctx, uid, func(_ Tx, sub *Subscription, event string) ([]string, error) {
		fields := []string{"failingSince", "disableTime", "disableReason"}
		if sub.DisableReason != "" {
			sub.BeginEvent, fields = event, append(fields, "beginEvent")
		}
		sub.FailingSince, sub.DisableTime, sub.DisableReason = Time{}, Time{}, ""
		return fields, nil
	})
}

// Test sends a test event to a subscription and returns its id. It needs
// subscriptions.create.
func (s Subscriptions) Test(ctx context.Context, uid UID) (eventID string, err error) {
	if err := s.authorizeInternal(ctx, uid, "test"); err != nil {
		return "", err
	}
	err = s.area.store.Write(ctx, func(tx Tx) error {
		sub, err := s.rows.getLocked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if !sub.DisableTime.IsZero() {
			return failedPrecondition("SUBSCRIPTION_DISABLED", string(uid), sub.disabledFault())
		}
		e := s.area.event(ctx, s.rows.kind.Event, "test", uid, uid.Parent(), sub)
		tx.Record(e)
		eventID = e.ID
		return nil
	})
	return eventID, s.rows.kind.addArea(err)
}

// authorizeInternal authorises a change of fields that clients cannot write.
func (s Subscriptions) authorizeInternal(ctx context.Context, uid UID, verb string) error {
	err := invalidUID("uid", uid)
	if err == nil {
		_, err = require(ctx, uid, s.rows.kind.Create)
	}
	return s.rows.recordIfDenied(ctx, verb, uid, err)
}

// updateInternal changes fields that clients cannot write. The function change sets the
// fields and returns their names. It gets the id of the event of the change.
func (s Subscriptions) updateInternal(ctx context.Context, uid UID, change func(tx Tx, sub *Subscription, event string) (fields []string, err error)) (*Subscription, error) {
	if err := s.authorizeInternal(ctx, uid, "updated"); err != nil {
		return nil, err
	}
	var sub *Subscription
	err := s.area.store.Write(ctx, func(tx Tx) (err error) {
		if sub, err = s.rows.getLocked(ctx, tx, uid); err != nil {
			return err
		}
		before := *sub
		now := s.area.now()
		event := newEventID(now.Time)
		fields, err := change(tx, sub, event)
		if err != nil {
			return err
		}
		sub.UpdateTime = now
		if err := s.area.tables.Subscriptions.Update(ctx, tx, sub, fields...); err != nil {
			return err
		}
		e := newEvent(ctx, now, s.rows.kind.Event, "updated", uid, uid.Parent(), sub)
		e.ID = event
		e.Changes = visibleChanges(&before, sub, fields)
		tx.Record(e)
		return nil
	})
	return sub, s.rows.kind.addArea(err)
}

// visibleChanges returns the changes of a subscription that events show. It does
// not contain secrets.
func visibleChanges(before, after *Subscription, fields []string) (changes []EventChange) {
	for _, field := range fields {
		switch field {
		case "secret":
			changes = append(changes, EventChange{Field: field})
		case "disableTime":
			changes = append(changes, newValueChange(field, timeOrNil(before.DisableTime), timeOrNil(after.DisableTime)))
		case "disableReason":
			changes = append(changes, newValueChange(field, before.DisableReason, after.DisableReason))
		}
	}
	return changes
}

func timeOrNil(t Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// decryptSecrets decrypts the secrets that sign the deliveries of a subscription,
// newest first.
func (p *webhooksArea) decryptSecrets(s *Subscription) ([]string, error) {
	newest, err := p.secrets.decryptSecret(s.EncryptedSecret, s.UID)
	if err != nil || len(s.OldEncryptedSecret) == 0 || !p.now().Before(s.OldSecretUntil.Time) {
		return []string{newest}, err
	}
	old, err := p.secrets.decryptSecret(s.OldEncryptedSecret, s.UID)
	return []string{newest, old}, err
}

// newSecret returns 32 random bytes in the form of Standard Webhooks.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}

// wants reports whether an event is sent to a subscription. Which events come before it is decided by
// their positions: clocks differ.
func (s *Subscription) wants(e *Event) bool {
	if s.Begin != nil && e.Position.before(*s.Begin) {
		return false
	}
	if e.Type == testEventType && e.Denied == "" {
		return e.Subject == s.UID
	}
	return e.Subject.Within(s.UID.Parent()) && (len(s.Types) == 0 || e.isOfType(s.Types)) && s.Conditions.areMet(e) && (s.Findings == nil || s.Findings.areMet(e))
}

// EventConditions say which events a subscription gets. All conditions that are given must be met.
type EventConditions struct {
	Within        []UID    `json:"within,omitempty"`        // resources below the group of the subscription, with all below them; none means all
	Actors        []string `json:"actors,omitempty"`        // who made the change: UIDs of identities, or names of an operator's commands; none means anybody
	IncludeDenied bool     `json:"includeDenied,omitempty"` // whether denied changes are sent too
}

// check checks the conditions of a subscription of a group.
func (c *EventConditions) check(group UID, v *violations) {
	checkConditionScopes(v, "conditions.within", c.Within, group)
	if len(c.Actors) > maxConditionScopes {
		v.add("conditions.actors", "must be at most %d", maxConditionScopes)
	}
	for _, actor := range c.Actors {
		v.checkText("conditions.actors", actor, maxActorBytes)
	}
}

// areMet reports whether an event meets the conditions. Without conditions, denied changes do not.
func (c *EventConditions) areMet(e *Event) bool {
	if c == nil {
		return e.Denied == ""
	}
	return (c.IncludeDenied || e.Denied == "") &&
		(len(c.Within) == 0 || slices.ContainsFunc(c.Within, e.Subject.Within)) &&
		(len(c.Actors) == 0 || slices.Contains(c.Actors, e.Actor.Subject))
}

// disabledFault returns the reason why the deliveries of a disabled subscription fail.
func (s *Subscription) disabledFault() string {
	return "the subscription is disabled: " + s.DisableReason
}

// sinkFault returns why a sink is no longer permitted, or "". The rules can have
// changed since the subscription was made.
func (s *Subscription) sinkFault(o *WebhookOptions) string {
	var v violations
	if v.checkSink(s.Sink, o); len(v) == 0 {
		return ""
	}
	return "the sink is no longer permitted: it " + v[0].Description
}
