package inventory

import (
	"cmp"
	"slices"
	"strings"

	"atrium/platform/core"
)

// IsBundle reports whether the advisory has several upstream vulnerabilities. CVE-2023-4863 and UBUNTU-CVE-2023-4863 are one.
func (a *Advisory) IsBundle() bool {
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

// LinkNames lists the names that the advisory shares with others of the same vulnerability.
func (a *Advisory) LinkNames() []string {
	if a.IsBundle() {
		return a.Names()
	}
	return a.AllNames()
}

// IsAbove reports whether everybody who sees what is in a group, or in a repo, sees the advisories of another group.
func IsAbove(above, group core.UID) bool { return above == FeedGroup || group.Within(above) }

// knownName returns the name by which people know the vulnerability of advisories: the CVE, the first if there are several; or
// else that of GitHub; or else the id of the first advisory.
func knownName(all []*Advisory) string {
	var names []string
	for _, a := range all {
		names = append(names, a.LinkNames()...)
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
		if !a.IsBundle() {
			for _, name := range a.LinkNames() {
				recorded[AdvisoryName{name, a.ArtifactType, a.NormalName()}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(a *Advisory) bool {
		return latest[a.Key()] != a || a.IsBundle() && !slices.ContainsFunc(a.Upstream, func(name string) bool {
			return !recorded[AdvisoryName{name, a.ArtifactType, a.NormalName()}]
		})
	})
}
