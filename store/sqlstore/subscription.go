package sqlstore

import (
	"context"

	"atrium/platform"
)

var subscriptions = newTable(&table[*platform.Subscription, *platform.SubscriptionFilter]{
	name:     "subscription",
	uid:      func(s *platform.Subscription) platform.UID { return s.UID },
	enclosed: parentUID,
	columns: []column[*platform.Subscription]{
		{"t.uid", "", func(s *platform.Subscription) any { return keyOf(&s.UID) }},
		{"t.sink", "", func(s *platform.Subscription) any { return &s.Sink }},
		{"t.types", "", func(s *platform.Subscription) any { return jsonOf(&s.Types) }},
		{"t.secret", "secret", func(s *platform.Subscription) any { return &s.EncryptedSecret }},
		{"t.old_secret", "oldSecret", func(s *platform.Subscription) any { return &s.OldEncryptedSecret }},
		{"t.old_secret_until", "oldSecret", func(s *platform.Subscription) any { return timeOf(&s.OldSecretUntil) }},
		{"t.failing_since", "failingSince", func(s *platform.Subscription) any { return timeOf(&s.FailingSince) }},
		{"t.disable_time", "disableTime", func(s *platform.Subscription) any { return timeOf(&s.DisableTime) }},
		{"t.disable_reason", "disableReason", func(s *platform.Subscription) any { return &s.DisableReason }},
		{"t.begin_event", "beginEvent", func(s *platform.Subscription) any { return &s.BeginEvent }},
		{"t.conditions", "conditions", func(s *platform.Subscription) any { return jsonOf(&s.Conditions) }},
		{"t.findings", "findings", func(s *platform.Subscription) any { return jsonOf(&s.Findings) }},
		{"t.create_time", "", func(s *platform.Subscription) any { return timeOf(&s.CreateTime) }},
		{"t.update_time", "", func(s *platform.Subscription) any { return timeOf(&s.UpdateTime) }},
	},
	where: func(f *platform.SubscriptionFilter, s *statement) {
		if f.Sink != "" {
			s.add(" AND t.sink = ?", f.Sink)
		}
		s.addChanged(&f.ChangeFilter)
	},
})

// ActiveSubscriptions reads the subscriptions of organisations that are not
// disabled, with the positions at which they begin.
func (queries) ActiveSubscriptions(ctx context.Context, on platform.Conn, roots []platform.UID) ([]*platform.Subscription, error) {
	s := tablesOf(on)
	var found []*platform.Subscription
	q := newStatement(s.dialect)
	q.add("SELECT "+subscriptions.projectAll().selected+" FROM subscription t WHERE t.disable_reason = '' AND t.root ?", uidValueList(roots))
	positions := map[platform.UID]*platform.EventPosition{}
	begin := newStatement(s.dialect).add("SELECT t.uid, e.xact, e.seq FROM subscription t JOIN event e ON e.id = t.begin_event WHERE t.disable_reason = '' AND t.root ?", uidValueList(roots))
	err := s.conn.Run(ctx, q.build(subscriptions.projectAll().collect(&found)), begin.build(func(scan func(...any) error) error {
		var uid platform.UID
		var at platform.EventPosition
		err := scan(keyOf(&uid), &at.Transaction, &at.Number)
		positions[uid] = &at
		return err
	}))
	for _, subscription := range found {
		subscription.Begin = positions[subscription.UID]
	}
	return found, err
}
