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

// versions are the versions of a package in the documents, sorted.
type versions []string

// writeMade writes records about every package of the documents into a folder, with ranges between its versions, and lists
// of them. They are the same in each run, because the numbers come from the names.
func writeMade(folder string, documents []document) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	packages := map[name]versions{}
	releases := map[name]string{}
	for _, d := range documents {
		for _, p := range d.Packages {
			n := name{ecosystemOf(p.Ecosystem), p.Name}
			if _, err := affected.Compare(p.Ecosystem, p.Version, p.Version); err != nil {
				continue
			}
			if !slices.Contains(packages[n], p.Version) {
				packages[n] = append(packages[n], p.Version)
			}
			releases[n] = p.Ecosystem
		}
	}
	sorted := slices.SortedFunc(maps.Keys(packages), func(a, b name) int { return cmp.Or(cmp.Compare(a.ecosystem, b.ecosystem), cmp.Compare(a.name, b.name)) })
	for i, n := range sorted {
		hash := fnv.New64()
		fmt.Fprint(hash, n)
		random := rand.New(rand.NewPCG(hash.Sum64(), 0))
		slices.SortFunc(packages[n], func(a, b string) int { c, _ := affected.Compare(n.ecosystem, a, b); return c })
		for part := range 3 {
			id := fmt.Sprintf("MADE-%d-%d", i, part)
			ecosystem := n.ecosystem
			if part == 1 {
				ecosystem = withSupport(releases[n])
			}
			text, err := json.Marshal(map[string]any{"id": id, "modified": "2026-01-01T00:00:00Z", "affected": []any{map[string]any{
				"package": map[string]string{"ecosystem": ecosystem, "name": n.name}, "ranges": packages[n].ranges(random), "versions": packages[n].pick(random),
			}}})
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

// ranges returns a range whose events are some of the versions, in any order.
func (v versions) ranges(random *rand.Rand) []affected.Range {
	var events []affected.Event
	begun := false
	for _, version := range v {
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
func (v versions) pick(random *rand.Rand) (some []string) {
	for _, version := range v {
		if random.IntN(8) == 0 {
			some = append(some, version)
		}
	}
	return some
}

// withSupport returns an ecosystem as OSV writes it: releases of Ubuntu with long-term support have a mark.
func withSupport(ecosystem string) string {
	if year, isSpring := strings.CutSuffix(strings.TrimPrefix(ecosystem, "Ubuntu:"), ".04"); isSpring && year != ecosystem && strings.IndexAny(year[len(year)-1:], "02468") == 0 {
		return ecosystem + ":LTS"
	}
	return ecosystem
}
