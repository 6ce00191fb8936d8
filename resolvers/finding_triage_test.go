package resolvers

import (
	"fmt"
	"slices"
	"testing"
)

func TestFindingsAreUpdatedManyAtOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const update = `mutation($input: UpdateFindingsInput!) { updateFindings(input: $input) {
			updatedCount findings { vulnerabilityId state justification note expireTime dueTime assignee { uid } }
		} }`
		input := func(pairs ...any) map[string]any {
			given := map[string]any{}
			for i := 0; i < len(pairs); i += 2 {
				given[pairs[i].(string)] = pairs[i+1]
			}
			return given
		}
		identity := w.ask(`{ viewer { identities { uid } } }`).value("viewer.identities.0.uid")
		w.ask(update, "input", input("within", w.org, "where", input("vulnerabilityIds", []string{"GHSA-1"}), "state", "NOT_AFFECTED",
			"justification", "VULNERABLE_CODE_NOT_PRESENT", "note", "removed", "assignee", identity, "dueTime", "2030-01-01T00:00:00Z")).
			expect("updateFindings.updatedCount", 3).expect("updateFindings.findings.*.state", "NOT_AFFECTED NOT_AFFECTED NOT_AFFECTED").
			expect("updateFindings.findings.0.note", "removed").expect("updateFindings.findings.0.justification", "VULNERABLE_CODE_NOT_PRESENT").
			expect("updateFindings.findings.0.assignee.uid", identity).expect("updateFindings.findings.0.dueTime", "2030-01-01T00:00:00.000Z")
		w.sbom(w.checkout, 5, "", "left-pad@1.1.0")
		w.point(w.checkout, "older", 5)
		w.settle()
		w.ask(`{ findings(where: {states: [NOT_AFFECTED]}) { totalCount } findingSummary { open { total } notAffected { total critical } } }`).
			expect("findings.totalCount", 4).expect("findingSummary.notAffected.critical", 4).expect("findingSummary.open.total", 2)
		one := w.ask(`{ findings(where: {vulnerabilityIds: ["CVE-3"]}) { nodes { uid } } }`).value("findings.nodes.0.uid")
		w.ask(update, "input", input("uids", []any{one}, "state", "ACCEPTED", "expireTime", "2030-01-01T00:00:00Z", "note", "left out", "updateMask", []string{"state", "expireTime"})).
			expect("updateFindings.findings.*.state", "ACCEPTED").expect("updateFindings.findings.0.note", nil).
			expect("updateFindings.findings.0.expireTime", "2030-01-01T00:00:00.000Z")
		w.ask(update, "input", input("within", w.org, "where", input("uids", []any{one}), "state", "OPEN", "assignee", nil)).
			expect("updateFindings.findings.*.vulnerabilityId", "CVE-3").expect("updateFindings.findings.0.expireTime", nil)
		w.ask(update, "input", input("within", w.org, "where", input("packages", []any{}), "state", "OPEN")).expect("updateFindings.updatedCount", 0)
		for fields, given := range map[string]map[string]any{
			"uids":            input("state", "OPEN"),
			"background":      input("uids", []any{one}, "state", "OPEN", "background", true),
			"where":           input("within", w.org, "state", "OPEN"),
			"where.states":    input("within", w.org, "where", input("resolvedSince", "2020-01-01T00:00:00Z"), "state", "OPEN"),
			"where.uids":      input("within", w.org, "where", input("uids", []any{"x"}), "state", "OPEN"),
			"justification":   input("uids", []any{one}, "state", "NOT_AFFECTED"),
			"state":           input("uids", []any{one}, "state", "RESOLVED"),
			"updateMask":      input("uids", []any{one}, "updateMask", []string{"severity"}),
			"expireTime note": input("uids", []any{one}, "expireTime", "2030-01-01T00:00:00Z", "note", "a\x00b"),
			"assignee":        input("uids", []any{one}, "assignee", "x"),
		} {
			got := w.askAs(theOwner, update, "input", given)
			if named := got.violations(); named != fields {
				t.Errorf("%v: got the fields %q of %+v, want %q", given, named, got.Errors, fields)
			}
		}
		w.askAs("shopper", update, "input", input("uids", []any{one}, "state", "OPEN")).expectErrors("PERMISSION_DENIED updateFindings")
	})
}

func TestDecisionsInTheBackgroundAreOperations(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const update = `mutation($within: UID!) { updateFindings(input: {within: $within, where: {states: [OPEN]}, state: ACCEPTED, background: true}) {
			updatedCount findings { uid } operation { uid kind state parent { ... on Group { name } } }
		} }`
		uid := w.ask(update, "within", w.shop).expect("updateFindings.updatedCount", 0).expect("updateFindings.findings", []any{}).
			expect("updateFindings.operation.kind", "update/findings").expect("updateFindings.operation.parent.name", "shop").value("updateFindings.operation.uid")
		const read = `query($uid: UID!) { operation(uid: $uid) { done state records progressPercent response } }`
		oracle := w.handler.oracle
		w.handler.oracle = nil // The two would be asked at different times.
		for w.ask(read, "uid", uid).value("operation.done") != true {
		}
		w.handler.oracle = oracle
		w.ask(read, "uid", uid).expect("operation.state", "SUCCEEDED").expect("operation.records", 3).expect("operation.progressPercent", 100).expect("operation.response", map[string]any{"updatedCount": 3.0})
		w.askAs("shopper", update, "within", w.shop).expectErrors("PERMISSION_DENIED updateFindings")
		w.askAs("shopper", read, "uid", uid).expectErrors("PERMISSION_DENIED operation")
	})
}

func TestUpdatedFindingsAreInTheOrderOfTheirUIDs(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for n := 5; n < 13; n++ { // the UIDs of each batch begin anywhere
			w.sbom(w.checkout, n, "", "left-pad@1.1.0")
			w.point(w.checkout, fmt.Sprintf("older-%d", n), n)
			w.settle()
		}
		updated := w.ask(`mutation($input: UpdateFindingsInput!) { updateFindings(input: $input) { findings { uid } } }`,
			"input", map[string]any{"within": w.org, "where": map[string]any{}, "state": "ACCEPTED"}).value("updateFindings.findings").([]any)
		var uids []string
		for _, finding := range updated {
			uids = append(uids, finding.(map[string]any)["uid"].(string))
		}
		if len(uids) < 3 || !slices.IsSorted(uids) {
			t.Errorf("the findings are %v, want them sorted", uids)
		}
	})
}

func TestSubscriptionsHaveConditionsAboutFindings(t *testing.T) {
	eachShop(t, func(_ *testing.T, w *shop) {
		const create = `mutation($input: CreateSubscriptionInput!) { createSubscription(input: $input) { subscription { uid findings { minSeverity knownExploited withinUids } } } }`
		input := map[string]any{"parent": w.org, "sink": "https://a.example.com/", "findings": map[string]any{"minSeverity": "HIGH", "knownExploited": true, "within": []any{w.shop}}}
		uid := w.ask(create, "input", input).expect("createSubscription.subscription.findings.minSeverity", "HIGH").value("createSubscription.subscription.uid")
		w.ask(`query($uid: UID!) { subscription(uid: $uid) { findings { minSeverity knownExploited withinUids within { ... on Group { name } } } } }`, "uid", uid).
			expect("subscription.findings.knownExploited", true).expect("subscription.findings.withinUids.0", string(w.shop)).expect("subscription.findings.within.*.name", "shop")
		w.ask(create, "input", map[string]any{"parent": w.org, "sink": "https://b.example.com/"}).expect("createSubscription.subscription.findings", nil)
		input["sink"], input["findings"] = "https://c.example.com/", map[string]any{"within": []any{w.shop}}
		w.ask(create, "input", input).expect("createSubscription.subscription.findings.minSeverity", nil)
	})
}

func TestFindingsAreDueByPolicy(t *testing.T) {
	eachShop(t, func(_ *testing.T, w *shop) {
		const set = `mutation($input: SetDuePolicyInput!) { setDuePolicy(input: $input) { policy { withinUid knownExploitedDays criticalDays highDays mediumDays lowDays } } }`
		w.ask(set, "input", map[string]any{"within": w.org, "criticalDays": 1, "knownExploitedDays": 3}).
			expect("setDuePolicy.policy", map[string]any{"withinUid": string(w.org), "knownExploitedDays": 3.0, "criticalDays": 1.0, "highDays": nil, "mediumDays": nil, "lowDays": nil})
		w.settle()
		w.ask(`query($shop: UID!) { duePolicy(within: $shop) { withinUid within { ... on Group { name } } criticalDays } }`, "shop", w.shop).expect("duePolicy.withinUid", string(w.org)).expect("duePolicy.within.name", "acme")
		critical := w.ask(`{ findings(where: {severities: [CRITICAL], dueBefore: "2130-01-01T00:00:00Z"}) { totalCount } }`).value("findings.totalCount")
		w.ask(`{ findings(where: {dueBefore: "2130-01-01T00:00:00Z"}, orderBy: {field: DUE}, first: 1) { totalCount nodes { dueTime } } findingSummary { overdue } }`).
			expect("findings.totalCount", critical).expect("findingSummary.overdue", 0)
		if critical == 0.0 {
			w.t.Error("no finding is due")
		}
		w.askAs("shopper", set, "input", map[string]any{"within": w.org}).expectErrors("PERMISSION_DENIED setDuePolicy")
		if named := w.askAs(theOwner, set, "input", map[string]any{"within": w.org, "criticalDays": 0, "lowDays": 4000}).violations(); named != "criticalDays lowDays" {
			w.t.Errorf("the error names %q", named)
		}
		w.ask(set, "input", map[string]any{"within": w.org}).expect("setDuePolicy.policy", nil)
		w.settle()
		w.ask(`{ findings(where: {dueBefore: "2130-01-01T00:00:00Z"}) { totalCount } }`).expect("findings.totalCount", 0)
	})
}

func TestRulesOfAcceptanceAreShownBeforeTheyAreMade(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		where := map[string]any{"maxSeverity": "CRITICAL", "ecosystems": []any{"npm"}, "packages": []any{"left-pad", "left-pad"}}
		const preview = `query($within: UID!, $where: AcceptanceConditionsInput!) { acceptanceRulePreview(within: $within, where: $where, first: 1) {
			totalCount nodes { package state } pageInfo { hasNextPage } facets { severities { value count } }
		} }`
		shown := w.ask(preview, "within", w.org, "where", where).expect("acceptanceRulePreview.nodes.*.package", "left-pad").
			expect("acceptanceRulePreview.facets.severities.0.value", "CRITICAL")
		total := shown.value("acceptanceRulePreview.totalCount")
		const create = `mutation($input: CreateAcceptanceRuleInput!) { createAcceptanceRule(input: $input) { rule {
			uid withinUid within { ... on Group { name } } note expireTime where { maxSeverity epssBelow withoutFix packages ecosystems labels { key value } includeKnownExploited }
		} } }`
		input := map[string]any{"within": w.org, "where": where, "note": "only in tests", "expireTime": "2130-01-01T00:00:00Z"}
		uid := w.ask(create, "input", input).expect("createAcceptanceRule.rule.withinUid", string(w.org)).expect("createAcceptanceRule.rule.within.name", "acme").expect("createAcceptanceRule.rule.note", "only in tests").
			expect("createAcceptanceRule.rule.where.packages", []any{"left-pad"}).expect("createAcceptanceRule.rule.where.maxSeverity", "CRITICAL").
			expect("createAcceptanceRule.rule.where.withoutFix", false).expect("createAcceptanceRule.rule.where.labels", []any{}).
			value("createAcceptanceRule.rule.uid")
		w.settle()
		const list = `query($within: UID!) { acceptanceRules(within: $within) { uid acceptedCount } }`
		w.ask(list, "within", w.checkout).expect("acceptanceRules.0.uid", uid).expect("acceptanceRules.0.acceptedCount", total)
		w.ask(`{ findings(where: {states: [ACCEPTED]}) { totalCount nodes { note expireTime } } }`).expect("findings.totalCount", total).
			expect("findings.nodes.0.note", "only in tests").expect("findings.nodes.0.expireTime", "2130-01-01T00:00:00.000Z")
		w.ask(preview, "within", w.org, "where", where).expect("acceptanceRulePreview.totalCount", 0)
		const remove = `mutation($uid: UID!) { deleteAcceptanceRule(input: {uid: $uid}) { deletedUid } }`
		w.askAs("shopper", remove, "uid", uid).expectErrors("PERMISSION_DENIED deleteAcceptanceRule")
		w.ask(remove, "uid", uid).expect("deleteAcceptanceRule.deletedUid", uid)
		w.settle()
		w.ask(list, "within", w.checkout).expect("acceptanceRules", []any{})
		w.ask(`{ findings(where: {states: [ACCEPTED]}) { totalCount } }`).expect("findings.totalCount", 0)
		w.askAs(theOwner, remove, "uid", uid).expectErrors("NOT_FOUND deleteAcceptanceRule")
		for fields, given := range map[string]map[string]any{
			"where": {}, "maxSeverity epssBelow": {"maxSeverity": "UNKNOWN", "epssBelow": 2}, "labels": {"labels": []any{map[string]any{"key": "a b"}}},
		} {
			got := w.askAs(theOwner, preview, "within", w.org, "where", given)
			if named := got.violations(); named != fields {
				t.Errorf("%v: got the fields %q of %+v, want %q", given, named, got.Errors, fields)
			}
		}
	})
}
