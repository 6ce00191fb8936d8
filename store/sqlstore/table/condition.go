package table

import (
	"strings"

	"atrium/platform/core"
)

// AddName adds the condition of an exact name.
func (s *Statement) AddName(name string) {
	if name != "" {
		s.Add(" AND t.name = ?", name)
	}
}

// AddElements adds the table e of the values of a column with a list.
func (s *Statement) AddElements(column string) *Statement { return s.Add(s.Dialect.Elements(column)) }

// AddAnyElement adds the condition that a column with a list contains one of
// values.
func AddAnyElement(s *Statement, column string, values []string) {
	if len(values) > 0 {
		s.Add(" AND "+column+" <> '' AND EXISTS (SELECT 1 FROM ").AddElements(column).Add(" WHERE e.value ?)", Values(values))
	}
}

// AddAnyOf adds the condition that a column has one of values.
func AddAnyOf[S ~string](s *Statement, column string, values []S) {
	AddAnyIn(s, "t."+column, values)
}

// AddAnyIn is AddAnyOf for a column with the alias of its table.
func AddAnyIn[S ~string](s *Statement, column string, values []S) {
	if len(values) == 0 {
		return
	}
	texts := make(Values, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	s.Add(" AND "+column+" ?", texts)
}

// AddSince adds the condition that a time is not before another one, if that is given.
func AddSince(s *Statement, column string, since core.Time) {
	AddSinceIn(s, "t."+column, since)
}

// AddSinceIn is AddSince for a column with the alias of its table.
func AddSinceIn(s *Statement, column string, since core.Time) {
	if !since.IsZero() {
		s.Add(" AND "+column+" >= ?", since)
	}
}

// AddChanged adds the conditions of a filter by when rows were made and changed.
func (s *Statement) AddChanged(f *core.ChangeFilter) {
	AddSince(s, "create_time", f.CreatedSince)
	AddSince(s, "update_time", f.UpdatedSince)
	if !f.UpdatedBefore.IsZero() {
		s.Add(" AND t.update_time < ?", f.UpdatedBefore)
	}
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// LikePattern returns the LIKE pattern of texts that contain s.
func LikePattern(s string) string { return "%" + likeEscapes.Replace(s) + "%" }
