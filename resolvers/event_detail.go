package resolvers

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// Details are the sums of the schema: what there is to say about an event, with a type for each kind of event.

// eventDetails makes the value that the body of an event has, by the name of the body.
var eventDetails = map[string]func() scalar.Node{
	core.AreaVulnerabilities + ".FindingChange": func() scalar.Node { return &inventory.FindingChange{} },
	core.AreaVulnerabilities + ".TriageChange":  func() scalar.Node { return &inventory.TriageChange{} },
	core.AreaVulnerabilities + ".DuePolicy":     func() scalar.Node { return &inventory.DuePolicy{} },
}

// Detail decodes the bodies of events about findings. It reads nothing.
func (eventFields) Detail(_ context.Context, all []*core.Event) ([]scalar.Node, error) {
	types := platform.AllEventTypes()
	details := make([]scalar.Node, len(all))
	for i, e := range all {
		makeDetail := eventDetails[types.BodyOf(e)]
		if makeDetail == nil || e.Denied != "" {
			continue
		}
		detail := makeDetail()
		if err := json.Unmarshal(e.Body, detail); err != nil {
			return nil, fmt.Errorf("the body of the event %s: %w", e.ID, err) // the service has encoded it
		}
		details[i] = detail
	}
	return details, nil
}

// changedFindings resolves the fields of findings as they were after the change of an event.
type changedFindings struct{}

func (root) ChangedFinding() graph.ChangedFindingResolver { return changedFindings{} }

// Finding reads the findings as they are now. One that is gone is nil.
func (changedFindings) Finding(ctx context.Context, all []*inventory.Finding) ([]*inventory.Finding, error) {
	found, err := follow(ctx, all, readsOf(ctx).findings(), func(f *inventory.Finding) core.UID { return f.UID })
	return found, filterErrors(err, ignoreNotFound)
}

// advisoryEvents resolves the fields of events of advisories.
type advisoryEvents struct{}

func (root) AdvisoryEvent() graph.AdvisoryEventResolver { return advisoryEvents{} }

// Detail returns what each event has of its kind. It reads nothing.
func (advisoryEvents) Detail(_ context.Context, all []*inventory.AdvisoryEvent) ([]scalar.Node, error) {
	return mapEach(all, func(e *inventory.AdvisoryEvent) scalar.Node {
		switch {
		case e.Detection != nil:
			return e.Detection
		case e.Fixed != nil:
			return e.Fixed
		case e.Patched != nil:
			return e.Patched
		default:
			return judgment(e.TruePositiveDetermination, e.FalsePositiveDetermination, e.AnalysisNotPlanned, e.FixNotPlanned, e.PendingUpstreamFix)
		}
	}), nil
}

// documentEvents resolves the fields of events in documents.
type documentEvents struct{}

func (root) DocumentEvent() graph.DocumentEventResolver { return documentEvents{} }

// Detail returns what each event has of its kind. It reads nothing.
func (documentEvents) Detail(_ context.Context, all []*inventory.DocumentEvent) ([]scalar.Node, error) {
	return mapEach(all, func(e *inventory.DocumentEvent) scalar.Node {
		switch {
		case e.Detection != nil:
			return e.Detection
		case e.Fixed != nil:
			return e.Fixed
		default:
			return judgment(e.TruePositiveDetermination, e.FalsePositiveDetermination, e.AnalysisNotPlanned, e.FixNotPlanned, e.PendingUpstreamFix)
		}
	}), nil
}

// judgment returns the one that is set of what people can say of an advisory. The notes have one Go type in the core,
// and a type for each kind of event in the graph.
func judgment(affected *inventory.Note, notAffected *inventory.FalsePositiveDetermination, noAnalysis, noFix, upstream *inventory.Note) scalar.Node {
	switch {
	case affected != nil:
		return &graph.AdvisoryTruePositive{Note: &affected.Note}
	case notAffected != nil:
		return notAffected
	case noAnalysis != nil:
		return &graph.AdvisoryAnalysisNotPlanned{Note: &noAnalysis.Note}
	case noFix != nil:
		return &graph.AdvisoryFixNotPlanned{Note: &noFix.Note}
	case upstream != nil:
		return &graph.AdvisoryPendingUpstreamFix{Note: &upstream.Note}
	default:
		return nil
	}
}
