package platform_test

import (
	"fmt"
	"testing"

	"atrium/platform"
)

// A feed can confirm a record without changing it. What it said before that is older than the
// stored record.
func TestAnOlderRecordReplacesNoRecordThatTheFeedConfirmedLater(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		advisories := func(day int, author string) (platform.Imported, error) {
			return w.p.Advisories.Import(w.operator(), acme.uid, []*platform.Advisory{
				{AdvisoryID: "GO-1", ArtifactName: "a", Author: author, UpdateTime: onDay(day)}, {AdvisoryID: "GO-1", ArtifactName: "b", Author: author, UpdateTime: onDay(day)},
			})
		}
		vulnerabilities := func(day int, summary string) (platform.Imported, error) {
			return w.p.Vulnerabilities.Import(w.operator(), []*platform.Vulnerability{
				{ID: "GO-1", Summary: summary, UpdateTime: onDay(day)}, {ID: "GO-2", Summary: summary, UpdateTime: onDay(day)},
			})
		}
		for kind, put := range map[string]func(day int, text string) (platform.Imported, error){"advisories": advisories, "vulnerabilities": vulnerabilities} {
			for _, step := range []struct {
				day        int
				text, want string
			}{
				{1, "A", mustSucceed(2, 0, 0, 0)}, {3, "A", mustSucceed(0, 0, 2, 0)}, {2, "B", mustSucceed(0, 0, 2, 0)},
				{1, "A", mustSucceed(0, 0, 2, 0)}, {2, "B", mustSucceed(0, 0, 2, 0)}, {3, "B", mustSucceed(0, 2, 0, 0)},
			} {
				got, err := put(step.day, step.text)
				expectImported(t, fmt.Sprint(kind, " of day ", step.day), got, err, step.want)
			}
		}
	})
}

// Only the first of these imports raises the times.
func TestARepeatedImportOfAFeedWritesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		put := func(day int) int64 {
			var trace platform.Trace
			ctx := platform.WithTrace(w.operator(), &trace)
			_, err := w.p.Advisories.Import(ctx, acme.uid, []*platform.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a", UpdateTime: onDay(day)}})
			must(t, err)
			_, err = w.p.Vulnerabilities.Import(ctx, []*platform.Vulnerability{{ID: "GO-1", UpdateTime: onDay(day)}})
			must(t, err)
			return trace.Statements.Load()
		}
		put(1)
		later, again, older := put(2), put(2), put(1)
		if later-again != 2 || older != again {
			t.Errorf("%d statements for later records, %d for the same and %d for older ones, want 2 more for the first", later, again, older)
		}
	})
}
