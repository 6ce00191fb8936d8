package table

import (
	"testing"

	"atrium/platform"
)

// A counter that counts more than a filter finds would be shown as the total.
func TestAFilterRestrictsUnlessItIsEmpty(t *testing.T) {
	t.Parallel()
	yes := true
	for _, f := range []*platform.FindingFilter{
		{Severities: []platform.SeverityRating{platform.SeverityHigh}}, {Fixable: new(bool)}, {Fixable: &yes}, {Assignee: "u"}, {WithoutLiveTags: true},
		{DueBefore: platform.At(platform.NoDeadline.Time)}, {Advisories: []platform.UID{""}},
	} {
		if !Restricts(f) {
			t.Errorf("%+v restricts nothing", f)
		}
	}
	if f := (&platform.FindingFilter{Severities: []platform.SeverityRating{}, Advisories: nil}); Restricts(f) {
		t.Errorf("%+v restricts something", f)
	}
	if !Restricts(&platform.RepoFilter{Tags: &platform.TagCondition{}}) || !Restricts(&platform.RepoFilter{ImageConditions: platform.ImageConditions{Package: &platform.PackageCondition{}}}) {
		t.Error("an empty condition on what a repo has restricts nothing: a repo may have none")
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
			New(&Definition[*row, *platform.RepoFilter]{
				Name: "row", UID: func(*row) platform.UID { return "" },
				Columns: []Column[*row]{{"t.at", "", to}},
			}).checkColumns(new(row), []string{"at"})
		})
	}
}
