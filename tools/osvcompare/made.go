package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atrium/platform/affected"
)

// A packageName is a name in an ecosystem, which has no release.
type packageName struct{ ecosystem, name string }

// packageVersions are the versions of a package, and an ecosystem of it with a release, if it has releases.
type packageVersions struct {
	release  string
	versions []string
}

// packagesOf returns the packages of documents, and their source packages.
func packagesOf(documents []*document) map[packageName]*packageVersions {
	packages := map[packageName]*packageVersions{}
	add := func(ecosystem, name, version string) {
		if _, err := affected.Compare(ecosystem, version, version); err != nil || name == "" || ecosystem == "" {
			return
		}
		key := packageName{withoutRelease(ecosystem), name}
		p := packages[key]
		if p == nil {
			p = &packageVersions{}
			packages[key] = p
		}
		if p.release = ecosystem; !slices.Contains(p.versions, version) {
			p.versions = append(p.versions, version)
		}
	}
	for _, d := range documents {
		for _, p := range d.Packages {
			add(p.Ecosystem, p.Name, p.Version)
			add(p.Ecosystem, p.SourceName, p.SourceVersion)
		}
	}
	return packages
}

// writeMade writes records about packages into a folder, with ranges between their versions, and lists of them. Some records
// about a package are of one vulnerability. They are the same in each run, because the numbers come from the names.
func writeMade(folder, prefix string, packages map[packageName]*packageVersions) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	sorted := slices.SortedFunc(maps.Keys(packages), func(a, b packageName) int {
		return cmp.Or(cmp.Compare(a.ecosystem, b.ecosystem), cmp.Compare(a.name, b.name))
	})
	for i, n := range sorted {
		hash := fnv.New64()
		fmt.Fprint(hash, n)
		random := rand.New(rand.NewPCG(hash.Sum64(), 0))
		versions := packages[n].versions
		slices.SortFunc(versions, func(a, b string) int {
			c, _ := affected.Compare(n.ecosystem, a, b)
			return cmp.Or(c, cmp.Compare(a, b))
		})
		versions = slices.CompactFunc(slices.Clone(versions), func(a, b string) bool { // the order of events at equal versions is not defined
			c, err := affected.Compare(n.ecosystem, a, b)
			return c == 0 && err == nil
		})
		for part := range 3 {
			id := fmt.Sprintf("%s-%d-%d", prefix, i, part)
			ecosystem := n.ecosystem
			if part == 1 {
				ecosystem = withSupport(packages[n].release)
			}
			record := map[string]any{"id": id, "modified": "2026-01-01T00:00:00Z", "affected": []any{map[string]any{
				"package": map[string]string{"ecosystem": ecosystem, "name": n.name}, "ranges": makeRanges(random, versions), "versions": pick(random, versions),
			}}}
			switch shared := []string{fmt.Sprintf("CVE-%s-%d", prefix, i)}; random.IntN(4) {
			case 0, 1:
				record["aliases"] = shared
			case 2:
				record["upstream"] = shared
			}
			text, err := json.Marshal(record)
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, id+".json"), text, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// makeRanges returns a range whose events are some of the versions, in any order.
func makeRanges(random *rand.Rand, versions []string) []affected.Range {
	var events []affected.Event
	begun := false
	for _, version := range versions {
		switch random.IntN(4) {
		case 0:
			if begun {
				events = append(events, affected.Event{Fixed: version})
			} else {
				events = append(events, affected.Event{Introduced: version})
			}
			begun = !begun
		case 1:
			if begun {
				events = append(events, affected.Event{LastAffected: version})
				begun = false
			}
		}
	}
	if random.IntN(2) == 0 || len(events) == 0 {
		events = append([]affected.Event{{Introduced: "0"}}, events...)
	}
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return []affected.Range{{Type: "ECOSYSTEM", Events: events}}
}

// pick returns some of the versions.
func pick(random *rand.Rand, versions []string) (some []string) {
	for _, version := range versions {
		if random.IntN(8) == 0 {
			some = append(some, version)
		}
	}
	return some
}

// withoutRelease returns the name of an ecosystem without its release.
func withoutRelease(ecosystem string) string {
	name, _, _ := strings.Cut(ecosystem, ":")
	return name
}

// withSupport returns an ecosystem as OSV writes it: releases of Ubuntu with long-term support have a mark.
func withSupport(ecosystem string) string {
	if year, isSpring := strings.CutSuffix(strings.TrimPrefix(ecosystem, "Ubuntu:"), ".04"); isSpring && year != ecosystem && strings.IndexAny(year[len(year)-1:], "02468") == 0 {
		return ecosystem + ":LTS"
	}
	return ecosystem
}
