package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	osv "github.com/ossf/osv-schema/bindings/go/osvschema"
	"google.golang.org/protobuf/encoding/protojson"

	"atrium/internal/ingest"
	"atrium/platform/inventory"
)

// A record is one of OSV.
type record struct {
	id         string
	text       []byte
	advisories []*inventory.Advisory // as Atrium reads them
	osv        *osv.Vulnerability    // as osv-scanner reads it; nil if it cannot
}

// isMade reports whether the record is not of a feed.
func (r *record) isMade() bool {
	return strings.HasPrefix(r.id, "MADE-") || strings.HasPrefix(r.id, "IMAGE-")
}

// records are those of the feeds.
type records struct {
	byID   map[string]*record
	byName map[packageName][]*record // by what they are about; records that are withdrawn are not here
	byLink map[string][]string       // ids of records by the ids that they share with others
}

func readFeeds(ctx context.Context, feeds []string) (*records, error) {
	all := &records{map[string]*record{}, map[packageName][]*record{}, map[string][]string{}}
	o := ingest.Options{ReportProblem: func(at ingest.Place, reason error) { fmt.Fprintf(os.Stderr, "%s: %v\n", at, reason) }}
	err := ingest.ReadOSV(ctx, feeds, o, func(text []byte, advisories []*inventory.Advisory) error {
		if len(advisories) > 0 {
			all.byID[advisories[0].AdvisoryID] = &record{id: advisories[0].AdvisoryID, text: text, advisories: advisories}
		}
		return nil
	})
	for _, r := range all.byID {
		var is osv.Vulnerability
		if protojson.Unmarshal(r.text, &is) == nil {
			r.osv = &is
		}
		for _, name := range r.names(true) {
			all.byLink[name] = append(all.byLink[name], r.id)
		}
		for _, a := range r.advisories {
			if a.DeleteTime.IsZero() {
				n := nameOf(a.ArtifactType, a.ArtifactName)
				all.byName[n] = append(all.byName[n], r)
			}
		}
	}
	return all, err
}

// nameOf returns the normal name of a package.
func nameOf(ecosystem, name string) packageName {
	return packageName{withoutRelease(ecosystem), (&inventory.Advisory{ArtifactName: name, ArtifactType: ecosystem}).NormalName()}
}

// A place is a version of a package.
type place struct {
	packageName
	version string
}

// A match is a finding of Atrium for a package of a document.
type match struct {
	finding
	source bool // whether the finding is of the source of the package
}

// A foundPackage is what Atrium has of a package of a document.
type foundPackage struct {
	installed
	matches map[string]match // by the ids of the records
	groups  [][]string       // the ids of each finding
}

// arrange puts findings to the packages that they are about, by package URL. It also returns the findings of which there
// is no package.
func arrange(packages []installed, findings []finding) (found map[string]*foundPackage, lost []finding) {
	found = map[string]*foundPackage{}
	places := map[place][]string{}
	for _, p := range packages {
		key := purlKey(p.PURL)
		if found[key] == nil {
			found[key] = &foundPackage{installed: p, matches: map[string]match{}}
		}
		at := place{nameOf(p.Ecosystem, p.Name), p.Version}
		places[at] = append(places[at], key)
	}
	for _, f := range findings {
		at := map[string]bool{} // whether it is of the source
		for _, b := range f.BinaryPackages {
			for _, key := range places[place{nameOf(f.Ecosystem, b.Name), b.Version}] {
				at[key] = true
			}
		}
		for _, key := range places[place{nameOf(f.Ecosystem, f.Package), f.InstalledVersion}] {
			at[key] = false
		}
		if len(at) == 0 {
			lost = append(lost, f)
		}
		for key, source := range at {
			p := found[key]
			p.groups = append(p.groups, f.Sources)
			for _, id := range f.Sources {
				if _, known := p.matches[id]; !known || !source {
					p.matches[id] = match{f, source}
				}
			}
		}
	}
	return found, lost
}

// compareDocuments imports the documents, and compares what Atrium and osv-scanner find in them.
func compareDocuments(ctx context.Context, o options, w *world, oracle *oracle, records *records, documents []*document, feeds []string) error {
	to, err := w.newOrganization(ctx, "documents")
	if err != nil {
		return err
	}
	images, refused, err := to.importAll(ctx, rand.New(rand.NewPCG(o.seed, 1)), feeds, documents)
	if err != nil {
		return err
	}
	theirs, err := newScanner(o.keep, records, documents)
	if err != nil {
		return err
	}
	r := newReport(records, oracle)
	for _, d := range documents {
		at, isImported := images[d]
		if !isImported {
			r.refused.add(shorten(refused[d]), d.name)
			continue
		}
		packages, err := to.readPackages(ctx, at)
		if err != nil {
			return err
		}
		findings, err := to.readFindings(ctx, at)
		if err != nil {
			return err
		}
		if len(d.Packages) == 0 {
			r.refused.add("has no packages", d.name)
			continue
		}
		r.addDocument(d, packages)
		found, lost := arrange(d.addSpellings(packages), findings)
		for _, f := range lost {
			r.unexplained = append(r.unexplained, fmt.Sprintf("%s: a finding without its package: %s %s %v", d.name, f.Package, f.InstalledVersion, f.Sources))
		}
		r.compareOracle(d, found)
		if d.isEnvelope() {
			r.unread.add("is in a statement, an envelope or an answer of an API, which it does not open", d.name)
			continue
		}
		scanned, err := theirs.scan(d)
		if err != nil {
			r.unread.add(shorten(err.Error()), d.name)
			continue
		}
		r.compareScanner(d, found, scanned)
	}
	r.print()
	if len(r.unexplained) > 0 {
		return errDifferences
	}
	return nil
}

// counts counts things by their reasons, with the first of the examples of each.
type counts map[string]*struct {
	count   int
	example string
}

func (c counts) add(reason, example string) {
	if c[reason] == nil {
		c[reason] = &struct {
			count   int
			example string
		}{0, example}
	}
	c[reason].count++
	c[reason].example = min(c[reason].example, example)
}

func (c counts) total() (n int) {
	for _, one := range c {
		n += one.count
	}
	return n
}

// print prints the counts, the largest first.
func (c counts) print(withExamples bool) {
	for _, reason := range slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(cmp.Compare(c[b].count, c[a].count), cmp.Compare(a, b)) }) {
		fmt.Printf("%8d  %s\n", c[reason].count, reason)
		if withExamples {
			fmt.Printf("          such as %s\n", c[reason].example)
		}
	}
}

// A report counts what was compared.
type report struct {
	records *records
	oracle  *oracle

	documents, packages, compared int // compared is the number of documents that osv-scanner reads too
	generators                    counts
	refused, unread               counts // documents that Atrium, or osv-scanner, cannot read
	withoutFeed                   counts // documents by ecosystems that no record of a feed is about
	equal, equalMade              counts // by ecosystem
	groups                        int    // equal groups
	expected                      counts // results that are as the oracle expects, by its name
	reasons                       counts
	unexplained                   []string
}

func newReport(records *records, oracle *oracle) *report {
	return &report{
		records: records, oracle: oracle, generators: counts{}, refused: counts{}, unread: counts{}, withoutFeed: counts{}, equal: counts{}, equalMade: counts{},
		expected: counts{}, reasons: counts{},
	}
}

// addDocument counts a document that was imported.
func (r *report) addDocument(d *document, packages []installed) {
	r.documents++
	r.packages += len(packages)
	r.generators.add(cmp.Or(d.generator(), "not named, or not known"), d.name)
	ecosystems := map[string]bool{}
	for _, p := range packages {
		ecosystems[withoutRelease(p.Ecosystem)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(ecosystems)) {
		if name != "" && !r.records.hasFeed(name) {
			r.withoutFeed.add(name, d.name)
		}
	}
}

// hasFeed reports whether a record of a feed is about an ecosystem.
func (all *records) hasFeed(ecosystem string) bool {
	for n, about := range all.byName {
		if n.ecosystem == ecosystem && slices.ContainsFunc(about, func(r *record) bool { return !r.isMade() }) {
			return true
		}
	}
	return false
}

// compareScanner compares the findings of a document with those of osv-scanner.
func (r *report) compareScanner(d *document, found map[string]*foundPackage, scanned map[string]*scannedPackage) {
	r.compared++
	keys := maps.Clone(scanned)
	for key := range found {
		if keys[key] == nil {
			keys[key] = &scannedPackage{}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ours, theirs := found[key], keys[key]
		if ours == nil {
			ours = &foundPackage{}
		}
		both := map[string]bool{}
		for id, m := range ours.matches {
			switch {
			case theirs.ids[id]:
				both[id] = true
				r.countEqual(id, m.Ecosystem, d.name)
			default:
				r.explain(&difference{document: d, record: r.records.byID[id], key: key, ours: ours, match: &m, scanned: theirs, oracle: r.oracle})
			}
		}
		for id := range theirs.ids {
			if !both[id] {
				r.explain(&difference{document: d, record: r.records.byID[id], key: key, ours: ours, scanned: theirs, oracle: r.oracle})
			}
		}
		r.compareGroups(d, key, ours.groups, theirs.groups, both)
	}
}

func (r *report) countEqual(id, ecosystem, example string) {
	counts := r.equal
	if r.records.byID[id].isMade() {
		counts = r.equalMade
	}
	counts.add(withoutRelease(ecosystem), example)
}

// explain counts a difference by its reason.
func (r *report) explain(d *difference) {
	if reason := d.reason(); reason != "" {
		r.reasons.add(d.side()+reason, d.String())
		return
	}
	r.unexplained = append(r.unexplained, d.side()+d.String())
}

// compareGroups compares how the records of a package that both have found are put together.
func (r *report) compareGroups(d *document, key string, ours, theirs [][]string, both map[string]bool) {
	a, b := restrict(ours, both), restrict(theirs, both)
	for _, group := range slices.Sorted(maps.Keys(a)) {
		if b[group] {
			r.groups++
			continue
		}
		text := fmt.Sprintf("%s: %s: %s", d.name, key, group)
		if reason := r.records.whyGrouped(strings.Split(group, " ")); reason != "" {
			r.reasons.add("grouped otherwise: "+reason, text)
		} else {
			r.unexplained = append(r.unexplained, "grouped otherwise: "+text)
		}
	}
}

// restrict returns the groups as sorted texts, with only the ids that both have.
func restrict(groups [][]string, both map[string]bool) map[string]bool {
	texts := map[string]bool{}
	for _, group := range groups {
		group = slices.DeleteFunc(slices.Clone(group), func(id string) bool { return !both[id] })
		if slices.Sort(group); len(group) > 0 {
			texts[strings.Join(slices.Compact(group), " ")] = true
		}
	}
	return texts
}

// names returns the ids that a record shares with others of the same vulnerability.
func (r *record) names(withUpstream bool) []string {
	var is struct{ Aliases, Upstream []string }
	_ = json.Unmarshal(r.text, &is) // it was read before
	names := append([]string{r.id}, is.Aliases...)
	if withUpstream && len(is.Upstream) == 1 {
		names = append(names, is.Upstream...)
	}
	return names
}

// compareOracle compares the findings of a document with those that the oracle expects.
func (r *report) compareOracle(d *document, found map[string]*foundPackage) {
	sources := d.sources()
	for key, p := range found {
		source, isSource := sources[key] // of a package with the name of its source, the version of the source counts
		for _, about := range r.records.byName[nameOf(p.Ecosystem, p.Name)] {
			expected, isKnown := r.oracle.affects(about, p.Ecosystem, p.Name, cmp.Or(source, p.Version))
			if !isKnown {
				continue
			}
			m, has := p.matches[about.id]
			if is := has && (!m.source || isSource); is == expected {
				r.expected.add(r.oracle.nameOf(p.Ecosystem), d.name)
			} else {
				r.unexplained = append(r.unexplained, fmt.Sprintf("%s: %s expects %t of %s for %s, and Atrium says %t", d.name, r.oracle.nameOf(p.Ecosystem), expected, about.id, key, is))
			}
		}
	}
}

// maxPrinted is how many differences without a reason are printed.
const maxPrinted = 200

func (r *report) print() {
	fmt.Printf("\n%d documents with %d packages, of %d generators:\n", r.documents, r.packages, len(r.generators)-1)
	r.generators.print(false)
	fmt.Printf("%d documents are not imported, because each:\n", r.refused.total())
	r.refused.print(true)
	fmt.Printf("%d documents are compared with osv-scanner; %d it cannot read:\n", r.compared, r.unread.total())
	r.unread.print(true)
	fmt.Println("Documents with packages that no record of the feeds can be about, by ecosystem:")
	r.withoutFeed.print(false)
	fmt.Printf("%d results of %d records are equal: %d of feeds,\n", r.equal.total()+r.equalMade.total(), len(r.records.byID), r.equal.total())
	r.equal.print(false)
	fmt.Printf("and %d of records that are made:\n", r.equalMade.total())
	r.equalMade.print(false)
	fmt.Printf("%d vulnerabilities are put together from the same records\n", r.groups)
	fmt.Printf("%d results are as an oracle expects:\n", r.expected.total())
	r.expected.print(false)
	fmt.Printf("%d differences have a reason that is proven:\n", r.reasons.total())
	r.reasons.print(true)
	fmt.Printf("%d differences have no reason\n", len(r.unexplained))
	slices.Sort(r.unexplained)
	for _, difference := range r.unexplained[:min(maxPrinted, len(r.unexplained))] {
		fmt.Println(difference)
	}
}

// sameRelease reports whether a record can be about packages of an ecosystem: one of the two names no release, or both name the same.
func sameRelease(record, installed string) bool {
	_, a, _ := strings.Cut(strings.TrimSuffix(record, ":LTS"), ":")
	_, b, _ := strings.Cut(strings.TrimSuffix(installed, ":LTS"), ":")
	return a == "" || b == "" || a == b
}
