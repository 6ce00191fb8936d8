package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A passingRecord is a record of a feed about a package of npm.
type passingRecord struct {
	of        string   // the package
	fixed     int      // earlier versions are affected
	upstream  []string // of a bundle
	withdrawn bool
}

// A heldImage is what is known of an image: the versions of packages, their names, or nothing.
type heldImage struct {
	versions map[string]int
	names    []string
}

// passingFacts are what findings follow from.
type passingFacts struct {
	tags    map[string]string // images as repo@digest, by repo:tag
	images  map[string]heldImage
	records map[string]passingRecord
}

func (f passingFacts) clone() passingFacts {
	return passingFacts{maps.Clone(f.tags), maps.Clone(f.images), maps.Clone(f.records)}
}

// counts reports whether findings follow from a record: it is not withdrawn, and it is no bundle of vulnerabilities that all have records.
func (f passingFacts) counts(r passingRecord) bool {
	return !r.withdrawn && (len(r.upstream) == 0 || slices.ContainsFunc(r.upstream, func(cve string) bool {
		for _, id := range []string{cve, "GHSA-" + strings.TrimPrefix(cve, "CVE-")} {
			if own, found := f.records[id]; found && !own.withdrawn && own.of == r.of {
				return false
			}
		}
		return true
	}))
}

// findings lists what is found, without the code that finds it.
func (f passingFacts) findings() map[string]bool {
	found := map[string]bool{}
	for _, image := range f.tags {
		repo, _, _ := strings.Cut(image, "@")
		held, isKnown := f.images[image]
		if !isKnown {
			held.names = []string{repo}
		}
		for id, r := range f.records {
			if !f.counts(r) {
				continue
			}
			vulnerability := strings.Replace(id, "GHSA-", "CVE-", 1)
			if slices.Contains(held.names, r.of) {
				found[fmt.Sprintf("%s: %s of %s@", image, vulnerability, r.of)] = true
			}
			if version, holds := held.versions[r.of]; holds && version < r.fixed {
				found[fmt.Sprintf("%s: %s of %s@1.%d.0", image, vulnerability, r.of, version)] = true
			}
		}
	}
	return found
}

// A passage imports at random, and looks after each transaction.
type passage struct {
	*testing.T
	p        *platform.Platform
	operator context.Context
	owner    context.Context
	group    core.UID
	random   *rand.Rand
	names    map[core.UID]string // of repos
	before   passingFacts
	running  []passingImport
	imports  int
	images   int
	bundles  int
	last     string // the event that was seen last
}

// A passingImport is one that runs.
type passingImport struct {
	kind   int
	change func(*passingFacts) // what it changes
}

// Vulnerabilities with numbers below bundledNumbers are in bundles. They and their bundles stay with a package, so that a feed that changes
// several of them passes through nothing that is neither before nor after it.
const bundledNumbers = 8

// packageNames are also names of repos, so that images of which nothing is known have findings.
var packageNames = []string{"a", "b", "c"}

func (w *passage) pick(from []string) string { return from[w.random.IntN(len(from))] }

// beside runs an import whose effect is known, while nothing or another one runs.
func (w *passage) beside(kind int, change func(*passingFacts), run func(destination) error, group core.UID) {
	w.running = append(w.running, passingImport{kind, change})
	d := newDestination(w.p, Options{Group: group}, core.ImportOptions{})
	d.writesAtOnce = false
	d.repos, d.tags, d.images = inParts(w, d.repos), inParts(w, d.tags), inParts(w, d.images)
	d.sboms, d.advisories, d.vulnerabilities = inParts(w, d.sboms), inParts(w, d.advisories), inParts(w, d.vulnerabilities)
	if err := run(d); err != nil {
		w.Error(err)
	}
	w.settle() // as commands do before they end
	w.running = w.running[:len(w.running)-1]
	change(&w.before)
}

// inParts returns a function that writes as another one does, in several transactions, and lets others go on after each.
func inParts[T any](w *passage, write func(context.Context, []T) (core.Imported, error)) func(context.Context, []T) (core.Imported, error) {
	return func(ctx context.Context, rows []T) (all core.Imported, err error) {
		for len(rows) > 0 && err == nil {
			n := 1 + w.random.IntN(min(3, len(rows)))
			var done core.Imported
			done, err = write(ctx, rows[:n])
			for _, reason := range done.Rejected {
				err = errors.Join(err, reason)
			}
			rows = rows[n:]
			w.goOn()
		}
		return all, err
	}
}

// goOn looks at findings as servers do, perhaps imports something else, and compares what can be seen.
func (w *passage) goOn() {
	if len(w.running) == 1 && w.random.IntN(6) == 0 {
		w.importOne()
	}
	switch w.random.IntN(3) {
	case 0:
		w.settle()
	case 1:
		if _, err := w.p.Findings.Reconcile(w.operator); err != nil {
			w.Error(err)
		}
	}
	w.look()
}

func (w *passage) settle() {
	if err := w.p.Findings.Settle(w.operator); err != nil {
		w.Error(err)
	}
}

// importOne imports what a feed, a registry or a document says. Of two at once, each is of another kind.
func (w *passage) importOne() {
	kind := w.random.IntN(3)
	if len(w.running) > 0 && w.running[0].kind == kind {
		return
	}
	w.imports++
	[]func(int){w.importFeed, w.importFile, w.importDocument}[kind](kind)
}

// importFeed imports records of a feed for all, or of one for the group. Each has records of its own.
func (w *passage) importFeed(kind int) {
	place := w.random.IntN(2)
	records, folder := map[string]passingRecord{}, w.TempDir()
	withdraws := w.random.IntN(4) == 0
	for range 1 + w.random.IntN(6) {
		number := 2*w.random.IntN(8) + place
		id, r := fmt.Sprint(w.pick([]string{"CVE-", "GHSA-"}), number), passingRecord{of: w.pick(packageNames), fixed: w.random.IntN(6), withdrawn: withdraws}
		if number < bundledNumbers {
			r.of = packageNames[number%2]
		}
		if !withdraws && w.random.IntN(3) == 0 {
			w.bundles++
			first := w.random.IntN(bundledNumbers)
			id, r.of = fmt.Sprint("DSA-", w.bundles), packageNames[first%2]
			r.upstream = []string{fmt.Sprint("CVE-", first), fmt.Sprint("CVE-", (first+2)%bundledNumbers)}
		}
		content := map[string]any{
			"id": id, "modified": fmt.Sprintf("2026-01-01T%02d:%02d:00Z", w.imports/60, w.imports%60), "severity": []any{map[string]string{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}},
			"affected": []any{map[string]any{"package": map[string]string{"ecosystem": "npm", "name": r.of}, "ranges": []any{map[string]any{"type": "SEMVER", "events": []any{map[string]string{"introduced": "0"}, map[string]string{"fixed": fmt.Sprintf("1.%d.0", r.fixed)}}}}}},
		}
		if content["upstream"] = r.upstream; strings.HasPrefix(id, "GHSA-") {
			content["aliases"] = []string{fmt.Sprint("CVE-", number)}
		}
		if r.withdrawn {
			content["withdrawn"] = content["modified"]
		}
		records[id] = r
		text, _ := json.Marshal(content) // it is made of texts
		write(w.T, filepath.Join(folder, id+".json"), string(text))
	}
	group := []core.UID{"", w.group}[place]
	w.beside(kind, func(f *passingFacts) { maps.Copy(f.records, records) }, func(d destination) error {
		_, err := importOSV(w.operator, d, []string{folder}, Options{Group: group})
		return err
	}, group)
}

// importFile imports a registry, in which tags move to images that are new or known.
func (w *passage) importFile(kind int) {
	lines := []string{}
	tags, images := map[string]string{}, map[string]heldImage{}
	for range 1 + w.random.IntN(4) {
		repo, name := w.pick(packageNames), w.pick([]string{"1", "2", "latest"})
		known := slices.DeleteFunc(slices.Sorted(maps.Keys(w.before.images)), func(image string) bool { return !strings.HasPrefix(image, repo+"@") })
		var image string
		if len(known) > 0 && w.random.IntN(3) == 0 {
			image = w.pick(known)
		} else {
			w.images++
			image = repo + "@" + digestOf(w.images)
			if held, line := w.describe(repo, digestOf(w.images)); line != "" {
				images[image], lines = held, append(lines, line)
			}
		}
		if tags[repo+":"+name] == "" {
			tags[repo+":"+name] = image
			lines = append(lines, fmt.Sprintf(`{"kind": "tag", "repo": %q, "name": %q, "digest": %q}`, repo, name, image[len(repo)+1:]))
		}
	}
	w.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	file := write(w.T, filepath.Join(w.TempDir(), "registry.jsonl"), strings.Join(lines, "\n"))
	w.beside(kind, func(f *passingFacts) { maps.Copy(f.tags, tags); maps.Copy(f.images, images) }, func(d destination) error {
		_, err := importRegistry(w.operator, d, file, Options{Group: w.group})
		return err
	}, w.group)
}

// describe makes up what is known of an image, and its line.
func (w *passage) describe(repo, digest string) (heldImage, string) {
	held, packages, known := heldImage{versions: map[string]int{}}, []string{}, w.random.IntN(5)
	if known == 0 {
		return held, ""
	}
	for _, name := range packageNames {
		switch version := w.random.IntN(6); {
		case w.random.IntN(2) == 0:
		case known == 1:
			held.names, packages = append(held.names, name), append(packages, name)
		default:
			held.versions[name], packages = version, append(packages, fmt.Sprintf("pkg:npm/%s@1.%d.0", name, version))
		}
	}
	if len(packages) == 0 {
		return held, ""
	}
	text, _ := json.Marshal(packages) // texts
	return held, fmt.Sprintf(`{"kind": "image", "repo": %q, "digest": %q, "packages": %s}`, repo, digest, text)
}

// importDocument replaces what an image holds.
func (w *passage) importDocument(kind int) {
	known := slices.Sorted(maps.Values(w.before.tags))
	if len(known) == 0 {
		return
	}
	image := w.pick(known)
	held, packages := heldImage{versions: map[string]int{}}, []string{}
	for _, name := range packageNames {
		held.versions[name] = w.random.IntN(6)
		packages = append(packages, fmt.Sprintf("%s@1.%d.0", name, held.versions[name]))
	}
	document := write(w.T, filepath.Join(w.TempDir(), "bom.json"), bom("", 0, packages...))
	w.beside(kind, func(f *passingFacts) { f.images[image] = held }, func(d destination) error {
		named, err := ParseImageName(image)
		if err != nil {
			return err
		}
		place, err := FindImage(w.operator, w.p, w.group, named, false)
		if err != nil {
			return err
		}
		_, err = importSBOM(w.operator, d, SBOMSource{Paths: []string{document}, Image: place}, Options{Group: w.group})
		return err
	}, w.group)
}

// describeFinding names a finding as passingFacts do.
func (w *passage) describeFinding(f *inventory.Finding) string {
	if w.names[f.Repo] == "" {
		page, err := w.p.Repos.List(w.operator, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: w.group}})
		if err != nil {
			w.Error(err)
		}
		for _, r := range page.Items {
			w.names[r.UID] = r.Name
		}
	}
	return fmt.Sprintf("%s@%s: %s of %s@%s", w.names[f.Repo], f.Digest, f.VulnerabilityID, f.Package, f.InstalledVersion)
}

// look compares what is shown, counted and sent with what is true now, or when some of the imports that run have ended.
func (w *passage) look() {
	states := []passingFacts{w.before}
	for _, running := range w.running {
		for _, state := range slices.Clone(states) {
			after := state.clone()
			running.change(&after)
			states = append(states, after)
		}
	}
	can := map[string]bool{}
	for _, state := range states {
		maps.Copy(can, state.findings())
	}
	shown := w.list()
	for finding := range shown {
		if !can[finding] {
			w.Errorf("import %d shows %s", w.imports, finding)
		}
	}
	if summary, err := w.p.Findings.Summarize(w.operator, w.group); err != nil || summary.Open.Total != int64(len(shown)) {
		w.Errorf("%d findings are shown, and %+v are counted (%v)", len(shown), summary, err)
	}
	for page := (events.AuditPage{HasNext: true}); page.HasNext; {
		var err error
		if page, err = w.p.AuditLog.List(w.owner, events.AuditRequest{Types: []string{"vulnerabilities.finding.opened"}, After: w.last}); err != nil {
			w.Error(err)
		}
		for _, e := range page.Items {
			var sent inventory.FindingChange
			if err := json.Unmarshal(e.Body, &sent); err != nil {
				w.Error(err)
			}
			w.last = e.ID
			for _, f := range sent.Findings {
				if is := w.describeFinding(f); !can[is] {
					w.Errorf("import %d sends %s", w.imports, is)
				}
			}
		}
	}
	if len(w.running) > 0 {
		return
	}
	if shown = w.list(); !maps.Equal(shown, can) {
		w.Errorf("after import %d there are %v, want %v", w.imports, slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(can)))
	}
}

func (w *passage) list() map[string]bool {
	page, err := w.p.Findings.List(w.operator, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: w.group}, PageSize: 500})
	if err != nil || page.TotalCount != int64(len(page.Items)) {
		w.Errorf("%d of %d findings: %v", len(page.Items), page.TotalCount, err)
	}
	shown := map[string]bool{}
	for _, f := range page.Items {
		shown[w.describeFinding(f)] = true
	}
	return shown
}

// What an import only passes through opens nothing, sends nothing and counts nowhere, whatever is imported beside it and whenever servers
// look. In the end there is exactly what follows from all that was imported.
func TestNoImportShowsWhatItOnlyPassesThrough(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		actor, err := p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
		if err != nil {
			t.Fatal(err)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		w := &passage{
			T: t, p: p, operator: operator, owner: core.WithActor(t.Context(), actor), group: org.Group.UID, random: rand.New(rand.NewPCG(seed, 0)), names: map[core.UID]string{},
			before: passingFacts{map[string]string{}, map[string]heldImage{}, map[string]passingRecord{}},
		}
		repos := make([]string, len(packageNames))
		for i, name := range packageNames {
			repos[i] = fmt.Sprintf(`{"kind": "repo", "name": %q}`, name)
		}
		if _, err := ImportRegistry(operator, p, write(t, filepath.Join(t.TempDir(), "repos.jsonl"), strings.Join(repos, "\n")), Options{Group: w.group}); err != nil {
			t.Fatal(err)
		}
		for w.imports < 80 && !t.Failed() {
			w.importOne()
			w.look()
		}
	})
}
