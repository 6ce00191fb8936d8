package platform

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Subscription sends the events of its group and of everything below to a
// sink.
type Subscription struct {
	UID        UID      `json:"uid"`
	Sink       string   `json:"sink"`             // https URL, unique in its group
	Types      []string `json:"types,omitempty"`  // event types; none: all
	Secret     string   `json:"secret,omitempty"` // signs deliveries; shown when it is made, never again
	CreateTime Time     `json:"createTime,omitzero"`
	UpdateTime Time     `json:"updateTime,omitzero"`

	// How its sink does is told over GraphQL only.
	FailingSince  Time   `json:"-"` // of its first failure without a success since
	DisableTime   Time   `json:"-"` // if set: it gets nothing since then
	DisableReason string `json:"-"`

	HiddenSecret    []byte `json:"-"` // as stored
	OldHiddenSecret []byte `json:"-"` // signs too
	OldSecretUntil  Time   `json:"-"` // until then
}

// SubscriptionFilter restricts a list of subscriptions.
type SubscriptionFilter struct {
	Sink string `json:",omitempty"` // exactly
}

func (f SubscriptionFilter) check(v *violations) { v.filter("sink", f.Sink) }

var subscriptionKind = Kind[Subscription]{
	Name: "Subscription", Plural: "subscriptions", Area: "events", Number: 9, Event: "events.subscription", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted", "test", "disabled"},
	List:  CapSubscriptionsList, Create: CapSubscriptionsCreate, Delete: CapSubscriptionsDelete,
	Fields: []Field{
		{"uid", OutputOnly}, {"sink", AtCreation}, {"types", AtCreation}, {"secret", OutputOnly},
		{"createTime", OutputOnly}, {"updateTime", OutputOnly},
	},
	Required: []string{"sink"},
	Orders: []OrderField[Subscription]{
		{"uid", nil, func(s *Subscription) any { return string(s.UID) }},
		{"create_time", createTimeSpellings, func(s *Subscription) any { return s.CreateTime }},
		{"update_time", updateTimeSpellings, func(s *Subscription) any { return s.UpdateTime }},
	},
	DefaultOrder: Order{Field: "uid"},
	UID:          func(s *Subscription) UID { return s.UID },
	Group:        parentOf(func(s *Subscription) UID { return s.UID }),
	Stamp:        func(s *Subscription, uid UID, now Time) { s.UID, s.CreateTime, s.UpdateTime = uid, now, now },
}

// Subscriptions are the operations on event subscriptions.
type Subscriptions struct {
	resources[Subscription, SubscriptionFilter]
}

func newSubscriptions(p *Platform) Subscriptions {
	kind := subscriptionKind
	kind.Check = func(s *Subscription, changed func(string) bool, v *violations) {
		if changed("sink") {
			v.sink(s.Sink, &p.options)
		}
		if changed("types") {
			v.eventTypes(s.Types)
			s.Types = fullEventTypes(s.Types)
		}
	}
	return Subscriptions{resources[Subscription, SubscriptionFilter]{p, &kind}}
}

func subscriptionTo(s *Subscription) SubscriptionFilter { return SubscriptionFilter{Sink: s.Sink} }

// Create makes a subscription. Only this answer shows its secret.
func (s Subscriptions) Create(ctx context.Context, parent UID, in Input[Subscription]) (*Subscription, error) {
	made, err := s.accept(ctx, parent, in)
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	secret := "whsec_" + newSecret()
	if made.HiddenSecret, err = s.p.hide(secret, made.UID); err != nil {
		return nil, err
	}
	made, err = s.insert(ctx, parent, made, subscriptionTo, func(tx Tx) error { return s.p.holdEncryption(ctx, tx) })
	if err != nil {
		return nil, err
	}
	shown := *made
	shown.Secret = secret
	return &shown, nil
}

// Delete ends a subscription.
func (s Subscriptions) Delete(ctx context.Context, uid UID) error { return s.remove(ctx, uid) }

// secretOverlap is how long a secret still signs after its successor was made.
const secretOverlap = 24 * time.Hour

// testEventType is of events that go to one subscription only, whatever it
// asks for.
const testEventType = eventPrefix + "events.subscription.test.v1"

// RotateSecret gives a subscription a new secret, which only this answer
// shows. For a day deliveries are signed with the one before too. It needs
// subscriptions.create.
func (s Subscriptions) RotateSecret(ctx context.Context, uid UID) (*Subscription, error) {
	secret := "whsec_" + newSecret()
	hidden, err := s.p.hide(secret, uid)
	if err != nil {
		return nil, err
	}
	rotated, err := s.steer(ctx, uid, "updated", func(tx Tx, sub *Subscription) ([]string, error) {
		sub.OldHiddenSecret, sub.OldSecretUntil = sub.HiddenSecret, At(s.p.now().Add(secretOverlap))
		sub.HiddenSecret = hidden
		return []string{"secret", "oldSecret"}, s.p.holdEncryption(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	rotated.Secret = secret
	return rotated, nil
}

// Enable lets a subscription that was disabled get events again, from now on.
// It needs subscriptions.create.
func (s Subscriptions) Enable(ctx context.Context, uid UID) (*Subscription, error) {
	return s.steer(ctx, uid, "updated", func(_ Tx, sub *Subscription) ([]string, error) {
		sub.FailingSince, sub.DisableTime, sub.DisableReason = Time{}, Time{}, ""
		return []string{"failingSince", "disableTime", "disableReason"}, nil
	})
}

// Test sends a subscription an event that says nothing, and gives its id. It
// needs subscriptions.create.
func (s Subscriptions) Test(ctx context.Context, uid UID) (eventID string, err error) {
	sub, err := s.steer(ctx, uid, "test", func(Tx, *Subscription) ([]string, error) { return nil, nil })
	if err != nil {
		return "", err
	}
	if !sub.DisableTime.IsZero() {
		return "", s.kind.in(blocked("SUBSCRIPTION_DISABLED", string(uid), "the subscription is disabled: "+sub.DisableReason))
	}
	e := s.p.event(ctx, s.kind.Event, "test", uid, uid.Parent(), sub)
	err = s.p.store.Write(ctx, func(tx Tx) error { tx.Record(e); return nil })
	return e.ID, err
}

// steer changes what no caller writes, for an event of verb; change names the
// fields.
func (s Subscriptions) steer(ctx context.Context, uid UID, verb string, change func(Tx, *Subscription) (fields []string, err error)) (*Subscription, error) {
	err := invalidUID("uid", uid)
	if err == nil {
		_, err = need(ctx, uid, s.kind.Create)
	}
	if err != nil {
		return nil, s.refused(ctx, verb, uid, err)
	}
	var sub *Subscription
	err = s.p.store.Write(ctx, func(tx Tx) error {
		if sub, err = s.locked(ctx, tx, uid); err != nil {
			return err
		}
		before := *sub
		fields, err := change(tx, sub)
		if err != nil || len(fields) == 0 {
			return err
		}
		sub.UpdateTime = s.p.now()
		if err := RowsOf[Subscription](tx).Update(ctx, sub, fields...); err != nil {
			return err
		}
		e := s.p.event(ctx, s.kind.Event, verb, uid, uid.Parent(), sub)
		e.Changes = listChanges(&before, sub, fields)
		tx.Record(e)
		return nil
	})
	return sub, s.kind.in(err)
}

// listChanges tells what people may know of an update of a subscription. Of a
// secret it tells only that there is a new one.
func listChanges(before, after *Subscription, fields []string) (changes []EventChange) {
	for _, field := range fields {
		switch field {
		case "secret":
			changes = append(changes, EventChange{Field: field})
		case "disableTime":
			changes = append(changes, changedTo(field, timeOrNil(before.DisableTime), timeOrNil(after.DisableTime)))
		case "disableReason":
			changes = append(changes, changedTo(field, before.DisableReason, after.DisableReason))
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

// secrets reveals what signs deliveries, the newest first.
func (s *Subscription) secrets(p *Platform) ([]string, error) {
	newest, err := p.reveal(s.HiddenSecret, s.UID)
	if err != nil || len(s.OldHiddenSecret) == 0 || !p.now().Before(s.OldSecretUntil.Time) {
		return []string{newest}, err
	}
	old, err := p.reveal(s.OldHiddenSecret, s.UID)
	return []string{newest, old}, err
}

const maxSinkBytes = 2048

// sink refuses sinks that no delivery may go to. What a name resolves to is
// checked again on every delivery.
func (v *violations) sink(sink string, o *Options) {
	u, err := url.Parse(sink)
	if sink == "" || len(sink) > maxSinkBytes || err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		switch {
		case sink == "":
			v.add("sink", "is required")
		case len(sink) > maxSinkBytes:
			v.add("sink", "must be at most %d bytes", maxSinkBytes)
		default:
			v.add("sink", "must be an https URL without user and fragment")
		}
		return
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	named := isListed(u.Hostname(), port, o.PrivateSinks)
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !named):
		v.add("sink", "must be an https URL")
	case named:
	case !publicHost(u.Hostname()):
		v.add("sink", "must be a host that is reachable from the internet")
	case port != "443" && !slices.Contains(o.SinkPorts, port):
		v.add("sink", "must name port 443 (or none), or a port that the operator of the service allows, not %s", port)
	}
}

// isListed reports whether a list of `host` and `host:port` names a host at a
// port.
func isListed(host, port string, list []string) bool {
	return slices.ContainsFunc(list, func(listed string) bool {
		only, at, err := net.SplitHostPort(listed)
		if err != nil {
			only, at = strings.Trim(listed, "[]"), port
		}
		return strings.EqualFold(only, host) && at == port
	})
}

// publicHost refuses what is not a public host by its spelling alone.
func publicHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return IsPublicAddress(ip)
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	// Other letters have an ASCII form; without it they could turn into any
	// of the names and addresses that are refused here.
	plain := func(label string) bool {
		return label != "" && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
	}
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || slices.ContainsFunc(labels, func(label string) bool { return !plain(label) }):
		return false
	case last == "localhost" || last == "internal":
		return false
	default:
		// Odd spellings of addresses: 127.1, 0x7f.0.0.1, 0177.0.0.1.
		return last[0] < '0' || last[0] > '9'
	}
}

// IsPublicAddress reports whether ip may be on the internet. What is dialed on a
// stranger's word must be.
func IsPublicAddress(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsValid() && ip.Zone() == "" && !slices.ContainsFunc(specialNetworks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// specialNetworks are those of the IANA special-purpose registries, and all of
// IPv6 outside of global unicast (2000::/3).
var specialNetworks = func() []netip.Prefix {
	var networks []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		networks = append(networks, netip.MustParsePrefix(s))
	}
	return networks
}()

// newSecret is 32 random bytes as Standard Webhooks writes them.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}
