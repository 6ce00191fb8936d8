package postgres

import (
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

// pipeline puts the settings of plans between statements.
func (c conn) pipeline(statements []*sqlstore.Statement) []*sqlstore.Statement {
	if !c.prepares {
		return statements
	}
	all := make([]*sqlstore.Statement, 0, len(statements)+1)
	isOnce := false
	for _, s := range statements {
		if once := isPlannedOnce(s.SQL); once != isOnce {
			isOnce = once
			setting := planEach
			if once {
				setting = planOnce
			}
			all = append(all, &sqlstore.Statement{SQL: setting})
		}
		all = append(all, s)
	}
	return all
}
