package table

import (
	"testing"

	"atrium/platform/core"
)

// A thingFilter has fields of all types that filters have.
type thingFilter struct {
	core.ChangeFilter

	Names []string
	Is    *bool
	Of    core.UID
	Holds *struct{ Name string }
	Late  bool
}

// A counter that counts more than a filter finds would be shown as the total.
func TestAFilterRestrictsUnlessItIsEmpty(t *testing.T) {
	t.Parallel()
	for _, f := range []*thingFilter{
		{Names: []string{""}}, {Is: new(bool)}, {Of: "u"}, {Holds: &struct{ Name string }{}}, {Late: true},
		{ChangeFilter: core.ChangeFilter{CreatedSince: core.NoDeadline}},
	} {
		if !Restricts(f) {
			t.Errorf("%+v restricts nothing", f)
		}
	}
	for _, f := range []*thingFilter{{}, {Names: []string{}}} {
		if Restricts(f) {
			t.Errorf("%+v restricts something", f)
		}
	}
}

// Such a column would be left out of the order of many branches in silence.
func TestAColumnOfAnUnknownTypeIsRefused(t *testing.T) {
	t.Parallel()
	type row struct{ at complex64 }
	for name, to := range map[string]func(*row) any{
		"stored":   func(r *row) any { return &r.at },
		"compared": func(*row) any { return new([]byte) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("the table was made")
				}
			}()
			New(&Definition[*row, *thingFilter]{
				Name: "row", UID: func(*row) core.UID { return "" },
				Columns: []Column[*row]{{"t.at", "", to}},
			}).checkColumns(new(row), []string{"at"})
		})
	}
}
