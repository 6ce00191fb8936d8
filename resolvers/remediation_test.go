package resolvers

import "testing"

func TestTimesToFixAreInTheGraph(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const activity = `query($org: UID!) { remediationActivity(within: $org, interval: DAY) {
			time opened { total critical } fixed { total } resolved { total } removed { total } timeToFix { rating count meanDays medianDays } timesToFix { rating }
		} }`
		w.ask(activity, "org", w.org).expect("remediationActivity.29.opened.total", 4).expect("remediationActivity.29.opened.critical", 2).
			expect("remediationActivity.28.opened.total", 0).expect("remediationActivity.29.timeToFix", nil).expect("remediationActivity.29.timesToFix", []any{})
		w.askAs("shopper", activity, "org", w.org).expect("remediationActivity.29.opened.total", 3)
		w.askAs("shopper", activity, "org", w.lab).expectErrors("PERMISSION_DENIED remediationActivity")
	})
}
