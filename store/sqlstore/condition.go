package sqlstore

import (
	"atrium/platform"
	"strings"
)

// addName adds the condition of an exact name.
func (s *statement) addName(name string) {
	if name != "" {
		s.add(" AND t.name = ?", name)
	}
}

// addElements adds the table e of the values of a column with a list.
func (s *statement) addElements(column string) *statement { return s.add(s.dialect.Elements(column)) }

// addAnyElement adds the condition that a column with a list contains one of
// values.
func addAnyElement(s *statement, column string, values []string) {
	if len(values) > 0 {
		s.add(" AND "+column+" <> '' AND EXISTS (SELECT 1 FROM ").addElements(column).add(" WHERE e.value ?)", valueList(values))
	}
}

// addAnyOf adds the condition that a column has one of values.
func addAnyOf[S ~string](s *statement, column string, values []S) {
	addAnyIn(s, "t."+column, values)
}

func addAnyIn[S ~string](s *statement, column string, values []S) {
	if len(values) == 0 {
		return
	}
	texts := make(valueList, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	s.add(" AND "+column+" ?", texts)
}

// addSince adds the condition that a time is not before another one, if that is given.
func addSince(s *statement, column string, since platform.Time) {
	addSinceIn(s, "t."+column, since)
}

func addSinceIn(s *statement, column string, since platform.Time) {
	if !since.IsZero() {
		s.add(" AND "+column+" >= ?", since)
	}
}

// addChanged adds the conditions of a filter by when rows were made and changed.
func (s *statement) addChanged(f *platform.ChangeFilter) {
	addSince(s, "create_time", f.CreatedSince)
	addSince(s, "update_time", f.UpdatedSince)
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePattern returns the LIKE pattern of texts that contain s.
func likePattern(s string) string { return "%" + likeEscapes.Replace(s) + "%" }
