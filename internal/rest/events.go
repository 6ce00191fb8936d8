package rest

import (
	"atrium/platform"
)

func eventsRoutes(p *platform.Platform) []route {
	return []route{
		list("/events/v2/subscriptions", p.Subscriptions),
		get("/events/v2/subscriptions/{uid=**}", p.Subscriptions),
		create("/events/v2/subscriptions/{parent=**}", p.Subscriptions),
		remove("/events/v2/subscriptions/{uid=**}", p.Subscriptions),
	}
}
