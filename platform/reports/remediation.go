package reports

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A Remediation counts, for one interval, which vulnerabilities of packages in repos appeared, and which went. One counts once in
// a repo, from the first image that has it until the last.
type Remediation struct {
	Time     core.Time               `json:"time"`     // start of the interval
	Opened   inventory.SeverityCount `json:"opened"`   // appeared
	Fixed    inventory.SeverityCount `json:"fixed"`    // went, because an image without it came later
	Resolved inventory.SeverityCount `json:"resolved"` // went, because the advisory or the packages of the image were corrected
	Removed  inventory.SeverityCount `json:"removed"`  // went with the last image that had it, and none came later

	fixes map[core.SeverityRating][]RemediationCount
}

// A TimeToFix says how long it took until vulnerabilities were fixed.
type TimeToFix struct {
	Rating     core.SeverityRating `json:"rating,omitempty"` // "" means all
	Count      int64               `json:"count"`
	MeanDays   float64             `json:"meanDays"`
	MedianDays float64             `json:"medianDays"`
}

// A RemediationEnd says why a vulnerability went.
type RemediationEnd string

// The ends. These texts are in statements.
const (
	EndFixed    RemediationEnd = "fixed"
	EndResolved RemediationEnd = "resolved"
	EndRemoved  RemediationEnd = "removed"
)

// A RemediationCount is a number of vulnerabilities of the same rating that appeared and went in the same steps of a query, after
// the same number of whole hours.
type RemediationCount struct {
	Opened, Ended int // positions of steps; -1 means none of them
	End           RemediationEnd
	Rating        core.SeverityRating
	Hours, N      int64
}

// Remediations tell which vulnerabilities appeared and went, and how long it took.
type Remediations struct {
	area  *Area
	lists *findingList
}

// Activity counts by interval in the repos of a group, or in a repo, which exist today.
func (s Remediations) Activity(ctx context.Context, req core.ActivityRequest) ([]Remediation, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.lists.Kind.AddArea(err)
}

func (s Remediations) activity(ctx context.Context, req core.ActivityRequest) ([]Remediation, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	within := core.UIDFilter{DescendantsOf: req.Within}
	q, err := s.lists.Query(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: within})
	if err != nil {
		return nil, err
	}
	steps := req.Query(in, q.Scope)
	counts, err := s.area.tables.CountRemediations(ctx, s.area.Store, steps)
	if err == nil && len(counts) == 0 {
		err = s.lists.ScopeExists(ctx, within)
	}
	if err != nil {
		return nil, err
	}
	activity := make([]Remediation, len(in.Starts))
	for i, start := range in.Starts {
		activity[i] = Remediation{Time: start, fixes: map[core.SeverityRating][]RemediationCount{}}
	}
	for _, c := range counts {
		if c.Opened >= 0 {
			activity[in.Position(steps, c.Opened)].Opened.Add(c.Rating, c.N)
		}
		if c.Ended >= 0 {
			activity[in.Position(steps, c.Ended)].end(c)
		}
	}
	return activity, nil
}

// end counts what went.
func (r *Remediation) end(c RemediationCount) {
	switch c.End {
	case EndFixed:
		r.Fixed.Add(c.Rating, c.N)
		r.fixes[c.Rating] = append(r.fixes[c.Rating], c)
	case EndResolved:
		r.Resolved.Add(c.Rating, c.N)
	default:
		r.Removed.Add(c.Rating, c.N)
	}
}

// TimeToFix returns how long all of Fixed took, or nil if there are none.
func (r *Remediation) TimeToFix() *TimeToFix {
	var all []RemediationCount
	for _, fixes := range r.fixes {
		all = append(all, fixes...)
	}
	return newTimeToFix("", all)
}

// TimesToFix returns the same of each rating that was fixed, the worst first.
func (r *Remediation) TimesToFix() (all []TimeToFix) {
	for _, rating := range slices.Backward(core.SeverityRatings()) {
		if of := newTimeToFix(rating, r.fixes[rating]); of != nil {
			all = append(all, *of)
		}
	}
	return all
}

// newTimeToFix returns the mean and the median of fixes.
func newTimeToFix(rating core.SeverityRating, fixes []RemediationCount) *TimeToFix {
	const hoursOfDay = 24
	t := TimeToFix{Rating: rating}
	var hours int64
	for _, f := range fixes {
		t.Count, hours = t.Count+f.N, hours+f.N*f.Hours
	}
	if t.Count == 0 {
		return nil
	}
	fixes = slices.SortedFunc(slices.Values(fixes), func(a, b RemediationCount) int { return cmp.Compare(a.Hours, b.Hours) })
	at := func(place int64) float64 { // of the one at a place, from 0
		for _, f := range fixes {
			if place -= f.N; place < 0 {
				return float64(f.Hours) / hoursOfDay
			}
		}
		return 0
	}
	t.MeanDays = float64(hours) / float64(t.Count) / hoursOfDay
	t.MedianDays = (at((t.Count-1)/2) + at(t.Count/2)) / 2
	return &t
}
