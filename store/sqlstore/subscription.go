package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore/table"
)

var subscriptions = table.New(&table.Definition[*webhooks.Subscription, *webhooks.SubscriptionFilter]{
	Name:   "subscription",
	UID:    func(s *webhooks.Subscription) core.UID { return s.UID },
	LiesIn: parentUID,
	Columns: []table.Column[*webhooks.Subscription]{
		{SQL: "t.uid", To: func(s *webhooks.Subscription) any { return table.UIDOf(&s.UID) }},
		{SQL: "t.sink", To: func(s *webhooks.Subscription) any { return &s.Sink }},
		{SQL: "t.types", To: func(s *webhooks.Subscription) any { return table.JSONOf(&s.Types) }},
		{SQL: "t.format", To: func(s *webhooks.Subscription) any { return (*string)(&s.Format) }},
		{SQL: "t.digest", To: func(s *webhooks.Subscription) any { return (*string)(&s.Digest) }},
		{SQL: "t.secret", Field: "secret", To: func(s *webhooks.Subscription) any { return &s.EncryptedSecret }},
		{SQL: "t.old_secret", Field: "oldSecret", To: func(s *webhooks.Subscription) any { return &s.OldEncryptedSecret }},
		{SQL: "t.old_secret_until", Field: "oldSecret", To: func(s *webhooks.Subscription) any { return table.TimeOf(&s.OldSecretUntil) }},
		{SQL: "t.failing_since", Field: "failingSince", To: func(s *webhooks.Subscription) any { return table.TimeOf(&s.FailingSince) }},
		{SQL: "t.disable_time", Field: "disableTime", To: func(s *webhooks.Subscription) any { return table.TimeOf(&s.DisableTime) }},
		{SQL: "t.disable_reason", Field: "disableReason", To: func(s *webhooks.Subscription) any { return &s.DisableReason }},
		{SQL: "t.begin_event", Field: "beginEvent", To: func(s *webhooks.Subscription) any { return &s.BeginEvent }},
		{SQL: "t.conditions", Field: "conditions", To: func(s *webhooks.Subscription) any { return table.JSONOf(&s.Conditions) }},
		{SQL: "t.findings", Field: "findings", To: func(s *webhooks.Subscription) any { return table.JSONOf(&s.Findings) }},
		{SQL: "t.create_time", To: func(s *webhooks.Subscription) any { return table.TimeOf(&s.CreateTime) }},
		{SQL: "t.update_time", To: func(s *webhooks.Subscription) any { return table.TimeOf(&s.UpdateTime) }},
	},
	Where: func(f *webhooks.SubscriptionFilter, s *table.Statement) {
		if f.Sink != "" {
			s.Add(" AND t.sink = ?", f.Sink)
		}
		s.AddChanged(&f.ChangeFilter)
	},
})

// ActiveSubscriptions reads the subscriptions of organizations that are not
// disabled, with the positions at which they begin.
func (queries) ActiveSubscriptions(ctx context.Context, on core.Conn, roots []core.UID) ([]*webhooks.Subscription, error) {
	s := tablesOf(on)
	var found []*webhooks.Subscription
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT "+subscriptions.ProjectAll().Selected+" FROM subscription t WHERE t.disable_reason = '' AND t.root ?", table.UIDValues(roots))
	positions := map[core.UID]*core.EventPosition{}
	begin := table.NewStatement(s.Dialect).Add("SELECT t.uid, e.xact, e.seq FROM subscription t JOIN event e ON e.id = t.begin_event WHERE t.disable_reason = '' AND t.root ?", table.UIDValues(roots))
	err := s.Conn.Run(ctx, q.Build(subscriptions.ProjectAll().Collect(&found)), begin.Build(func(scan func(...any) error) error {
		var uid core.UID
		var at core.EventPosition
		err := scan(table.UIDOf(&uid), &at.Transaction, &at.Number)
		positions[uid] = &at
		return err
	}))
	for _, subscription := range found {
		subscription.Begin = positions[subscription.UID]
	}
	return found, err
}
