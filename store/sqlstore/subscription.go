package sqlstore

import "atrium/platform"

var subscriptions = table[platform.Subscription, platform.SubscriptionFilter]{
	name: "subscription", number: 9,
	uid:      func(s *platform.Subscription) platform.UID { return s.UID },
	enclosed: parent,
	columns: []column[platform.Subscription]{
		{"t.uid", "", func(s *platform.Subscription) any { return (*string)(&s.UID) }},
		{"t.sink", "", func(s *platform.Subscription) any { return &s.Sink }},
		{"t.types", "", func(s *platform.Subscription) any { return jsonColumn{&s.Types} }},
		{"t.secret", "", func(s *platform.Subscription) any { return &s.HiddenSecret }},
		{"t.create_time", "", func(s *platform.Subscription) any { return timeColumn{&s.CreateTime} }},
		{"t.update_time", "", func(s *platform.Subscription) any { return timeColumn{&s.UpdateTime} }},
	},
	where: func(f platform.SubscriptionFilter, s *statement) {
		if f.Sink != "" {
			s.add(" AND t.sink = ?", f.Sink)
		}
	},
}
