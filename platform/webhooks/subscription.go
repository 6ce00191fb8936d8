package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/secrets"
)

// A Subscription sends the events of its group and of everything below to a
// sink.
type Subscription struct {
	UID    core.UID `json:"uid"`
	Sink   string   `json:"sink"`             // https URL, or mailto: with addresses; unique in its group
	Types  []string `json:"types,omitempty"`  // event types; an empty list means all
	Format Format   `json:"format,omitempty"` // "" means FormatCloudEvents
	Digest Digest   `json:"digest,omitempty"` // "" means DigestImmediate
	// Secret signs deliveries. Only the response to a creation contains it.
	Secret     string    `json:"secret,omitempty"`
	CreateTime core.Time `json:"createTime,omitzero"`
	UpdateTime core.Time `json:"updateTime,omitzero"`

	// Only GraphQL shows these fields about the health of the sink.
	FailingSince  core.Time `json:"-"` // time of the first failure after the last success
	DisableTime   core.Time `json:"-"` // time since which there are no deliveries; zero means that the subscription is enabled
	DisableReason string    `json:"-"`

	// Conditions narrow or widen which events are sent; nil means all changes. Only GraphQL has them.
	Conditions *EventConditions `json:"-"`

	// Findings narrows which events about findings are sent; nil means all. Only GraphQL has it.
	Findings *inventory.FindingConditions `json:"-"`

	BeginEvent string              `json:"-"` // id of the event that created or enabled it: it gets no earlier ones
	Begin      *core.EventPosition `json:"-"` // position of that event, for the relay; nil if the event is no longer stored

	EncryptedSecret    []byte    `json:"-"` // the secret, encrypted
	OldEncryptedSecret []byte    `json:"-"` // the previous secret, which also signs
	OldSecretUntil     core.Time `json:"-"` // end of the previous secret's validity
}

// SubscriptionFilter restricts a list of subscriptions.
type SubscriptionFilter struct {
	core.ChangeFilter

	Sink string `json:",omitempty"` // exact sink
}

// Check adds the violations of the conditions.
func (f *SubscriptionFilter) Check(v *core.Violations) { v.CheckFilter("sink", f.Sink) }

// SubscriptionKind has the facts about subscriptions.
var SubscriptionKind = core.Kind[*Subscription]{
	Name: "Subscription", Plural: "subscriptions", Area: core.AreaEvents, Number: 9, Event: "events.subscription", Parent: core.GroupRef, LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted", "test", "disabled"},
	List:  core.CapSubscriptionsList, Create: core.CapSubscriptionsCreate, Delete: core.CapSubscriptionsDelete,
	ShowsSecret: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "sink", Mode: fieldmask.AtCreation},
		{Name: "types", Mode: fieldmask.AtCreation}, {Name: "secret", Mode: fieldmask.OutputOnly},
		{Name: "format", Mode: fieldmask.AtCreation}, {Name: "digest", Mode: fieldmask.AtCreation},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"sink"},
	Unique:   []string{"sink"},
	Orders: []core.OrderField[*Subscription]{
		{Name: "uid", Spellings: []string{"name"}, Value: func(s *Subscription) any { return string(s.UID) }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(s *Subscription) any { return s.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(s *Subscription) any { return s.UpdateTime }},
	},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          func(s *Subscription) core.UID { return s.UID },
	Group:        core.ParentOf(func(s *Subscription) core.UID { return s.UID }),
	Stamp:        func(s *Subscription, uid core.UID, now core.Time) { s.UID, s.CreateTime, s.UpdateTime = uid, now, now },
	Begin:        func(s *Subscription, created *core.Event) { s.BeginEvent = created.ID },
}

// SubscriptionQueries read and write subscriptions in other ways than a Table does.
type SubscriptionQueries interface {
	// ActiveSubscriptions reads the subscriptions of organizations that are
	// not disabled, with the positions at which they begin.
	ActiveSubscriptions(ctx context.Context, on core.Conn, roots []core.UID) ([]*Subscription, error)
}

// Subscriptions are the operations on event subscriptions.
type Subscriptions struct {
	core.Resources[*Subscription, *SubscriptionFilter]
	rows *core.Collection[*Subscription, *SubscriptionFilter]
	area *Area
}

// SubscriptionKind returns the kind, whose check of sinks follows the options.
func (area *Area) SubscriptionKind() *core.Kind[*Subscription] {
	kind := SubscriptionKind
	kind.Check = func(s *Subscription, changed func(string) bool, v *core.Violations) {
		if changed("sink") {
			s.checkSink(v, &area.options)
		}
		if changed("types") {
			area.Events.Types.Check(v, "types", s.Types)
			s.Types = area.Events.Types.FullTypes(s.Types)
		}
	}
	return &kind
}

func subscriptionKeyFilter(s *Subscription) *SubscriptionFilter {
	return &SubscriptionFilter{Sink: s.Sink}
}

// Create makes a subscription. Only this response shows its secret.
func (s Subscriptions) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Subscription]) (*Subscription, error) {
	return s.CreateConditional(ctx, parent, in, nil, nil)
}

// CreateConditional is Create for a subscription that gets only the events that meet conditions, and of those about
// findings only the ones that meet further conditions. Denied changes need groups.update besides, as the audit log does.
func (s Subscriptions) CreateConditional(ctx context.Context, parent core.UID, in fieldmask.Input[*Subscription], conditions *EventConditions, findings *inventory.FindingConditions) (*Subscription, error) {
	r := SubscriptionRequest{core.BatchRequest[*Subscription]{UID: parent, Input: in}, conditions, findings}
	made, err := s.rows.AuthorizeCreate(ctx, parent, r.checkedInput())
	if err == nil {
		err = r.authorizeDenied(ctx)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, s.area.Events.Types.ListIn(err))
	}
	secret := ""
	err = s.area.store.Write(ctx, func(tx core.Tx) error {
		current, err := s.area.secrets.LockEncryption(ctx, tx)
		if err != nil {
			return err
		}
		secret = made.complete(r, current)
		return s.rows.InsertInTx(ctx, tx, made)
	})
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, s.rows.InsertError(ctx, parent, made, err))
	}
	made.Secret = secret
	return made, nil
}

// A SubscriptionRequest is one subscription of a batch, with the conditions of CreateConditional.
type SubscriptionRequest struct {
	core.BatchRequest[*Subscription]
	Conditions *EventConditions
	Findings   *inventory.FindingConditions
}

// checkedInput returns the input, with what is wrong with the conditions.
func (r SubscriptionRequest) checkedInput() fieldmask.Input[*Subscription] {
	var v core.Violations
	if r.Findings != nil {
		r.Findings.Check(r.UID, &v)
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
	_, err := core.Require(ctx, r.UID, core.CapGroupsUpdate)
	return err
}

// CreateBatch makes several subscriptions: all or none. Only this response shows their secrets.
func (s Subscriptions) CreateBatch(ctx context.Context, requests []SubscriptionRequest) ([]*Subscription, error) {
	plain := make([]core.BatchRequest[*Subscription], len(requests))
	for i, r := range requests {
		plain[i] = core.BatchRequest[*Subscription]{UID: r.UID, Input: r.checkedInput()}
	}
	secrets := make([]string, len(requests))
	made, err := s.rows.CreateBatch(ctx, plain, func(tx core.Tx, made []*Subscription) (func(int) error, error) {
		current, err := s.area.secrets.LockEncryption(ctx, tx)
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
	return made, s.area.Events.Types.ListIn(err)
}

// complete gives a subscription the conditions of a request and a new secret, which is stored encrypted.
func (s *Subscription) complete(r SubscriptionRequest, current *secrets.Encryption) (secret string) {
	secret = "whsec_" + newSecret()
	if s.Format == FormatCloudEvents {
		s.Format = ""
	}
	if s.Digest == DigestImmediate {
		s.Digest = ""
	}
	s.Conditions, s.Findings, s.EncryptedSecret = r.Conditions, r.Findings, current.Seal([]byte(secret), string(s.UID))
	return secret
}

// Delete deletes a subscription.
func (s Subscriptions) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.RemoveChecked(ctx, uid, holdDeliveries)
}

// DeleteBatch deletes several subscriptions: all or none.
func (s Subscriptions) DeleteBatch(ctx context.Context, uids []core.UID) error {
	return s.rows.RemoveBatchChecked(ctx, uids, holdDeliveries)
}

// holdDeliveries lets no delivery of a subscription end while it is deleted.
func holdDeliveries(tx core.Tx, uid core.UID) error {
	tx.Lock(uid)
	return nil
}

// secretOverlap is the time during which the previous secret still signs.
const secretOverlap = 24 * time.Hour

// testEventType is the type of events that are sent to one subscription only,
// whatever its types are.
const testEventType = core.EventPrefix + "events.subscription.test.v1"

// RotateSecret gives a subscription a new secret, which only this response shows.
// For a day, deliveries are also signed with the previous one. It needs
// subscriptions.create.
func (s Subscriptions) RotateSecret(ctx context.Context, uid core.UID) (*Subscription, error) {
	secret := "whsec_" + newSecret()
	rotated, err := s.updateInternal(ctx, uid, func(tx core.Tx, sub *Subscription, _ string) (fields []string, err error) {
		sub.OldEncryptedSecret, sub.OldSecretUntil = sub.EncryptedSecret, core.At(s.area.Now().Add(secretOverlap))
		sub.EncryptedSecret, err = s.area.secrets.EncryptSecret(ctx, tx, secret, uid)
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
func (s Subscriptions) Enable(ctx context.Context, uid core.UID) (*Subscription, error) {
	return s.updateInternal(ctx, uid, func(_ core.Tx, sub *Subscription, event string) ([]string, error) {
		fields := []string{"failingSince", "disableTime", "disableReason"}
		if sub.DisableReason != "" {
			sub.BeginEvent, fields = event, append(fields, "beginEvent")
		}
		sub.FailingSince, sub.DisableTime, sub.DisableReason = core.Time{}, core.Time{}, ""
		return fields, nil
	})
}

// authorizeInternal authorizes a change of fields that clients cannot write.
func (s Subscriptions) authorizeInternal(ctx context.Context, uid core.UID, verb string) error {
	err := core.InvalidUID("uid", uid)
	if err == nil {
		_, err = core.Require(ctx, uid, s.rows.Kind.Create)
	}
	return s.rows.RecordIfDenied(ctx, verb, uid, err)
}

// updateInternal changes fields that clients cannot write. The function change sets the
// fields and returns their names. It gets the id of the event of the change.
func (s Subscriptions) updateInternal(ctx context.Context, uid core.UID, change func(tx core.Tx, sub *Subscription, event string) (fields []string, err error)) (*Subscription, error) {
	if err := s.authorizeInternal(ctx, uid, "updated"); err != nil {
		return nil, err
	}
	var sub *Subscription
	err := s.area.store.Write(ctx, func(tx core.Tx) (err error) {
		if sub, err = s.rows.GetLocked(ctx, tx, uid); err != nil {
			return err
		}
		before := *sub
		now := s.area.Now()
		event := core.NewEventID(now.Time)
		fields, err := change(tx, sub, event)
		if err != nil {
			return err
		}
		sub.UpdateTime = now
		if err := s.area.tables.Subscriptions.Update(ctx, tx, sub, fields...); err != nil {
			return err
		}
		e := core.NewEvent(ctx, now, s.rows.Kind.Event, "updated", uid, uid.Parent(), sub)
		e.ID = event
		e.Changes = visibleChanges(&before, sub, fields)
		tx.Record(e)
		return nil
	})
	return sub, s.rows.Kind.AddArea(err)
}

// visibleChanges returns the changes of a subscription that events show. It does
// not contain secrets.
func visibleChanges(before, after *Subscription, fields []string) (changes []core.EventChange) {
	for _, field := range fields {
		switch field {
		case "secret":
			changes = append(changes, core.EventChange{Field: field})
		case "disableTime":
			changes = append(changes, core.NewValueChange(field, timeOrNil(before.DisableTime), timeOrNil(after.DisableTime)))
		case "disableReason":
			changes = append(changes, core.NewValueChange(field, before.DisableReason, after.DisableReason))
		}
	}
	return changes
}

func timeOrNil(t core.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// decryptSecrets decrypts the secrets that sign the deliveries of a subscription,
// newest first.
func (area *Area) decryptSecrets(s *Subscription) ([]string, error) {
	newest, err := area.secrets.DecryptSecret(s.EncryptedSecret, s.UID)
	if err != nil || len(s.OldEncryptedSecret) == 0 || !area.Now().Before(s.OldSecretUntil.Time) {
		return []string{newest}, err
	}
	old, err := area.secrets.DecryptSecret(s.OldEncryptedSecret, s.UID)
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
func (s *Subscription) wants(e *core.Event) bool {
	if s.Begin != nil && e.Position.Before(*s.Begin) {
		return false
	}
	if e.Type == testEventType && e.Denied == "" {
		return e.Subject == s.UID
	}
	return e.Subject.Within(s.UID.Parent()) && (len(s.Types) == 0 || e.IsOfType(s.Types)) && s.Conditions.areMet(e) && (s.Findings == nil || s.Findings.AreMet(e))
}

// EventConditions say which events a subscription gets. All conditions that are given must be met.
type EventConditions struct {
	Within        []core.UID `json:"within,omitempty"`        // resources below the group of the subscription, with all below them; none means all
	Actors        []string   `json:"actors,omitempty"`        // who made the change: UIDs of identities, or names of an operator's commands; none means anybody
	IncludeDenied bool       `json:"includeDenied,omitempty"` // whether denied changes are sent too
}

// check checks the conditions of a subscription of a group.
func (c *EventConditions) check(group core.UID, v *core.Violations) {
	inventory.CheckConditionScopes(v, "conditions.within", c.Within, group)
	if len(c.Actors) > inventory.MaxConditionScopes {
		v.Add("conditions.actors", "must have at most %d items", inventory.MaxConditionScopes)
	}
	for _, actor := range c.Actors {
		v.CheckText("conditions.actors", actor, core.MaxActorBytes)
	}
}

// areMet reports whether an event meets the conditions. Without conditions, denied changes do not.
func (c *EventConditions) areMet(e *core.Event) bool {
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
func (s *Subscription) sinkFault(o *Options) string {
	var v core.Violations
	if s.checkSink(&v, o); len(v) == 0 {
		return ""
	}
	if v[0].Field == "format" {
		return "this server cannot send mail: the operator has set no mail server"
	}
	return "the sink is no longer permitted: it " + v[0].Description
}
