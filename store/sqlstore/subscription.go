package sqlstore

import (
	"context"

	"atrium/platform"
	"atrium/store/sqlstore/table"
)

var subscriptions = table.New(&table.Definition[*platform.Subscription, *platform.SubscriptionFilter]{
	Name:   "subscription",
	UID:    func(s *platform.Subscription) platform.UID { return s.UID },
	LiesIn: parentUID,
	Columns: []table.Column[*platform.Subscription]{
		{SQL: "t.uid", To: func(s *platform.Subscription) any { return table.UIDOf(&s.UID) }},
		{SQL: "t.sink", To: func(s *platform.Subscription) any { return &s.Sink }},
		{SQL: "t.types", To: func(s *platform.Subscription) any { return table.JSONOf(&s.Types) }},
		{SQL: "t.secret", Field: "secret", To: func(s *platform.Subscription) any { return &s.EncryptedSecret }},
		{SQL: "t.old_secret", Field: "oldSecret", To: func(s *platform.Subscription) any { return &s.OldEncryptedSecret }},
		{SQL: "t.old_secret_until", Field: "oldSecret", To: func(s *platform.Subscription) any { return table.TimeOf(&s.OldSecretUntil) }},
		{SQL: "t.failing_since", Field: "failingSince", To: func(s *platform.Subscription) any { return table.TimeOf(&s.FailingSince) }},
		{SQL: "t.disable_time", Field: "disableTime", To: func(s *platform.Subscription) any { return table.TimeOf(&s.DisableTime) }},
		{SQL: "t.disable_reason", Field: "disableReason", To: func(s *platform.Subscription) any { return &s.DisableReason }},
		{SQL: "t.begin_event", Field: "beginEvent", To: func(s *platform.Subscription) any { return &s.BeginEvent }},
		{SQL: "t.conditions", Field: "conditions", To: func(s *platform.Subscription) any { return table.JSONOf(&s.Conditions) }},
		{SQL: "t.findings", Field: "findings", To: func(s *platform.Subscription) any { return table.JSONOf(&s.Findings) }},
		{SQL: "t.create_time", To: func(s *platform.Subscription) any { return table.TimeOf(&s.CreateTime) }},
		{SQL: "t.update_time", To: func(s *platform.Subscription) any { return table.TimeOf(&s.UpdateTime) }},
	},
	Where: func(f *platform.SubscriptionFilter, s *table.Statement) {
		if f.Sink != "" {
			s.Add(" AND t.sink = ?", f.Sink)
		}
		s.AddChanged(&f.ChangeFilter)
	},
})

// ActiveSubscriptions reads the subscriptions of organisations that are not
// disabled, with the positions at which they begin.
func (queries) ActiveSubscriptions(ctx context.Context, on platform.Conn, roots []platform.UID) ([]*platform.Subscription, error) {
	s := tablesOf(on)
	var found []*platform.Subscription
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT "+subscriptions.ProjectAll().Selected+" FROM subscription t WHERE t.disable_reason = '' AND t.root ?", table.UIDValues(roots))
	positions := map[platform.UID]*platform.EventPosition{}
	begin := table.NewStatement(s.Dialect).Add("SELECT t.uid, e.xact, e.seq FROM subscription t JOIN event e ON e.id = t.begin_event WHERE t.disable_reason = '' AND t.root ?", table.UIDValues(roots))
	err := s.Conn.Run(ctx, q.Build(subscriptions.ProjectAll().Collect(&found)), begin.Build(func(scan func(...any) error) error {
		var uid platform.UID
		var at platform.EventPosition
		err := scan(table.UIDOf(&uid), &at.Transaction, &at.Number)
		positions[uid] = &at
		return err
	}))
	for _, subscription := range found {
		subscription.Begin = positions[subscription.UID]
	}
	return found, err
}
