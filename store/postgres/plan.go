package postgres

import (
	"slices"
	"strings"

	"atrium/store/sqlstore"
)

// PostgreSQL plans a prepared statement anew for its arguments each time, as
// long as it estimates that this makes it cheaper. For an argument that is an
// array it mostly does, since a plan for any arguments takes each array for ten
// elements. For the statements below, planning takes longer than running, and
// the plan is the same for all arguments: tests hold both plans to the same bars.

// Settings of how the statements behind them in a pipeline are planned. They
// hold until the end of the pipeline, also on a connection that a pooler gives
// to others afterwards.
const (
	planOnce = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"
	planEach = "SELECT set_config('plan_cache_mode', 'auto', true)"
)

// isPlannedOnce reports whether a statement is one that is planned once for
// all arguments.
func isPlannedOnce(sql string) bool {
	for _, part := range []string{"unnest(", " = ANY(", " UNION ALL "} {
		if strings.Contains(sql, part) {
			return true
		}
	}
	return false
}

// pipeline puts the settings of plans before statements: first come those that
// are planned once. The statements of a pipeline do not depend on each other.
func (c conn) pipeline(statements []*sqlstore.Statement) []*sqlstore.Statement {
	if !c.prepares {
		return statements
	}
	all := make([]*sqlstore.Statement, 0, len(statements)+2)
	all = append(all, &sqlstore.Statement{SQL: planOnce})
	var each []*sqlstore.Statement
	for _, s := range statements {
		if isPlannedOnce(s.SQL) {
			all = append(all, s)
		} else {
			each = append(each, s)
		}
	}
	switch {
	case len(all) == 1:
		return each
	case len(each) > 0:
		all = append(append(all, &sqlstore.Statement{SQL: planEach}), each...)
	}
	return all
}

// manyValues is from how many values on a statement of a transaction looks up a
// batch, as imports do.
const manyValues = 100

// planAnew has the statements behind it in a transaction planned for their
// arguments. A plan that was made for any arguments while the tables were nearly
// empty reads all of a table for each batch that fills it, until PostgreSQL has
// counted its rows anew.
const planAnew = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"

// planBatches puts the setting before the first statements of a transaction that
// look up a batch.
func (t *transaction) planBatches(statements []*sqlstore.Statement) []*sqlstore.Statement {
	if t.plansAnew || !slices.ContainsFunc(statements, looksUpMany) {
		return statements
	}
	t.plansAnew = true
	return append([]*sqlstore.Statement{{SQL: planAnew}}, statements...)
}

func looksUpMany(s *sqlstore.Statement) bool {
	return slices.ContainsFunc(s.Args, func(arg any) bool {
		switch arg := arg.(type) {
		case []string:
			return len(arg) >= manyValues
		case [][]byte:
			return len(arg) >= manyValues
		default:
			return false
		}
	})
}
