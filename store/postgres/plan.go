package postgres

import (
	"slices"
	"strings"

	"atrium/store/sqlstore"
)

// PostgreSQL plans a prepared statement for each execution as long as it estimates
// that such custom plans are cheaper. It mostly does so for array arguments,
// because a generic plan assumes ten elements for each array. For the statements
// below, planning takes longer than execution, and the plan is the same for all
// arguments. Tests check both plans against the same limits.

// Settings for the planning of the statements that follow in a pipeline. They are
// valid until the end of the pipeline, so a pooler can give the connection to
// others afterwards.
const (
	planOnce = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"
	planEach = "SELECT set_config('plan_cache_mode', 'auto', true)"
)

// isPlannedOnce reports whether a statement uses a generic plan.
func isPlannedOnce(sql string) bool {
	for _, part := range []string{"unnest(", " = ANY(", " UNION ALL "} {
		if strings.Contains(sql, part) {
			return true
		}
	}
	return false
}

// pipeline adds the planning settings to statements. The first statement stays the first,
// because it proves who the caller is. Those with the same setting follow it. The
// statements of a pipeline do not depend on each other.
func (c conn) pipeline(statements []*sqlstore.Statement) []*sqlstore.Statement {
	if !c.prepares || len(statements) == 0 {
		return statements
	}
	once := isPlannedOnce(statements[0].SQL)
	same := len(statements)
	for _, s := range statements {
		if isPlannedOnce(s.SQL) != once {
			same--
		}
	}
	if !once && same == len(statements) {
		return statements
	}
	settings := [...]sqlstore.Statement{{SQL: planOnce}, {SQL: planEach}}
	all := make([]*sqlstore.Statement, 0, len(statements)+len(settings))
	other := &settings[0]
	if once {
		all, other = append(all, &settings[0]), &settings[1]
	}
	all = appendPlanned(all, statements, once)
	if same < len(statements) {
		all = appendPlanned(append(all, other), statements, !once)
	}
	return all
}

// appendPlanned appends the statements that use a generic plan, or the others.
func appendPlanned(all, statements []*sqlstore.Statement, once bool) []*sqlstore.Statement {
	for _, s := range statements {
		if isPlannedOnce(s.SQL) == once {
			all = append(all, s)
		}
	}
	return all
}

// manyValues is the number of values from which a statement of a transaction counts
// as a batch lookup, as imports do.
const manyValues = 100

// forceCustomPlan makes PostgreSQL plan the following statements of a transaction
// for their arguments. A generic plan that was made while the tables were nearly
// empty would scan the whole table for each batch until the statistics are updated.
const forceCustomPlan = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"

// planBatches adds forceCustomPlan before the first batch lookup of a transaction.
func (t *transaction) planBatches(statements []*sqlstore.Statement) []*sqlstore.Statement {
	if t.customPlans || !slices.ContainsFunc(statements, hasManyValues) {
		return statements
	}
	t.customPlans = true
	return append([]*sqlstore.Statement{{SQL: forceCustomPlan}}, statements...)
}

func hasManyValues(s *sqlstore.Statement) bool {
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
