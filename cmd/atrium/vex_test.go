package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// A vexWorld is a database with an organization, a group, and two images whose packages have findings.
type vexWorld struct {
	*testing.T
	url         string
	p           *platform.Platform
	ctx         context.Context
	acme, group core.UID
	repo        core.UID
}

func newVEXWorld(t *testing.T, url string) *vexWorld {
	t.Helper()
	mustRun(t, url, "admin", "migrate", "up")
	w := &vexWorld{T: t, url: url, acme: core.UID(bootstrap(t, url)), ctx: core.WithActor(t.Context(), core.NewOperator("test"))}
	p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{})
	w.must(err)
	w.p = p
	group, err := p.Groups.Create(w.ctx, w.acme, fieldmask.TypedInput(&iam.Group{Name: "shop"}, "name"))
	w.must(err)
	repo, err := p.Repos.Create(w.ctx, group.UID, fieldmask.TypedInput(&inventory.Repo{Name: "checkout"}, "name"))
	w.must(err)
	w.group, w.repo = group.UID, repo.UID
	for i := range 2 {
		b := &registry.ImportedSBOM{Repo: repo.UID, Digest: vexDigest(i), Format: "CycloneDX 1.5"}
		for n := range 6 {
			b.Packages = append(b.Packages, inventory.InstalledPackage{Name: fmt.Sprintf("p%d", n), Version: fmt.Sprintf("1.%d.0", i), Ecosystem: "npm"})
		}
		_, err := p.Registry.ImportSBOMs(w.ctx, []*registry.ImportedSBOM{b})
		w.must(err)
		_, err = p.Tags.Create(w.ctx, repo.UID, fieldmask.TypedInput(&inventory.Tag{Name: fmt.Sprintf("t%d", i), Digest: vexDigest(i)}, "name", "digest"))
		w.must(err)
	}
	var all []*inventory.Advisory
	for n := range 6 {
		all = append(all, &inventory.Advisory{
			AdvisoryID: fmt.Sprintf("GHSA-%d", n), Aliases: []string{fmt.Sprintf("CVE-%d", n)}, ArtifactName: fmt.Sprintf("p%d", n), ArtifactType: "npm",
			Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "2.0.0"}}},
		})
	}
	_, err = p.Feeds.ImportAdvisories(w.ctx, w.acme, all)
	w.must(err)
	w.must(p.Findings.Settle(w.ctx))
	return w
}

func (w *vexWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func vexDigest(i int) string { return fmt.Sprintf("sha256:%064x", i+1) }

// states describes the findings.
func (w *vexWorld) states() string {
	w.Helper()
	page, err := w.p.Findings.List(w.ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: w.acme}})
	w.must(err)
	var all []string
	for _, f := range page.Items {
		all = append(all, fmt.Sprintf("%s %s %s %s %q %s", f.Digest[60:], f.Package, strings.TrimPrefix(string(f.State), "FINDING_STATE_"), f.Justification, f.Note, f.ExpireTime))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// decide decides about findings of the world as an operator.
func (w *vexWorld) decide(u inventory.FindingUpdate, change string) {
	w.Helper()
	u.Change = fieldmask.JSONInput[*inventory.Finding]([]byte(change), nil)
	_, err := w.p.Findings.Update(w.ctx, u)
	w.must(err)
	w.must(w.p.Findings.Settle(w.ctx))
}

func TestExportedDecisionsGiveTheSameStatesElsewhere(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newVEXWorld(t, url)
		for _, c := range []struct {
			within core.UID
			ids    []string
			change string
		}{
			{w.acme, []string{"CVE-0", "CVE-1", "CVE-2"}, `{"state": "FINDING_STATE_ACCEPTED", "note": "behind a proxy", "expireTime": "2099-01-01T00:00:00Z"}`},
			{w.group, []string{"GHSA-1"}, `{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "component_not_present"}`},
			{w.repo, []string{"GHSA-2"}, `{"state": "FINDING_STATE_OPEN"}`},
			{w.repo, []string{"CVE-3"}, `{"state": "FINDING_STATE_IN_TRIAGE", "note": "look at it"}`},
		} {
			w.decide(inventory.FindingUpdate{Within: c.within, Where: &inventory.FindingFilter{VulnerabilityIDs: c.ids}}, c.change)
		}
		page, err := w.p.Findings.List(w.ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: w.acme}, Filter: &inventory.FindingFilter{Packages: []string{"p0", "p4"}, Digests: []string{vexDigest(0)}}})
		w.must(err)
		for _, f := range page.Items {
			w.decide(inventory.FindingUpdate{UIDs: []core.UID{f.UID}}, `{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "inline_mitigations_already_exist", "note": "checked"}`)
		}
		// VEX has no patterns: what one has accepted is told finding by finding.
		_, err = w.p.Findings.AcceptByPattern(w.ctx, inventory.TriageRule{
			Scope: w.group, Pattern: &inventory.FindingPattern{Packages: []string{"p5"}}, Note: "only in tests", ExpireTime: core.At(time.Date(2099, 2, 3, 4, 5, 6, 0, time.UTC)),
		})
		w.must(err)
		w.must(w.p.Findings.Settle(w.ctx))
		want := w.states()
		if strings.Count(want, "OPEN") != 3 || strings.Count(want, "only in tests") != 2 || strings.Count(want, "checked") != 2 || strings.Count(want, "IN_TRIAGE") != 2 {
			t.Errorf("the states are\n%s", want)
		}
		for i, format := range []string{"openvex", "cyclonedx"} {
			for j, scope := range [][]string{{"--group", string(w.acme)}, {"--group", string(w.group)}} {
				file := filepath.Join(t.TempDir(), "a.json")
				if err := os.WriteFile(file, []byte(mustRun(t, w.url, append([]string{"admin", "export", "vex", "--format", format}, scope...)...)), 0o600); err != nil {
					t.Fatal(err)
				}
				other := newVEXWorld(t, "sqlite:"+filepath.Join(t.TempDir(), fmt.Sprintf("b%d%d.db", i, j)))
				mustRun(t, other.url, "import", "vex", "--group", string(other.acme), file)
				if got := other.states(); got != want {
					t.Errorf("%s of %s gives\n%s\nwant\n%s", format, scope, got, want)
				}
				again := strings.Fields(mustRun(t, other.url, "import", "vex", "--group", string(other.acme), file)) // after the names of the columns
				if !slices.Equal(again[4:6], []string{"0", "0"}) || again[6] == "0" || again[7] != "0" {
					t.Errorf("a second import says %s", again)
				}
			}
		}
		image := mustRun(t, w.url, "admin", "export", "vex", "--image", "acme/shop/checkout@"+vexDigest(0))
		if !strings.Contains(image, vexDigest(0)[7:]) || strings.Contains(image, vexDigest(1)[7:]) {
			t.Errorf("the document of an image is %s", image)
		}
	})
}

func TestVEXDocumentsBecomeDecisions(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newVEXWorld(t, url)
		file := filepath.Join(t.TempDir(), "a.json")
		document := func(at, status string) string {
			return fmt.Sprintf(`{"@context": "https://openvex.dev/ns/v0.2.0", "timestamp": %q, "version": 1, "statements": [
				{"vulnerability": {"name": "CVE-1"}, "products": [{"@id": "pkg:npm/p1@1.0.0"}], "status": %q, "justification": "component_not_present", "action_statement": "update"},
				{"vulnerability": {"name": "CVE-1"}, "products": [{"@id": "cpe:/a"}], "status": "fixed"}]}`, at, status)
		}
		importIt := func(at, status string, summary, message string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(document(at, status)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "import", "vex", "--group", string(w.group), file)
			expectSummary(t, out, summary)
			if err == nil || !strings.Contains(errOut, message) {
				t.Errorf("the import says %v\n%s", err, errOut)
			}
		}
		importIt("2026-02-01T00:00:00Z", "not_affected", "1 0 0 1 decisions", "a.json: statements[1].products[0]")
		if states := w.states(); strings.Count(states, "NOT_AFFECTED") != 1 || !strings.Contains(states, "p1 NOT_AFFECTED component_not_present") {
			t.Errorf("the states are\n%s", states)
		}
		importIt("2026-01-01T00:00:00Z", "affected", "0 0 1 1 decisions", "")
		importIt("2026-03-01T00:00:00Z", "under_investigation", "0 1 0 1 decisions", "")
		if states := w.states(); strings.Count(states, "IN_TRIAGE") != 1 {
			t.Errorf("the states are\n%s", states)
		}
		_, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "export", "vex")
		if err == nil || !strings.Contains(err.Error()+errOut, "either --group or --image") {
			t.Errorf("an export of nothing says %v", err)
		}
	})
}

// importVEX imports a document of OpenVEX with statements into a group, and returns what the command prints.
func (w *vexWorld) importVEX(group core.UID, statements string) string {
	w.Helper()
	file := filepath.Join(w.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte(`{"@context": "https://openvex.dev/ns/v0.2.0", "version": 1, "statements": [`+statements+`]}`), 0o600); err != nil {
		w.Fatal(err)
	}
	return mustRun(w.T, w.url, "import", "vex", "--group", string(group), file)
}

// notAffected lists the findings that are not affected, each with its image and its package.
func (w *vexWorld) notAffected() string {
	w.Helper()
	var all []string
	for line := range strings.Lines(w.states()) {
		if words := strings.Fields(line); words[2] == "NOT_AFFECTED" {
			all = append(all, words[0][7:]+" "+words[1])
		}
	}
	return strings.Join(all, ", ")
}

func TestStatementsNameVulnerabilitiesAndProductsAsTheirAuthorsDo(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newVEXWorld(t, url)
		want := ""
		for n, c := range []struct{ vulnerability, product, want string }{
			{`{"name": "GO-9", "aliases": ["CVE-0"]}`, `{"@id": "pkg:npm/p0"}`, "0001 p0, 0002 p0"},
			{`"CVE-1"`, `{"@id": "pkg:oci/checkout?repository_url=ghcr.io/acme/checkout"}`, "0001 p1, 0002 p1"},
			{`"CVE-2"`, `{"@id": "pkg:oci/checkout", "subcomponents": [{"@id": "pkg:npm/p2@1.1.0"}]}`, "0002 p2"},
			{`"CVE-3"`, `{"@id": "pkg:oci/out?repository_url=ghcr.io/acme/checkout/out"}`, ""},
			{`"CVE-4"`, `{"@id": "pkg:npm/p2@1.1.0", "subcomponents": [{"@id": "pkg:npm/p4"}]}`, "0002 p4"},
			{`"CVE-5"`, `{"@id": "pkg:npm/p2@9", "subcomponents": [{"@id": "pkg:npm/p5"}]}`, ""},
		} {
			out := w.importVEX(w.acme, fmt.Sprintf(`{"vulnerability": %s, "products": [%s], "status": "not_affected", "justification": "component_not_present"}`, c.vulnerability, c.product))
			var got []string
			for one := range strings.SplitSeq(w.notAffected(), ", ") {
				if strings.HasSuffix(one, fmt.Sprintf("p%d", n)) {
					got = append(got, one)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s in %s: %q, want %q", c.vulnerability, c.product, got, c.want)
			}
			if isWaiting := strings.Contains(out, "without a matching finding: 1;"); isWaiting != (c.want == "") {
				t.Errorf("%s in %s: the import says\n%s", c.vulnerability, c.product, out)
			}
			want = w.states()
		}
		for _, format := range []string{"openvex", "cyclonedx"} {
			file := filepath.Join(t.TempDir(), "b.json")
			if err := os.WriteFile(file, []byte(mustRun(t, w.url, "admin", "export", "vex", "--format", format, "--group", string(w.acme))), 0o600); err != nil {
				t.Fatal(err)
			}
			other := newVEXWorld(t, "sqlite:"+filepath.Join(t.TempDir(), format+".db"))
			if out := mustRun(t, other.url, "import", "vex", "--group", string(other.acme), file); other.states() != want || !strings.HasPrefix(strings.Join(strings.Fields(out)[4:], " "), "7 0 0 0") {
				t.Errorf("%s gives elsewhere\n%s\nwant\n%s\n%s", format, other.states(), want, out)
			}
		}
	})
}

// A statement can come before what it is about.
func TestStatementsApplyWhenWhatTheyAreAboutComes(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newVEXWorld(t, url)
		const status = `"status": "not_affected", "justification": "component_not_present"}`
		out := w.importVEX(w.acme, `{"vulnerability": {"name": "CVE-NEW", "aliases": ["GO-NEW"]}, `+status+`,
			{"vulnerability": "CVE-0", "products": ["pkg:npm/p0@9.9.9"], `+status+`,
			{"vulnerability": "CVE-1", "products": [{"@id": "pkg:oci/later", "subcomponents": [{"@id": "pkg:npm/p1"}]}], `+status+`,
			{"vulnerability": "CVE-2", "products": [{"@id": "pkg:npm/app", "subcomponents": [{"@id": "pkg:npm/p2"}]}], `+status+`,
			{"vulnerability": "CVE-3", "products": ["pkg:oci/image@`+vexDigest(9)+`"], `+status+`,
			{"vulnerability": "CVE-4", "products": ["pkg:npm/p4"], `+status)
		if !strings.Contains(out, "without a matching finding: 5;") || w.notAffected() != "0001 p4, 0002 p4" {
			t.Errorf("the import says\n%s\nand these are not affected: %s", out, w.notAffected())
		}
		_, err := w.p.Feeds.ImportAdvisories(w.ctx, w.acme, []*inventory.Advisory{{
			AdvisoryID: "GO-NEW", ArtifactName: "new", ArtifactType: "npm", Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "2.0.0"}}},
		}})
		w.must(err)
		later, err := w.p.Repos.Create(w.ctx, w.group, fieldmask.TypedInput(&inventory.Repo{Name: "later"}, "name"))
		w.must(err)
		b := &registry.ImportedSBOM{Repo: later.UID, Digest: vexDigest(9), Format: "CycloneDX 1.5"}
		for _, name := range []string{"app", "new", "p1", "p2", "p3", "p5"} {
			b.Packages = append(b.Packages, inventory.InstalledPackage{Name: name, Version: "1.0.0", Ecosystem: "npm"})
		}
		_, err = w.p.Registry.ImportSBOMs(w.ctx, []*registry.ImportedSBOM{b})
		w.must(err)
		_, err = w.p.Tags.Create(w.ctx, later.UID, fieldmask.TypedInput(&inventory.Tag{Name: "1", Digest: vexDigest(9)}, "name", "digest"))
		w.must(err)
		w.must(w.p.Findings.Settle(w.ctx))
		want := "0001 p4, 0002 p4, 000a new, 000a p1, 000a p2, 000a p3"
		if got := w.notAffected(); got != want {
			t.Errorf("these are not affected: %s, want %s", got, want)
		}
		_, err = w.p.Repos.Update(w.ctx, later.UID, fieldmask.TypedInput(&inventory.Repo{Name: "sooner"}, "name"))
		w.must(err)
		w.must(w.p.Findings.Settle(w.ctx))
		if got := w.notAffected(); got != strings.Replace(want, " 000a p1,", "", 1) {
			t.Errorf("after the repo has another name, these are not affected: %s", got)
		}
		w.decide(inventory.FindingUpdate{Within: w.acme, Where: &inventory.FindingFilter{VulnerabilityIDs: []string{"CVE-2"}}}, `{"state": "FINDING_STATE_OPEN"}`)
		if got := w.notAffected(); strings.Contains(got, "p2") {
			t.Errorf("after the decision is taken back, these are not affected: %s", got)
		}
	})
}
