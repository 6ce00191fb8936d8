package ingest

import (
	"slices"

	"atrium/platform/affected"
)

// An osvRange describes affected versions by events: those at which the vulnerability begins
// and ends.
type osvRange struct {
	affected.Range
	affected.Event // Before version 0.8 of the schema, a range had no list but one event of each kind.

	Repo string `json:"repo"` // if the range is one of commits
}

// normalize sorts the events of a range. It brings ranges of the oldest form into that of today.
func (r *osvRange) normalize(ecosystem string) {
	for _, e := range r.Event.Split() {
		if !slices.Contains(r.Events, e) {
			r.Events = append(r.Events, e)
		}
	}
	r.Range, r.Event = r.Range.Normalize(ecosystem), affected.Event{}
}
