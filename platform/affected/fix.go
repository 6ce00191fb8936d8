package affected

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// EarliestFix returns the earliest of the versions in which vulnerabilities are fixed that is known to be without all of them. Each of fixes
// has the versions in which one vulnerability is fixed: those of several branches, if there are several. A version between the fixes of two
// branches is without the vulnerability if it is in the branch of the earlier one. EarliestFix returns "" if there are no versions, and the
// first one if it can read none.
func EarliestFix(ecosystem string, fixes [][]string) string {
	candidates := parseFixes(ecosystem, fixes)
	if len(candidates) == 0 {
		return cmp.Or(slices.Concat(fixes...)...)
	}
	places := map[string]int{}
	for i, c := range candidates {
		places[c.text] = i
	}
	ordered := make([][]int, len(fixes))
	for i, versions := range fixes {
		for _, v := range versions {
			if place, isRead := places[v]; isRead {
				ordered[i] = append(ordered[i], place)
			}
		}
		slices.Sort(ordered[i])
	}
	for i, c := range candidates {
		if !slices.ContainsFunc(ordered, func(places []int) bool { return !isFixedAt(candidates, places, i) }) {
			return c.text
		}
	}
	return "" // The last candidate is not before any fix.
}

// A fixCandidate is a version in which a vulnerability is fixed.
type fixCandidate struct {
	text   string
	parsed semantic.Version
}

// parseFixes returns the versions that can be read, each once, in their order.
func parseFixes(ecosystem string, fixes [][]string) (candidates []fixCandidate) {
	order, seen := orderOf(ecosystem), map[string]bool{}
	for _, v := range slices.Concat(fixes...) {
		if seen[v] {
			continue
		}
		seen[v] = true
		if parsed, err := order.parse(v); err == nil {
			candidates = append(candidates, fixCandidate{v, parsed})
		}
	}
	slices.SortFunc(candidates, func(a, b fixCandidate) int {
		return cmp.Or(compareParsed(a.parsed, b.parsed), strings.Compare(a.text, b.text))
	})
	return candidates
}

// isFixedAt reports whether a candidate is known to be without a vulnerability that is fixed at places, which are sorted.
func isFixedAt(candidates []fixCandidate, places []int, at int) bool {
	after, isOne := slices.BinarySearch(places, at)
	switch {
	case isOne || after == len(places):
		return true
	case after == 0:
		return false
	default:
		text := candidates[at].text
		return partsInCommon(text, candidates[places[after-1]].text) > partsInCommon(text, candidates[places[after]].text)
	}
}

// partsInCommon counts the parts with which two versions begin alike: 6.5.3 and 6.5.9 have two in common.
func partsInCommon(a, b string) (n int) {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}
