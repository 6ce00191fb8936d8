package cases

import (
	"context"

	"atrium/internal/ingest"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An operation is no kind of the platform: it is what a large import becomes. One that {operation} names has ended.
var _ = newKind(kind{
	name: "Operation", ref: "operation", area: "operations", in: "{group}", put: createOperation,
	minimal: fields{"imports": "something"},
	full:    fields{"imports": "something", "fails": true},
	extra:   []call{{rpc: "CancelOperation", target: "{operation}"}},
	rows: []row{
		{name: "get", do: call{rpc: "GetOperation", target: "{operation}"}, want: expectOperation("SUCCEEDED", fields{"progressPercent": 100})},
		{name: "get of one that has failed", do: call{rpc: "GetOperation", target: "{full operation}"}, want: expectOperation("FAILED", fields{
			"error": fields{"code": 3, "message": "Invalid argument: body: is no document"},
		})},
		{name: "get of one in a repo", setup: []call{{rpc: "GetRepo", target: "{repo}"}}, do: call{rpc: "GetOperation", target: "{repo operation}"},
			want: expectOperation("SUCCEEDED", fields{"progressPercent": 100})},
		{name: "cancel of one that has ended", do: call{rpc: "CancelOperation", target: "{operation}"}, want: expectOperation("SUCCEEDED", fields{"progressPercent": 100})},
		{name: "cancel of a missing one", do: call{rpc: "CancelOperation", target: "{group}/00000000000000ff"}, want: notFound("operations/Operation", "{group}/00000000000000ff")},
		{name: "cancel of no UID", do: call{rpc: "CancelOperation", target: "nope"}, want: invalid("uid")},
	},
})

// expectOperation expects an operation that has ended with a report.
func expectOperation(state string, with fields) expectedResource {
	return resource(fields{
		"uid": "<uid>", "kind": "import/sbom", "state": "OPERATION_STATE_" + state, "done": true, "records": 0, "progressPercent": 0, "creator": "import",
		"createTime": "<time>", "updateTime": "<time>", "endTime": "<time>", "expireTime": "<time>",
		"response": fields{"records": 2, "kinds": []any{}, "unreadable": 0, "refused": []any{fields{"place": ":2", "reason": "is no document"}}, "ignored": []any{}},
	}.with(with))
}

// createOperation begins an operation, and ends it.
func createOperation(e *env, parent string, given fields) fields {
	e.Helper()
	o, err := e.w.p.LongRunning.Begin(e.operator(), "import/sbom", core.UID(parent))
	if err != nil {
		e.Fatal(err)
	}
	e.w.p.LongRunning.Run(e.operator(), o, func(context.Context, func(int, int)) (any, error) {
		report := &ingest.Report{Records: 2, Summary: ingest.Summary{Kinds: []ingest.KindCounts{}}, Refused: []ingest.Problem{{Place: ":2", Reason: "is no document"}}, Ignored: []ingest.Problem{}}
		if given["fails"] == true {
			return report, core.Invalid(fieldmask.Violation{Field: "body", Description: "is no document"})
		}
		return report, nil
	})
	return e.mustCall(call{rpc: "GetOperation", target: string(o.UID)}).resource
}
