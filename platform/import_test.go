package platform_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

func mustSucceed(added, updated, unchanged, rejected int) string {
	return fmt.Sprintf("%d added, %d updated, %d unchanged, %d rejected", added, updated, unchanged, rejected)
}

// expectImported expects these results of an import.
func expectImported(t *testing.T, what string, got core.Imported, err error, want string) {
	t.Helper()
	must(t, err)
	if s := mustSucceed(got.Added, got.Updated, got.Unchanged, len(got.Rejected)); s != want {
		t.Errorf("%s: %s, want %s: %v", what, s, want, got.Rejected)
	}
}

// rejectedFields returns the invalid fields of rejected records, by position.
func rejectedFields(got core.Imported) string {
	var all []string
	for i := range 20 {
		if err := got.Rejected[i]; err != nil {
			all = append(all, fmt.Sprintf("%d: %s", i, violationFields(err)))
		}
	}
	return strings.Join(all, ", ")
}

func onDay(day int) core.Time {
	return core.At(epoch.Add(time.Duration(day) * 24 * time.Hour))
}

func TestImportingAdvisoriesTwiceChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		records := func(day int, author string) []*inventory.Advisory {
			all := []*inventory.Advisory{
				{AdvisoryID: "GO-1", ArtifactName: "stdlib", Author: author, UpdateTime: onDay(day), CreateTime: onDay(0), Origin: "osv", Aliases: []string{"CVE-1", "GHSA-1"},
					Events: []inventory.AdvisoryEvent{
						{CreateTime: onDay(0), Author: "x", ReviewState: inventory.ReviewStateApproved, Fixed: &inventory.Fixed{FixedVersion: "1.2.3"}},
						{CreateTime: onDay(1), Detection: &inventory.Detection{Manual: &struct{}{}}}},
					Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N"}}},
				{AdvisoryID: "GO-1", ArtifactName: "toolchain", Author: author, UpdateTime: onDay(day)},
				{AdvisoryID: "GO-2", ArtifactName: "stdlib", Author: author, UpdateTime: onDay(day), ComponentName: "net/http", ArtifactArchitecture: "amd64", LegacyAdvisoryID: "old-2"},
			}
			for n := range 20 { // This number is inserted with COPY.
				all = append(all, &inventory.Advisory{AdvisoryID: fmt.Sprint("GO-X", n), ArtifactName: "x", Author: author, UpdateTime: onDay(day)})
			}
			return all
		}
		run := func(what string, group core.UID, rows []*inventory.Advisory, want string) {
			t.Helper()
			got, err := w.p.Feeds.ImportAdvisories(w.operator(), group, rows)
			expectImported(t, what, got, err, want)
		}
		before := len(w.events())
		run("first", acme.uid, records(2, "a"), mustSucceed(23, 0, 0, 0))
		all := core.ListRequest[*inventory.AdvisoryFilter]{UIDP: core.UIDFilter{ChildrenOf: acme.uid}, OrderBy: "uid"}
		first, err := w.p.Advisories.List(acme.owner, all)
		must(t, err)
		run("again", acme.uid, records(2, "a"), mustSucceed(0, 0, 23, 0))
		run("older, and other", acme.uid, records(1, "b"), mustSucceed(0, 0, 23, 0))
		second, err := w.p.Advisories.List(acme.owner, all)
		must(t, err)
		for i, a := range first.Items {
			if b := second.Items[i]; a.UID != b.UID || b.Author != "a" || a.UpdateTime != b.UpdateTime || a.CreateTime != b.CreateTime || len(a.Events) != len(b.Events) {
				t.Errorf("%+v became %+v, want Author 'a'", a, b)
			}
		}
		run("later, but the same", acme.uid, records(3, "a"), mustSucceed(0, 0, 23, 0))
		run("later, and other", acme.uid, records(4, "c"), mustSucceed(0, 23, 0, 0))
		run("that again", acme.uid, records(4, "c"), mustSucceed(0, 0, 23, 0))
		run("of the same day, and other", acme.uid, records(4, "d"), mustSucceed(0, 23, 0, 0))
		run("into another organization", other.uid, records(1, "b"), mustSucceed(23, 0, 0, 0))
		third, err := w.p.Advisories.List(acme.owner, all)
		must(t, err)
		for i, a := range third.Items {
			if a.UID != first.Items[i].UID || a.Author != "d" {
				t.Errorf("got %+v, want Author 'd'", a)
			}
		}
		if n := len(w.events()) - before; n != 0 {
			t.Errorf("%d events of a feed, want 0", n)
		}
		w.checkCounters()
	})
}

func TestAnImportUpdatesEveryChangedFieldOfAnAdvisory(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		a := inventory.Advisory{AdvisoryID: "GO-1", ArtifactName: "stdlib", UpdateTime: onDay(1)}
		put := func(what, want string, a inventory.Advisory) {
			t.Helper()
			got, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{&a})
			expectImported(t, what, got, err, want)
		}
		put("new", mustSucceed(1, 0, 0, 0), a)
		for what, change := range map[string]func(*inventory.Advisory){
			"author":       func(a *inventory.Advisory) { a.Author = "x" },
			"upstream":     func(a *inventory.Advisory) { a.Upstream = []string{"CVE-2"} },
			"related":      func(a *inventory.Advisory) { a.Related = []string{"CVE-3"} },
			"architecture": func(a *inventory.Advisory) { a.ArtifactArchitecture = "x" },
			"component":    func(a *inventory.Advisory) { a.ComponentName = "x" },
			"location":     func(a *inventory.Advisory) { a.ComponentLocation = "x" },
			"its type":     func(a *inventory.Advisory) { a.ComponentType = "x" },
			"legacy id":    func(a *inventory.Advisory) { a.LegacyAdvisoryID = "x" },
			"withdrawn":    func(a *inventory.Advisory) { a.DeleteTime = onDay(1) },
			"aliases":      func(a *inventory.Advisory) { a.Aliases = []string{"CVE-1"} },
			"severities":   func(a *inventory.Advisory) { a.Severities = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "x"}} },
			"origin":       func(a *inventory.Advisory) { a.Origin = "x" },
			"events": func(a *inventory.Advisory) {
				a.Events = []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1"}}}
			},
		} {
			change(&a)
			put("changed "+what, mustSucceed(0, 1, 0, 0), a)
			put("changed "+what+", again", mustSucceed(0, 0, 1, 0), a)
		}
	})
}

func TestInvalidRecordsAreRejectedByPlaceAndOthersStored(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		op, long := w.operator(), strings.Repeat("x", 256)
		random := incompressibleText(t, 8<<10) // larger than an entry of an index of PostgreSQL
		advisories, err := w.p.Feeds.ImportAdvisories(op, acme.uid, []*inventory.Advisory{
			{}, {AdvisoryID: "A", ArtifactName: "a"}, {AdvisoryID: "a\nb", ArtifactName: long}, {AdvisoryID: "B", ArtifactName: "a"}, {AdvisoryID: "A", ArtifactName: "a"},
			{AdvisoryID: "C", ArtifactName: "a", Aliases: []string{"", "CVE-1", random}}})
		expectImported(t, "advisories", advisories, err, mustSucceed(2, 0, 0, 4))
		if got := rejectedFields(advisories); got != "0: advisoryId artifactName, 2: advisoryId artifactName, 4: name, 5: aliases[0]" {
			t.Errorf("got %v, want '0: advisoryId artifactName, 2: advisoryId artifactName, 4: name, 5: aliases[0]'", got)
		}
		vulnerabilities, err := w.p.Feeds.ImportVulnerabilities(op, []*inventory.Vulnerability{{ID: "A", Aliases: []string{"CVE-A"}}, {}, {ID: long}, {ID: "A"}, {ID: "B"}, {ID: "C", Aliases: []string{random}}})
		expectImported(t, "vulnerabilities", vulnerabilities, err, mustSucceed(2, 0, 0, 4))
		if got := rejectedFields(vulnerabilities); got != "1: id, 2: id, 3: name, 5: aliases[0]" {
			t.Errorf("got %v, want '1: id, 2: id, 3: name, 5: aliases[0]'", got)
		}
		repo := func(name, description, readme string) *registry.ImportedRepo {
			return &registry.ImportedRepo{Repo: inventory.Repo{Name: name, Description: description}, Readme: readme}
		}
		repos := []*registry.ImportedRepo{repo("golang", "d", "# Go"), repo("Bad", "a\nb", "\xff"), repo("", "", ""), repo("golang", "", ""), repo("redis", "", "")}
		got, err := w.p.Registry.ImportRepos(op, acme.uid, repos, core.ImportOptions{})
		expectImported(t, "repos", got, err, mustSucceed(2, 0, 0, 3))
		if got := rejectedFields(got); got != "1: name description readme, 2: name, 3: name" {
			t.Errorf("got %v, want '1: name description readme, 2: name, 3: name'", got)
		}
		golang := repos[0].UID
		tags, err := w.p.Registry.ImportTags(op, []*registry.ImportedTag{
			{Repo: golang, Tag: inventory.Tag{Name: "1", Digest: digest(1)}}, {Repo: "x", Tag: inventory.Tag{Name: ".1", Digest: "y"}}, {Repo: golang, Tag: inventory.Tag{Name: "1", Digest: digest(2)}},
			{Repo: repos[4].UID, Tag: inventory.Tag{Name: "1", Digest: digest(1)}}}, core.ImportOptions{})
		expectImported(t, "tags", tags, err, mustSucceed(2, 0, 0, 2))
		if got := rejectedFields(tags); got != "1: repo name digest, 2: name" {
			t.Errorf("got %v, want '1: repo name digest, 2: name'", got)
		}
		images, err := w.p.Registry.ImportImages(op, []*inventory.Image{{Repo: golang, Digest: digest(1)}, {Repo: "x", Digest: "y"}, {Repo: golang, Digest: digest(1)}})
		expectImported(t, "images", images, err, mustSucceed(1, 0, 0, 2))
		if got := rejectedFields(images); got != "1: repo digest, 2: name" {
			t.Errorf("got %v, want '1: repo digest, 2: name'", got)
		}
		readme, err := w.p.Repos.Readme(acme.owner, golang)
		if err != nil || readme.Content != "# Go" {
			t.Errorf("got %+v (%v), want Content '# Go'", readme, err)
		}
		found, err := w.p.Vulnerabilities.Get(acme.owner, "CVE-A")
		if err != nil || found.ID != "A" {
			t.Errorf("got %+v (%v), want ID 'A'", found, err)
		}
		w.checkCounters()
	})
}

// A record with a missing repo is invalid.
func TestATagOfAMissingRepoIsRejectedAlone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		tag := func(repo core.UID, name string) *registry.ImportedTag {
			return &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: name, Digest: digest(1)}}
		}
		got, err := w.p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{tag(repo, "a"), tag(missingBelow(acme.uid), "b"), tag(repo, "c")}, core.ImportOptions{})
		expectImported(t, "tags", got, err, mustSucceed(2, 0, 0, 1))
		if got := rejectedFields(got); got != "1: repo" {
			t.Errorf("got %v, want '1: repo'", got)
		}
		images, err := w.p.Registry.ImportImages(w.operator(), []*inventory.Image{{Repo: missingBelow(acme.uid), Digest: digest(1)}, {Repo: repo, Digest: digest(1)}})
		expectImported(t, "images", images, err, mustSucceed(1, 0, 0, 1))
		if got := rejectedFields(images); got != "0: repo" {
			t.Errorf("got %v, want '0: repo'", got)
		}
		w.checkCounters()
	})
}

func TestImportingARegistryTwiceChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repos := func(readme string) []*registry.ImportedRepo {
			var all []*registry.ImportedRepo
			for n := range 20 {
				all = append(all, &registry.ImportedRepo{Repo: inventory.Repo{Name: fmt.Sprint("r", n), Description: "d", Aliases: []string{"x"}}, Readme: readme})
			}
			return all
		}
		run := func(what, want, events, readme string, o core.ImportOptions) []*registry.ImportedRepo {
			t.Helper()
			before, rows := w.events(), repos(readme)
			got, err := w.p.Registry.ImportRepos(w.operator(), acme.uid, rows, o)
			expectImported(t, what, got, err, want)
			if happened := since(w.events(), before); strings.Repeat(events+" ", len(happened)) != types(happened)+strings.Repeat(" ", min(1, len(happened))) || len(happened) > 0 != (events != "") {
				t.Errorf("%s: %s", what, types(happened))
			}
			return rows
		}
		first := run("first", mustSucceed(20, 0, 0, 0), "platform.registry.repo.created", "a", core.ImportOptions{})
		again := run("again", mustSucceed(0, 0, 20, 0), "", "a", core.ImportOptions{})
		run("changed", mustSucceed(0, 20, 0, 0), "platform.registry.repo.updated", "b", core.ImportOptions{})
		last := run("changed in silence", mustSucceed(0, 20, 0, 0), "", "c", core.ImportOptions{NoEvents: true})
		for i, r := range first {
			if r.UID != again[i].UID || r.UID != last[i].UID || r.UID.Parent() != acme.uid {
				t.Errorf("%s, %s and %s, want Parent %v", r.UID, again[i].UID, last[i].UID, acme.uid)
			}
		}
		tags := func(n, shift int) []*registry.ImportedTag {
			var all []*registry.ImportedTag
			for _, r := range first {
				for i := range n {
					all = append(all, &registry.ImportedTag{Repo: r.UID, Tag: inventory.Tag{Name: fmt.Sprint("t", i), Digest: digest(i + shift)}})
				}
			}
			return all
		}
		before := len(w.events())
		put := func(what, want string, n, shift, events int) {
			t.Helper()
			got, err := w.p.Registry.ImportTags(w.operator(), tags(n, shift), core.ImportOptions{})
			expectImported(t, what, got, err, want)
			if now := len(w.events()); now-before != events {
				t.Errorf("%s: %d events, want %d", what, now-before, events)
			}
			before = len(w.events())
		}
		put("new tags", mustSucceed(40, 0, 0, 0), 2, 0, 40)
		put("the same", mustSucceed(0, 0, 40, 0), 2, 0, 0)
		put("one more each", mustSucceed(20, 0, 40, 0), 3, 0, 20)
		put("moved", mustSucceed(0, 60, 0, 0), 3, 1, 60)
		page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{DescendantsOf: acme.uid}})
		if err != nil || page.TotalCount != 60 || slices.ContainsFunc(page.Items, func(tag *inventory.Tag) bool { return tag.Digest == digest(0) }) {
			t.Errorf("%d tags, want 60 (%v)", page.TotalCount, err)
		}
		w.checkCounters()
	})
}

// What all organizations share is imported by the operator, and what is in a group also by whoever holds the capability there.
func TestImportsNeedTheirCapabilityOrAnOperator(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		theirs := w.repo(other.uid)
		_, advisories := w.p.Feeds.ImportAdvisories(acme.owner, other.uid, nil)
		_, feed := w.p.Feeds.ImportAdvisories(acme.owner, "", nil)
		_, feedGroup := w.p.Feeds.ImportAdvisories(acme.owner, inventory.FeedGroup, nil)
		_, vulnerabilities := w.p.Feeds.ImportVulnerabilities(acme.owner, nil)
		_, repos := w.p.Registry.ImportRepos(acme.owner, other.uid, nil, core.ImportOptions{})
		_, tags := w.p.Registry.ImportTags(acme.owner, []*registry.ImportedTag{{Repo: theirs, Tag: inventory.Tag{Name: "a", Digest: digest(1)}}}, core.ImportOptions{})
		_, images := w.p.Registry.ImportImages(acme.owner, []*inventory.Image{{Repo: theirs, Digest: digest(1)}})
		_, sboms := w.p.Registry.ImportSBOMs(acme.owner, []*registry.ImportedSBOM{{Repo: w.repo(acme.uid), Digest: digest(1)}, {Repo: theirs, Digest: digest(1)}})
		_, rules := w.p.Findings.ImportRules(acme.owner, other.uid, nil)
		for what, err := range map[string]error{"feed": feed, "the group of feeds": feedGroup, "SBOMs": sboms, "VEX": rules} {
			expectRefused(t, what, err, core.CodePermissionDenied)
		}
		own := w.repo(acme.uid)
		if _, err := w.p.Registry.ImportSBOMs(acme.owner, []*registry.ImportedSBOM{{Repo: own, Digest: digest(1)}}); err != nil {
			t.Errorf("an SBOM of the own repo: %v", err)
		}
		if _, err := w.p.Registry.ImportRepos(acme.owner, acme.uid, nil, core.ImportOptions{}); err != nil {
			t.Errorf("repos of the own group: %v", err)
		}
		_, pruned := w.p.Registry.PruneTags(acme.owner, registry.RepoSource{Repo: w.repo(acme.uid), Source: hubApp}, nil, core.ImportOptions{})
		for what, err := range map[string]error{"advisories": advisories, "vulnerabilities": vulnerabilities, "repos": repos, "tags": tags, "images": images, "prune": pruned} {
			expectRefused(t, what, err, core.CodePermissionDenied)
		}
		_, err := w.p.Registry.ImportRepos(t.Context(), acme.uid, nil, core.ImportOptions{})
		expectRefused(t, "nobody", err, core.CodeUnauthenticated)
		_, err = w.p.Registry.ImportRepos(w.operator(), missingBelow(acme.uid), nil, core.ImportOptions{})
		expectRefused(t, "a missing group", err, core.CodeNotFound)
		_, err = w.p.Feeds.ImportAdvisories(w.operator(), "nonsense", nil)
		if got := violationFields(err); got != "group" {
			t.Errorf("got %v, want 'group'", got)
		}
	})
}

func TestTwoImportsOfTheSameAtOnceBothEndWell(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const imports, records = 4, 200
		var running sync.WaitGroup
		var added atomic.Int64
		for range imports {
			running.Go(func() {
				advisories := make([]*inventory.Advisory, records)
				for i := range advisories {
					advisories[i] = &inventory.Advisory{AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: "stdlib"}
				}
				done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, advisories)
				if err != nil || done.Added+done.Unchanged != records {
					t.Errorf("%+v, %v", done, err)
				}
				added.Add(int64(done.Added))
			})
		}
		running.Wait()
		if added.Load() != records {
			t.Errorf("%d were added, want %d", added.Load(), records)
		}
		w.checkCounters()
	})
}

// incompressibleText returns a text of n bytes that no compression makes shorter.
func incompressibleText(t *testing.T, n int) string {
	t.Helper()
	b := make([]byte, n/2)
	_, err := rand.Read(b)
	must(t, err)
	return hex.EncodeToString(b)
}
