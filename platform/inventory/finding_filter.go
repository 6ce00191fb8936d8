package inventory

import (
	"fmt"
	"iter"
	"slices"

	"atrium/platform/core"
)

// Limits of the filters inside a filter.
const (
	maxFilterDepth = 3
	maxFilterParts = 20
)

// parts yields the filters inside a filter, with their places.
func (f *FindingFilter) parts() iter.Seq2[string, *FindingFilter] {
	return func(yield func(string, *FindingFilter) bool) {
		for i, part := range f.Or {
			if part != nil && !yield(fmt.Sprintf("or[%d]", i), part) {
				return
			}
		}
		if f.Not != nil {
			yield("not", f.Not)
		}
	}
}

// anyPart reports whether something is true of a filter inside, at any depth.
func (f *FindingFilter) anyPart(is func(*FindingFilter) bool) bool {
	for _, part := range f.parts() {
		if is(part) || part.anyPart(is) {
			return true
		}
	}
	return false
}

// ForCaller returns the filter with the identities of a caller in each part that asks for what is assigned to them.
func (f *FindingFilter) ForCaller(a *core.Actor) *FindingFilter {
	asks := func(f *FindingFilter) bool { return f.AssignedToMe != nil }
	if a == nil || !asks(f) && !f.anyPart(asks) {
		return f
	}
	own := *f
	own.Me, own.Or = a.Identities, slices.Clone(f.Or)
	for i, part := range f.Or {
		if part != nil {
			own.Or[i] = part.ForCaller(a)
		}
	}
	if f.Not != nil {
		own.Not = f.Not.ForCaller(a)
	}
	return &own
}

// checkParts checks the filters inside.
func (f *FindingFilter) checkParts(v *core.Violations) {
	n := 0
	if f.anyPart(func(*FindingFilter) bool { n++; return n > maxFilterParts }) {
		v.Add("or", "and not must have at most %d filters in all, with those inside of others", maxFilterParts)
		return
	}
	f.checkPartsAt(v, 1)
}

func (f *FindingFilter) checkPartsAt(v *core.Violations, depth int) {
	for place, part := range f.parts() {
		if depth > maxFilterDepth {
			v.Add(place, "is nested too deep: filters can be inside of others %d times", maxFilterDepth)
			return
		}
		var inside core.Violations
		part.checkConditions(&inside)
		if part.WithoutLiveTags {
			inside.Add("deprecatedTags", "must be given outside of or and not: it selects which findings the list contains")
		}
		if len(part.Among) > core.MaxIDs {
			inside.Add("uids", "must have at most %d items", core.MaxIDs)
		}
		for i, uid := range part.Among {
			inside.CheckUID(fmt.Sprintf("uids[%d]", i), uid)
		}
		part.checkPartsAt(&inside, depth+1)
		for _, x := range inside {
			v.Add(place+"."+x.Field, "%s", x.Description)
		}
	}
}
