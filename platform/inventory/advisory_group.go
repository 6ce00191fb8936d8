package inventory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
)

// Feeds have several records of one vulnerability. Advisories about one package that share an id are of the same
// vulnerability: their own ids, aliases, and the upstream id if there is only one. Related ids say nothing. One of them
// represents all: findings are about that one, so that a vulnerability counts once.
//
// An advisory is only represented by one that everybody sees who sees it: of its own group, of a group above, or of
// FeedGroup. So no advisory of a group changes what others take for the same.
//
// An advisory with several upstream vulnerabilities is a bundle, such as DSA-5532-1. It is of no vulnerability but its own,
// and counts only until each of these has a record of its own.

// These bound what is taken for the same vulnerability.
const maxGroupRounds, maxGroupNames = 4, 20_000

// isBundle reports whether the advisory has several upstream vulnerabilities. CVE-2023-4863 and UBUNTU-CVE-2023-4863 are one.
func (a *Advisory) isBundle() bool {
	first := ""
	for _, name := range a.Upstream {
		if at := strings.Index(name, "CVE-"); at > 0 {
			name = name[at:]
		}
		if first == "" {
			first = name
		}
		if name != first {
			return true
		}
	}
	return false
}

// linkNames lists the names that the advisory shares with others of the same vulnerability.
func (a *Advisory) linkNames() []string {
	if a.isBundle() {
		return a.names()
	}
	return a.AllNames()
}

// isAbove reports whether everybody who sees what is in a group, or in a repo, sees the advisories of another group.
func isAbove(above, group core.UID) bool { return above == FeedGroup || group.Within(above) }

// group finds the representatives of the advisories in a group with one of names, and of those that are of the same
// vulnerabilities. Findings of bundles that have one of names are looked at again.
func (s Advisories) group(ctx context.Context, tx core.Tx, group core.UID, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	changed := slices.Clone(names)
	var found []*Advisory
	for round, known := 0, 0; round < maxGroupRounds && known < len(names) && len(names) <= maxGroupNames; round++ {
		known = len(names)
		var err error
		if found, err = s.area.tables.AdvisoriesOfVulnerabilities(ctx, tx, group, names); err != nil {
			return err
		}
		for _, a := range found {
			names = append(names, a.linkNames()...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	representatives, moved, tasks := findRepresentatives(found), []*Advisory{}, []FindingTask{}
	for _, a := range found {
		if is := representatives[a.UID]; is != a.Representative {
			tasks = append(tasks, FindingTask{Subject: a.UID, Advisory: a.UID}, FindingTask{Subject: a.Representative, Advisory: a.Representative})
			a.Representative = is
			moved = append(moved, a)
		}
		if a.isBundle() && slices.ContainsFunc(a.Upstream, func(name string) bool { return slices.Contains(changed, name) }) {
			tasks = append(tasks, FindingTask{Subject: a.UID, Advisory: a.UID})
		}
	}
	s.area.tables.SetRepresentatives(tx, moved)
	return s.area.tables.AddFindingTasks(ctx, tx, tasks)
}

// findRepresentatives returns the representative of each advisory. One stays what it is while it can, also when it is withdrawn:
// the findings of a vulnerability keep their UIDs.
func findRepresentatives(all []*Advisory) map[core.UID]core.UID {
	type place struct{ group, representative core.UID }
	found, claimed := make(map[core.UID]core.UID, len(all)), map[core.UID]bool{}
	named := map[string][]place{} // by package and name
	slices.SortFunc(all, func(a, b *Advisory) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), core.CompareTexts(a.UID.Parent(), b.UID.Parent()), a.CreateTime.Compare(b.CreateTime.Time), core.CompareTexts(a.UID, b.UID))
	})
	for len(all) > 0 {
		group := all[0].UID.Parent()
		end := slices.IndexFunc(all, func(a *Advisory) bool { return a.UID.Parent() != group })
		if end < 0 {
			end = len(all)
		}
		for _, same := range sameVulnerabilities(all[:end]) {
			representative := core.UID("")
			for _, a := range same {
				for _, name := range a.linkNames() {
					for _, above := range named[a.packageKey()+name] {
						if representative == "" && isAbove(above.group, group) {
							representative = above.representative
						}
					}
				}
			}
			if representative == "" {
				if representative = same[0].Representative; claimed[representative] || representative.Parent() != group {
					representative = same[0].UID
				}
				claimed[representative] = true
			}
			for _, a := range same {
				found[a.UID] = representative
				for _, name := range a.linkNames() {
					named[a.packageKey()+name] = append(named[a.packageKey()+name], place{group, representative})
				}
			}
		}
		all = all[end:]
	}
	return found
}

// depth sorts FeedGroup before groups, and these before the ones below them.
func depth(a *Advisory) int {
	if a.UID.Parent() == FeedGroup {
		return 0
	}
	return len(a.UID)
}

// packageKey is the same for advisories about one package, of any release.
func (a *Advisory) packageKey() string {
	ecosystem, _, _ := strings.Cut(a.ArtifactType, ":")
	return ecosystem + "\x00" + a.NormalName() + "\x00"
}

// sameVulnerabilities puts the advisories of a group together that are about one package and share names, directly or through
// others. They stay in their order.
func sameVulnerabilities(all []*Advisory) (sets [][]*Advisory) {
	first, parent := map[string]int{}, make([]int, len(all))
	find := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for i, a := range all {
		parent[i] = i
		for _, name := range a.linkNames() {
			key := a.packageKey() + name
			if other, known := first[key]; known {
				x, y := find(i), find(other)
				parent[max(x, y)] = min(x, y)
			} else {
				first[key] = i
			}
		}
	}
	at := map[int]int{}
	for i, a := range all {
		root := find(i)
		n, known := at[root]
		if !known {
			n = len(sets)
			at[root], sets = n, append(sets, nil)
		}
		sets[n] = append(sets[n], a)
	}
	return sets
}

// knownName returns the name by which people know the vulnerability of advisories: the CVE, the first if there are several; or
// else that of GitHub; or else the id of the first advisory.
func knownName(all []*Advisory) string {
	var names []string
	for _, a := range all {
		names = append(names, a.linkNames()...)
	}
	slices.Sort(names)
	for _, prefix := range []string{"CVE-", "GHSA-"} {
		if at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }); at >= 0 {
			return names[at]
		}
	}
	return all[0].AdvisoryID
}

// countingAdvisories returns those advisories that findings follow from: not those that are withdrawn, nor the older forms of
// what is in several places, nor bundles each of whose vulnerabilities has a record about the same package of the same release.
func countingAdvisories(all []*Advisory) []*Advisory {
	latest, recorded := map[AdvisoryName]*Advisory{}, map[AdvisoryName]bool{}
	for _, a := range all {
		if !a.DeleteTime.IsZero() {
			continue
		}
		if other := latest[a.Key()]; other == nil || cmp.Or(a.UpdateTime.Compare(other.UpdateTime.Time), core.CompareTexts(a.UID, other.UID)) > 0 {
			latest[a.Key()] = a
		}
		if !a.isBundle() {
			for _, name := range a.linkNames() {
				recorded[AdvisoryName{name, a.ArtifactType, a.NormalName()}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(a *Advisory) bool {
		return latest[a.Key()] != a || a.isBundle() && !slices.ContainsFunc(a.Upstream, func(name string) bool {
			return !recorded[AdvisoryName{name, a.ArtifactType, a.NormalName()}]
		})
	})
}
