package intake

import (
	"context"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A SourceState says how a run is going or has ended, and so the state of a source, by its wire name.
type SourceState string

// The states.
const (
	Waiting   SourceState = "SOURCE_STATE_WAITING" // it has never run
	Running   SourceState = "SOURCE_STATE_RUNNING"
	Succeeded SourceState = "SOURCE_STATE_SUCCEEDED"
	Failed    SourceState = "SOURCE_STATE_FAILED"
	Cancelled SourceState = "SOURCE_STATE_CANCELLED"
)

var sourceStates = []SourceState{Waiting, Running, Succeeded, Failed, Cancelled}

// UnmarshalJSON reads the name or the number of a state.
func (s *SourceState) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalEnum(b, s, sourceStates)
}

// Values lists the constants.
func (SourceState) Values() []string { return fieldmask.Texts(sourceStates) }

// Short returns the name of the state for people, such as failed.
func (s SourceState) Short() string {
	return strings.ToLower(strings.TrimPrefix(string(s), "SOURCE_STATE_"))
}

// A SourceRun is the report of one run of a source.
type SourceRun struct {
	Number    int32       `json:"number"`
	State     SourceState `json:"state"`
	StartTime core.Time   `json:"startTime"`
	EndTime   core.Time   `json:"endTime,omitzero"`
	Error     string      `json:"error,omitempty"` // why it failed
	// IsUnchanged means that the source had nothing new, so that nothing was read.
	IsUnchanged bool `json:"isUnchanged,omitempty"`
	// Bytes is how much was read over the network.
	Bytes      core.Int64         `json:"bytes,omitempty"`
	Records    []SourceRunRecords `json:"records,omitempty"`
	Unreadable int32              `json:"unreadable,omitempty"` // documents and lines whose kind could not be read
	// Problems are the first problems with records, each with its place; ProblemCount is how many there are.
	Problems     []string `json:"problems,omitempty"`
	ProblemCount int32    `json:"problemCount,omitempty"`
}

// SourceRunRecords counts what came of the records of one kind.
type SourceRunRecords struct {
	Kind      string `json:"kind"` // plural, such as advisories
	Added     int32  `json:"added,omitempty"`
	Updated   int32  `json:"updated,omitempty"`
	Unchanged int32  `json:"unchanged,omitempty"`
	Failed    int32  `json:"failed,omitempty"`
	Removed   int32  `json:"removed,omitempty"`
}

// Limits of a report.
const (
	MaxProblems     = 20
	MaxProblemBytes = 500
	keptRuns        = 30
)

// AddProblem notes a problem with a record.
func (r *SourceRun) AddProblem(problem string) {
	if r.ProblemCount++; len(r.Problems) < MaxProblems {
		r.Problems = append(r.Problems, Shorten(problem))
	}
}

// Shorten returns a text of a source in a length that a report can have.
func Shorten(text string) string { return core.TruncateStorable(text, MaxProblemBytes) }

// FailedRecords is the number of records that were refused.
func (r *SourceRun) FailedRecords() (n int32) {
	n = r.Unreadable
	for _, k := range r.Records {
		n += k.Failed
	}
	return n
}

// ReadRecords is the number of records that are stored now.
func (r *SourceRun) ReadRecords() (n int32) {
	for _, k := range r.Records {
		n += k.Added + k.Updated + k.Unchanged
	}
	return n
}

// Runs returns the last runs of sources that the caller has read, the newest first.
func (s Sources) Runs(ctx context.Context, of []*Source) ([][]*SourceRun, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	uids := make([]core.UID, len(of))
	for i, source := range of {
		uids[i] = source.UID
	}
	found, err := s.area.tables.Runs(ctx, s.area.Store, uids)
	all := make([][]*SourceRun, len(of))
	for i, uid := range uids {
		all[i] = found[uid]
	}
	return all, s.rows.Kind.AddArea(err)
}

// RunsOf returns the last runs of a source, the newest first. It needs sources.list.
func (s Sources) RunsOf(ctx context.Context, uid core.UID) ([]*SourceRun, error) {
	source, err := s.rows.Get(ctx, uid)
	if err != nil {
		return nil, err
	}
	all, err := s.Runs(ctx, []*Source{source})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Run makes a source be read as soon as a server is free, also if it is paused. One that is being read is read once more afterwards. It
// needs sources.update.
func (s Sources) Run(ctx context.Context, uid core.UID) (*Source, error) {
	return s.ask(ctx, uid, func(source *Source, now core.Time) (field string) {
		source.NextRunTime = now
		return "nextRunTime"
	})
}

// Cancel ends the run of a source. What it has stored before stays. A source that is not being read stays as it is. It needs
// sources.update.
func (s Sources) Cancel(ctx context.Context, uid core.UID) (*Source, error) {
	return s.ask(ctx, uid, func(source *Source, now core.Time) (field string) {
		if !source.isHeld(now) {
			return ""
		}
		source.CancelAsked = true
		return "cancelAsked"
	})
}

// ask changes a field that the process which reads a source looks at, or none.
func (s Sources) ask(ctx context.Context, uid core.UID, change func(source *Source, now core.Time) (field string)) (*Source, error) {
	err := core.InvalidUID("uid", uid)
	if err == nil {
		_, err = core.Require(ctx, uid, s.rows.Kind.Update)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "updated", uid, err)
	}
	var source *Source
	err = s.area.Store.Write(ctx, func(tx core.Tx) (err error) {
		var now core.Time
		if source, now, err = s.getLocked(ctx, tx, uid); err != nil {
			return err
		}
		field := change(source, now)
		if field == "" {
			return nil
		}
		if err := s.area.tables.Sources.Update(ctx, tx, source, field); err != nil {
			return err
		}
		if !uid.IsRoot() {
			e := s.area.Event(ctx, s.rows.Kind.Event, "updated", uid, uid.Parent(), source)
			e.Changes = []core.EventChange{{Field: field}}
			tx.Record(e)
		}
		return nil
	})
	return source, s.rows.Kind.AddArea(err)
}
