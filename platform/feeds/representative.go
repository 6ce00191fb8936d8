package feeds

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
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

// group finds the representatives of the advisories in a group with one of names, and of those that are of the same
// vulnerabilities. Findings of bundles that have one of names are looked at again.
func (s *Feeds) group(ctx context.Context, tx core.Tx, group core.UID, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	changed := slices.Clone(names)
	var found []*inventory.Advisory
	for round, known := 0, 0; round < maxGroupRounds && known < len(names) && len(names) <= maxGroupNames; round++ {
		known = len(names)
		var err error
		if found, err = s.tables.AdvisoriesOfVulnerabilities(ctx, tx, group, names); err != nil {
			return err
		}
		for _, a := range found {
			names = append(names, a.LinkNames()...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	representatives, moved, tasks := findRepresentatives(found), []*inventory.Advisory{}, []inventory.FindingTask{}
	for _, a := range found {
		if is := representatives[a.UID]; is != a.Representative {
			tasks = append(tasks, inventory.FindingTask{Subject: a.UID, Advisory: a.UID}, inventory.FindingTask{Subject: a.Representative, Advisory: a.Representative})
			a.Representative = is
			moved = append(moved, a)
		}
		if a.IsBundle() && slices.ContainsFunc(a.Upstream, func(name string) bool { return slices.Contains(changed, name) }) {
			tasks = append(tasks, inventory.FindingTask{Subject: a.UID, Advisory: a.UID})
		}
	}
	s.tables.SetRepresentatives(tx, moved)
	return s.tables.AddFindingTasks(ctx, tx, tasks)
}

// findRepresentatives returns the representative of each advisory. One stays what it is while it can, also when it is withdrawn:
// the findings of a vulnerability keep their UIDs.
func findRepresentatives(all []*inventory.Advisory) map[core.UID]core.UID {
	type place struct{ group, representative core.UID }
	found, claimed := make(map[core.UID]core.UID, len(all)), map[core.UID]bool{}
	named := map[string][]place{} // by package and name
	slices.SortFunc(all, func(a, b *inventory.Advisory) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), core.CompareTexts(a.UID.Parent(), b.UID.Parent()), a.CreateTime.Compare(b.CreateTime.Time), core.CompareTexts(a.UID, b.UID))
	})
	for len(all) > 0 {
		group := all[0].UID.Parent()
		end := slices.IndexFunc(all, func(a *inventory.Advisory) bool { return a.UID.Parent() != group })
		if end < 0 {
			end = len(all)
		}
		for _, same := range sameVulnerabilities(all[:end]) {
			representative := core.UID("")
			for _, a := range same {
				for _, name := range a.LinkNames() {
					for _, above := range named[packageKey(a)+name] {
						if representative == "" && inventory.IsAbove(above.group, group) {
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
				for _, name := range a.LinkNames() {
					named[packageKey(a)+name] = append(named[packageKey(a)+name], place{group, representative})
				}
			}
		}
		all = all[end:]
	}
	return found
}

// depth sorts FeedGroup before groups, and these before the ones below them.
func depth(a *inventory.Advisory) int {
	if a.UID.Parent() == inventory.FeedGroup {
		return 0
	}
	return len(a.UID)
}

// packageKey is the same for advisories about one package, of any release.
func packageKey(a *inventory.Advisory) string {
	ecosystem, _, _ := strings.Cut(a.ArtifactType, ":")
	return ecosystem + "\x00" + a.NormalName() + "\x00"
}

// sameVulnerabilities puts the advisories of a group together that are about one package and share names, directly or through
// others. They stay in their order.
func sameVulnerabilities(all []*inventory.Advisory) (sets [][]*inventory.Advisory) {
	first, parent := map[string]int{}, make([]int, len(all))
	find := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for i, a := range all {
		parent[i] = i
		for _, name := range a.LinkNames() {
			key := packageKey(a) + name
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
