package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A feed can confirm a record without changing it. What it said before that is older than the
// stored record.
func TestAnOlderRecordReplacesNoRecordThatTheFeedConfirmedLater(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		advisories := func(day int, author string) (core.Imported, error) {
			return w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
				{AdvisoryID: "GO-1", ArtifactName: "a", Author: author, UpdateTime: onDay(day)}, {AdvisoryID: "GO-1", ArtifactName: "b", Author: author, UpdateTime: onDay(day)},
			})
		}
		vulnerabilities := func(day int, summary string) (core.Imported, error) {
			return w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{
				{ID: "GO-1", Summary: summary, UpdateTime: onDay(day)}, {ID: "GO-2", Summary: summary, UpdateTime: onDay(day)},
			})
		}
		for kind, put := range map[string]func(day int, text string) (core.Imported, error){"advisories": advisories, "vulnerabilities": vulnerabilities} {
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
			var trace core.Trace
			ctx := core.WithTrace(w.operator(), &trace)
			_, err := w.p.Feeds.ImportAdvisories(ctx, acme.uid, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a", UpdateTime: onDay(day)}})
			must(t, err)
			_, err = w.p.Feeds.ImportVulnerabilities(ctx, []*inventory.Vulnerability{{ID: "GO-1", UpdateTime: onDay(day)}})
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

// Terminals and pages show the texts of feeds and images.
func TestImportsRejectTextsThatOtherResourcesMayNotHave(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		text := func(n int) string { return strings.Repeat("x", n) }
		many := slices.Repeat([]string{"a"}, 20_001)
		vulnerabilities, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{
			{ID: "V\n\x1b[31mred"}, {ID: "V-1", Aliases: []string{"CVE-1", ""}}, {ID: "V-2", Aliases: []string{"x\ny"}}, {ID: "V-3", Aliases: many},
			{ID: "V-4", Summary: text(4<<10 + 1), Details: text(256<<10 + 1)}, {ID: "V-5", Details: "\xff"}, {ID: "V-6", Severities: make([]inventory.Severity, 1001)},
			{ID: "V-7", Aliases: []string{"CVE-1"}, Summary: text(4 << 10), Details: text(256<<10-1) + "\n"},
		})
		expectImported(t, "vulnerabilities", vulnerabilities, err, mustSucceed(1, 0, 0, 7))
		if got, want := rejectedFields(vulnerabilities), "0: id, 1: aliases[1], 2: aliases[0], 3: aliases, 4: summary details, 5: details, 6: severities"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		advisories, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
			{AdvisoryID: "A-1", ArtifactName: "a", Aliases: []string{"x\ny"}}, {AdvisoryID: "A-2", ArtifactName: "a", ArtifactType: "a\x1b[31mb", Origin: "x\ny"},
			{AdvisoryID: "A-3", ArtifactName: "a", Aliases: many}, {AdvisoryID: "A-4", ArtifactName: "a", Aliases: []string{"CVE-1"}, ArtifactType: "Debian:12"},
		})
		expectImported(t, "advisories", advisories, err, mustSucceed(1, 0, 0, 3))
		if got, want := rejectedFields(advisories), "0: aliases[0], 1: artifactType origin, 2: aliases"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		repo := w.repo(acme.uid)
		image := func(n int, architecture, name string) *inventory.Image {
			return &inventory.Image{Repo: repo, Digest: digest(n), Architectures: []inventory.Architecture{{Name: architecture, Size: 1}}, Packages: []string{"bash", name}}
		}
		images, err := w.p.Registry.ImportImages(w.operator(), []*inventory.Image{
			image(1, "", "a"), image(2, "a\x1b[31mb", "a"), image(3, "amd64", ""), image(4, "amd64", "a\nb"), {Repo: repo, Digest: digest(5), Packages: many},
			{Repo: repo, Digest: digest(6), Architectures: []inventory.Architecture{{Name: "amd64", Size: -1}}}, image(7, "amd64", "ca-certificates"),
		})
		expectImported(t, "images", images, err, mustSucceed(1, 0, 0, 6))
		if got, want := rejectedFields(images), "0: architectures[0], 1: architectures[0], 2: packages[1], 3: packages[1], 4: packages, 5: architectures"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
