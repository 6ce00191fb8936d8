package inventory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
)

// A FindingChange is the body of events about findings: those of one image that have been opened,
// resolved or changed together.
type FindingChange struct {
	Repo     core.UID            `json:"repo"`
	RepoName string              `json:"repoName,omitempty"` // "" if the caller may not see the repo
	Digest   string              `json:"digest"`
	Count    int                 `json:"count"`    // number of findings
	Counts   []FindingClassCount `json:"counts"`   // the same by severity, the worst first
	Findings []*Finding          `json:"findings"` // the worst of them, at most maxChangedFindings
}

// A FindingClassCount counts findings of a rating that are, or are not, known to be exploited.
type FindingClassCount struct {
	Rating         core.SeverityRating `json:"rating"`
	KnownExploited bool                `json:"knownExploited"`
	Count          int                 `json:"count"`
}

// maxChangedFindings limits the findings in one event. One import can open hundreds in an image.
const maxChangedFindings = 100

// The verbs of events about findings.
const (
	verbOpened   = "opened"
	verbResolved = "resolved"
	verbChanged  = "changed"
)

// findingEvents collects what one transaction changes in findings, so that there is one event of each
// verb for an image, however many advisories have changed it.
type findingEvents map[core.ImageKey]*imageEvents

type imageEvents struct {
	repo    *Repo
	changed map[core.UID]changedFinding
}

type changedFinding struct {
	verb    string
	finding *Finding
}

// note notes a change of a finding. Of several changes, the events tell what came of them.
func (e findingEvents) note(repo *Repo, verb string, f *Finding) {
	image := e[f.Image()]
	if image == nil {
		image = &imageEvents{repo, map[core.UID]changedFinding{}}
		e[f.Image()] = image
	}
	was, known := image.changed[f.UID]
	switch {
	case known && was.verb == verbOpened && verb == verbResolved: // nobody has seen it
		delete(image.changed, f.UID)
		return
	case known && was.verb == verbOpened:
		verb = verbOpened
	case known && was.verb == verbResolved:
		verb = verbChanged
	}
	image.changed[f.UID] = changedFinding{verb, f}
}

// changes returns the bodies of the events with a verb, by image.
func (e findingEvents) changes(verb string) (bodies []*FindingChange) {
	for key, image := range e {
		var all []*Finding
		for _, c := range image.changed {
			if c.verb == verb {
				all = append(all, c.finding)
			}
		}
		if len(all) > 0 {
			bodies = append(bodies, newFindingChange(image.repo, key.Digest, all))
		}
	}
	slices.SortFunc(bodies, func(a, b *FindingChange) int {
		return cmp.Or(core.CompareTexts(a.Repo, b.Repo), core.CompareTexts(a.Digest, b.Digest))
	})
	return bodies
}

// newFindingChange makes the body of an event about findings of an image.
func newFindingChange(repo *Repo, digest string, all []*Finding) *FindingChange {
	slices.SortFunc(all, func(a, b *Finding) int {
		return cmp.Or(core.CompareTexts(b.Severity.SortKey(), a.Severity.SortKey()), core.CompareTexts(a.VulnerabilityID, b.VulnerabilityID), core.CompareTexts(a.UID, b.UID))
	})
	change := &FindingChange{Repo: repo.UID, RepoName: repo.Name, Digest: digest, Count: len(all), Findings: all[:min(len(all), maxChangedFindings)]}
	for _, f := range all {
		at := slices.IndexFunc(change.Counts, func(c FindingClassCount) bool {
			return c.Rating == f.Severity.Rating && c.KnownExploited == f.KnownExploited
		})
		if at < 0 {
			at, change.Counts = len(change.Counts), append(change.Counts, FindingClassCount{Rating: f.Severity.Rating, KnownExploited: f.KnownExploited})
		}
		change.Counts[at].Count++
	}
	return change
}

// HideNames removes the name of the repo from the body of an event about findings whose burst is for an actor who may not see
// the repo, as exports do.
func HideNames(e *core.Event) {
	if !(core.EventKind{Event: FindingKind.Event, Verbs: FindingKind.Verbs}).Matches(e) {
		return
	}
	isReadable := e.Burst.MayRead(&RepoKind, e.Subject)
	var body map[string]json.RawMessage
	if isReadable || json.Unmarshal(e.Body, &body) != nil {
		return
	}
	delete(body, "repoName")
	e.Body, _ = json.Marshal(body) // it was decoded from JSON
}

// FindingConditions say which events about findings a subscription or a feed gets. All conditions that are
// given must be met, the first two by the same finding of the event.
type FindingConditions struct {
	MinSeverity    core.SeverityRating `json:"minSeverity,omitempty"`    // the rating is this one or a worse one; "" means any
	KnownExploited bool                `json:"knownExploited,omitempty"` // the catalog of known exploited vulnerabilities has it
	Within         []core.UID          `json:"within,omitempty"`         // groups and repos below that of the subscription; none means all
}

// MaxConditionScopes limits the groups and repos of a condition.
const MaxConditionScopes = 100

// Check checks the conditions of a subscription of a group, or of a feed; "" means all groups.
func (c *FindingConditions) Check(group core.UID, v *core.Violations) {
	core.CheckOneOf(v, "findings.minSeverity", c.MinSeverity, core.SeverityRatings())
	CheckConditionScopes(v, "findings.within", c.Within, group)
}

// CheckConditionScopes checks the UIDs to which a condition of a subscription of a group is limited.
func CheckConditionScopes(v *core.Violations, field string, within []core.UID, group core.UID) {
	if len(within) > MaxConditionScopes {
		v.Add(field, "must have at most %d items", MaxConditionScopes)
	}
	for i, uid := range within {
		place := fmt.Sprintf("%s[%d]", field, i)
		if v.CheckUID(place, uid); uid.Valid() && group != "" && !uid.Within(group) {
			v.Add(place, "must be %s, or lie below it", group)
		}
	}
}

// AreMet reports whether an event is not about findings, or meets the conditions.
func (c *FindingConditions) AreMet(e *core.Event) bool {
	if !strings.HasPrefix(e.Type, core.EventPrefix+FindingKind.Event+".") {
		return true
	}
	if len(c.Within) > 0 && !slices.ContainsFunc(c.Within, e.Subject.Within) {
		return false
	}
	var change FindingChange
	if e.Type == core.EventTypeOf(FindingKind.Event, verbTriaged) || json.Unmarshal(e.Body, &change) != nil {
		return true
	}
	return slices.ContainsFunc(change.Counts, func(count FindingClassCount) bool {
		return (c.MinSeverity == "" || count.Rating.Rank() >= c.MinSeverity.Rank()) && (!c.KnownExploited || count.KnownExploited)
	})
}
