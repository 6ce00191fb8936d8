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

	EncryptedSecret    []byte `json:"-"` // the secret, encrypted
	OldEncryptedSecret []byte `json:"-"` // the previous secret, which also signs
	OldSecretUntil     Time   `json:"-"` // end of the previous secret's validity
}

// SubscriptionFilter restricts a list of subscriptions.
type SubscriptionFilter struct {
	Sink string `json:",omitempty"` // exact sink
}

func (f *SubscriptionFilter) check(v *violations) { v.checkFilter("sink", f.Sink) }

var subscriptionKind = Kind[*Subscription]{
	Name: "Subscription", Plural: "subscriptions", Area: areaEvents, Number: 9, Event: "events.subscription", Parent: "Group", LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted", "test", "disabled"},
	List:  CapSubscriptionsList, Create: CapSubscriptionsCreate, Delete: CapSubscriptionsDelete,
	Fields: []Field{
		{"uid", OutputOnly}, {"sink", AtCreation}, {"types", AtCreation}, {"secret", OutputOnly},
		{"createTime", OutputOnly}, {"updateTime", OutputOnly},
	},
	Required: []string{"sink"},
	Orders: []OrderField[*Subscription]{
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
	*resources[*Subscription, *SubscriptionFilter]
}

// newSubscriptions returns the operations, whose check of sinks follows the options of p.
func newSubscriptions(p *Platform) Subscriptions {
	kind := subscriptionKind
	kind.Check = func(s *Subscription, changed func(string) bool, v *violations) {
		if changed("sink") {
			v.checkSink(s.Sink, &p.options)
		}
		if changed("types") {
			v.checkEventTypes(s.Types)
			s.Types = fullEventTypes(s.Types)
		}
	}
	return Subscriptions{&resources[*Subscription, *SubscriptionFilter]{p, &kind}}
}

func subscriptionKeyFilter(s *Subscription) *SubscriptionFilter {
	return &SubscriptionFilter{Sink: s.Sink}
}

// Create makes a subscription. Only this response shows its secret.
func (s Subscriptions) Create(ctx context.Context, parent UID, in Input[*Subscription]) (*Subscription, error) {
	made, err := s.authorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.recordIfDenied(ctx, "created", parent, err)
	}
	secret := "whsec_" + newSecret()
	if made.EncryptedSecret, err = s.p.encryptSecret(secret, made.UID); err != nil {
		return nil, err
	}
	made, err = s.insert(ctx, parent, made, subscriptionKeyFilter, func(tx Tx) error { return s.p.lockEncryption(ctx, tx) })
	if err != nil {
		return nil, err
	}
	withSecret := *made
	withSecret.Secret = secret
	return &withSecret, nil
}

// Delete deletes a subscription.
func (s Subscriptions) Delete(ctx context.Context, uid UID) error {
	return s.removeChecked(ctx, uid, func(tx Tx, uid UID) error { return tx.Lock(ctx, uid) }) // no delivery ends meanwhile
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
	hidden, err := s.p.encryptSecret(secret, uid)
	if err != nil {
		return nil, err
	}
	rotated, err := s.updateInternal(ctx, uid, "updated", func(tx Tx, sub *Subscription) ([]string, error) {
		sub.OldEncryptedSecret, sub.OldSecretUntil = sub.EncryptedSecret, At(s.p.now().Add(secretOverlap))
		sub.EncryptedSecret = hidden
		return []string{"secret", "oldSecret"}, s.p.lockEncryption(ctx, tx)
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
	return s.updateInternal(ctx, uid, "updated", func(_ Tx, sub *Subscription) ([]string, error) {
		sub.FailingSince, sub.DisableTime, sub.DisableReason = Time{}, Time{}, ""
		return []string{"failingSince", "disableTime", "disableReason"}, nil
	})
}

// Test sends a test event to a subscription and returns its id. It needs
// subscriptions.create.
func (s Subscriptions) Test(ctx context.Context, uid UID) (eventID string, err error) {
	sub, err := s.updateInternal(ctx, uid, "test", func(Tx, *Subscription) ([]string, error) { return nil, nil })
	if err != nil {
		return "", err
	}
	if !sub.DisableTime.IsZero() {
		return "", s.kind.addArea(failedPrecondition("SUBSCRIPTION_DISABLED", string(uid), "the subscription is disabled: "+sub.DisableReason))
	}
	e := s.p.event(ctx, s.kind.Event, "test", uid, uid.Parent(), sub)
	err = s.p.store.Write(ctx, func(tx Tx) error { tx.Record(e); return nil })
	return e.ID, err
}

// updateInternal changes fields that clients cannot write, and records an event of
// verb. The function change sets the fields and returns their names.
func (s Subscriptions) updateInternal(ctx context.Context, uid UID, verb string, change func(Tx, *Subscription) (fields []string, err error)) (*Subscription, error) {
	err := invalidUID("uid", uid)
	if err == nil {
		_, err = require(ctx, uid, s.kind.Create)
	}
	if err != nil {
		return nil, s.recordIfDenied(ctx, verb, uid, err)
	}
	var sub *Subscription
	err = s.p.store.Write(ctx, func(tx Tx) error {
		if sub, err = s.getLocked(ctx, tx, uid); err != nil {
			return err
		}
		before := *sub
		fields, err := change(tx, sub)
		if err != nil || len(fields) == 0 {
			return err
		}
		sub.UpdateTime = s.p.now()
		if err := RowsOf[*Subscription](tx).Update(ctx, sub, fields...); err != nil {
			return err
		}
		e := s.p.event(ctx, s.kind.Event, verb, uid, uid.Parent(), sub)
		e.Changes = visibleChanges(&before, sub, fields)
		tx.Record(e)
		return nil
	})
	return sub, s.kind.addArea(err)
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
func (p *Platform) decryptSecrets(s *Subscription) ([]string, error) {
	newest, err := p.decryptSecret(s.EncryptedSecret, s.UID)
	if err != nil || len(s.OldEncryptedSecret) == 0 || !p.now().Before(s.OldSecretUntil.Time) {
		return []string{newest}, err
	}
	old, err := p.decryptSecret(s.OldEncryptedSecret, s.UID)
	return []string{newest, old}, err
}

const maxSinkBytes = 2048

// checkSink rejects sinks that deliveries must not be sent to. The addresses of a
// host are checked again on every delivery.
func (v *violations) checkSink(sink string, o *Options) {
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
	case !isPublicHost(u.Hostname()):
		v.add("sink", "must be a host that is reachable from the internet")
	case port != "443" && !slices.Contains(o.SinkPorts, port):
		v.add("sink", "must use port 443 or a port that the operator of the service allows, not %s", port)
	}
}

// isListed reports whether a list of `host` and `host:port` names a host at a
// port.
func isListed(host, port string, list []string) bool {
	return slices.ContainsFunc(list, func(listed string) bool {
		listedHost, listedPort, err := net.SplitHostPort(listed)
		if err != nil {
			listedHost, listedPort = strings.Trim(listed, "[]"), port
		}
		return strings.EqualFold(listedHost, host) && listedPort == port
	})
}

// isPublicHost reports whether a host can be public, judged by its name alone.
func isPublicHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return IsPublicAddress(ip)
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	// Non-ASCII letters could be converted into a name or address that is rejected
	// here. Such hosts must be given in their ASCII form.
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
		// This rejects unusual forms of addresses: 127.1, 0x7f.0.0.1, 0177.0.0.1.
		return last[0] < '0' || last[0] > '9'
	}
}

// IsPublicAddress reports whether ip can be on the internet. Addresses that come
// from clients must be public before the service connects to them.
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

// newSecret returns 32 random bytes in the form of Standard Webhooks.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}
