package rest

import (
	"net/http"
	"slices"

	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// accessRoutes returns the routes about who may do what, the audit log, and the search.
func accessRoutes(p *platform.Platform) []route {
	const access, bindings, log = "/iam/v2/access", "/iam/v2/roleBindings", "/events/v2/events"
	w := wire.New(p)
	history := capabilityList(core.CapRoleBindingsList, core.CapGroupsUpdate)
	manage := capabilityList(core.CapSubscriptionsCreate)
	subscriptions := "/events/v2/subscriptions"
	return []route{
		listEffective("/iam/v2/effectiveRoleBindings/{group=**}", wire.EffectiveBindings{RoleBindings: p.RoleBindings}),
		ask("GetEffectiveCapabilities", access+":capabilities", w.GetEffectiveCapabilities, []filter[wire.GetEffectiveCapabilitiesRequest]{
			value("within", parseText[core.UID], func(q *wire.GetEffectiveCapabilitiesRequest) *core.UID { return &q.Within }).asRequired(),
			value("identity", parseText[core.UID], func(q *wire.GetEffectiveCapabilitiesRequest) *core.UID { return &q.Identity }),
		}),
		ask("GetAccessAt", access+":at", w.GetAccessAt, slices.Concat([]filter[wire.GetAccessAtRequest]{
			value("within", parseText[core.UID], func(q *wire.GetAccessAtRequest) *core.UID { return &q.Within }).asRequired(),
			value("time", core.ParseTime, func(q *wire.GetAccessAtRequest) *core.Time { return &q.Time }).asRequired(),
		}, pages(func(q *wire.GetAccessAtRequest) (*int, *string) { return &q.PageSize, &q.PageToken })), history...),
		ask("GetAccessChanges", access+":changes", w.GetAccessChanges, slices.Concat([]filter[wire.GetAccessChangesRequest]{
			value("within", parseText[core.UID], func(q *wire.GetAccessChangesRequest) *core.UID { return &q.Within }).asRequired(),
			value("from", core.ParseTime, func(q *wire.GetAccessChangesRequest) *core.Time { return &q.From }).asRequired(),
			value("to", core.ParseTime, func(q *wire.GetAccessChangesRequest) *core.Time { return &q.To }).asRequired(),
			value("identity", parseText[core.UID], func(q *wire.GetAccessChangesRequest) *core.UID { return &q.Identity }),
			value("actor", parseText[string], func(q *wire.GetAccessChangesRequest) *string { return &q.Actor }),
		}, pages(func(q *wire.GetAccessChangesRequest) (*int, *string) { return &q.PageSize, &q.PageToken })), history...),
		send("ConfirmRoleBindings", bindings+":confirm", w.ConfirmRoleBindings, core.CapRoleBindingsDelete),
		send("BatchDeleteRoleBindings", bindings+":batchDelete", w.BatchDeleteRoleBindings, core.CapRoleBindingsDelete),
		ask("Search", "/iam/v2/resources:search", w.Search, slices.Concat([]filter[wire.SearchRequest]{
			value("query", parseText[string], func(q *wire.SearchRequest) *string { return &q.Query }).asRequired(),
			values("kinds", parseText[core.SearchKind], func(q *wire.SearchRequest) *[]core.SearchKind { return &q.Kinds }),
			value("within", parseText[core.UID], func(q *wire.SearchRequest) *core.UID { return &q.Within }),
		}, pages(func(q *wire.SearchRequest) (*int, *string) { return &q.PageSize, &q.PageToken }))),

		ask("GetAuditLog", log, w.GetAuditLog, slices.Concat(
			auditFilters(func(q *wire.GetAuditLogRequest) *wire.AuditQuestion { return &q.AuditQuestion }),
			pages(func(q *wire.GetAuditLogRequest) (*int, *string) { return &q.PageSize, &q.PageToken })), core.CapGroupsUpdate),
		ask("GetAuditLogRuns", log+":runs", w.GetAuditLogRuns, slices.Concat(
			auditFilters(func(q *wire.GetAuditLogRunsRequest) *wire.AuditQuestion { return &q.AuditQuestion }, "within"),
			pages(func(q *wire.GetAuditLogRunsRequest) (*int, *string) { return &q.PageSize, &q.PageToken })), core.CapGroupsUpdate),
		ask("GetAuditLogSummary", log+":summarize", w.GetAuditLogSummary,
			auditFilters(func(q *wire.AuditQuestion) *wire.AuditQuestion { return q }, "within", "since"), core.CapGroupsUpdate),
		ask("GetEventActivity", log+":activity", w.GetEventActivity, append(intervals(func(q *wire.EventInterval) *wire.Interval { return &q.Interval }),
			values("kinds", parseText[string], func(q *wire.EventInterval) *[]string { return &q.Kinds })), core.CapGroupsUpdate),
		send("Redeliver", "/events/v2/deliveries:redeliver", w.Redeliver, manage...),
		send("RotateSubscriptionSecret", subscriptions+":rotateSecret", w.RotateSubscriptionSecret, manage...),
		send("EnableSubscription", subscriptions+":enable", w.EnableSubscription, manage...),
	}
}

// pages are the parameters of a page of a list without a total.
func pages[Q any](at func(*Q) (size *int, token *string)) []filter[Q] {
	return []filter[Q]{
		value("page_size", parseNumber, func(q *Q) *int { size, _ := at(q); return size }).withDefault(core.DefaultPageSize),
		value("page_token", parseOptional, func(q *Q) *string { _, token := at(q); return token }),
	}
}

// auditFilters are the parameters that say which events of the audit log are meant.
func auditFilters[Q any](at func(*Q) *wire.AuditQuestion, required ...string) []filter[Q] {
	filters := []filter[Q]{
		value("within", parseText[core.UID], func(q *Q) *core.UID { return &at(q).Within }),
		value("actor", parseText[string], func(q *Q) *string { return &at(q).Actor }),
		value("subject", parseText[core.UID], func(q *Q) *core.UID { return &at(q).Subject }),
		value("target", parseText[core.UID], func(q *Q) *core.UID { return &at(q).Target }),
		values("kinds", parseText[string], func(q *Q) *[]string { return &at(q).Kinds }),
		value("since", core.ParseTime, func(q *Q) *core.Time { return &at(q).Since }),
		value("until", core.ParseTime, func(q *Q) *core.Time { return &at(q).Until }),
		choice("denied", func(q *Q) **bool { return &at(q).Denied }),
	}
	for i, f := range filters {
		if slices.Contains(required, f.name) {
			filters[i] = f.asRequired()
		}
	}
	return filters
}

// choice is a parameter that is true or false. Without it, both match.
func choice[Q any](name string, at func(*Q) **bool) filter[Q] {
	return optional(name, parseBool, at)
}

// listEffective returns the route that lists the role bindings that count on the group in the path.
func listEffective(pattern string, bindings wire.EffectiveBindings) route {
	type (
		binding = iam.RoleBindingFilter
		listing = core.ListRequest[*binding]
	)
	kind := bindings.Kind()
	filters := slices.Concat([]filter[listing]{
		value("capability", parseCapability, func(l *listing) *core.Capability { return &l.Filter.Capability }),
		textFilter("identity", func(f *binding) *core.UID { return &f.Identity }),
		textFilter("role", func(f *binding) *core.UID { return &f.Role }),
	}, pagingFilters[*binding](kind))
	return route{
		name: "ListEffectiveRoleBindings", method: http.MethodGet, pattern: pattern, capabilities: kind.ReadCapabilities(), query: parametersOf(filters),
		answer: iam.RoleBinding{}, plural: kind.Plural, kind: factsOf(kind), reportsQuery: true,
		call: func(r *request) (any, error) {
			page, err := bindings.ListOn(r.Context(), r.uid(), listRequest(r, filters))
			return newEnvelope(kind.Plural, page), err
		},
	}
}

// parseCapability takes a capability by either of its names.
func parseCapability(s string) (core.Capability, error) { return core.ParseCapability(s) }
