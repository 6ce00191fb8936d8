package postgres

import (
	"slices"

	"atrium/store/sqlstore/dbconn"
)

// PostgreSQL plans a prepared statement for each execution as long as it estimates that such
// custom plans are cheaper. It mostly does so for array arguments, because a generic plan
// assumes ten elements for each array, and for small pages. For most statements of the store,
// planning takes longer than execution, and the plan is the same for all arguments. So the
// sessions of a pool use generic plans, and a pipeline lets PostgreSQL decide about some
// statements. Behind a pooler, sessions belong to several clients and keep the setting of the
// server, and a pipeline asks for generic plans. Tests check both plans against the same
// limits. A plan for events has all of their partitions, and most of them are excluded only
// when it is executed.

// Settings for the planning of the statements that follow in a pipeline. They are
// valid until the end of the pipeline, so a pooler can give the connection to
// others afterwards.
const (
	planOnce = "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)"
	planEach = "SELECT set_config('plan_cache_mode', 'auto', true)"
)

// isPlannedOnce reports whether a statement uses a generic plan.
func (c conn) isPlannedOnce(s *dbconn.Statement) bool {
	return s.Plan == dbconn.PlanOnce || s.Plan == dbconn.PlanOnceAlways || s.Plan == dbconn.PlanBySession && c.plansOnce
}

// pipeline adds the planning settings to statements, and forgets at which of them an earlier
// round trip failed. The first statement stays the first, because it proves who the caller
// is, or what a standby has replayed. Those with the same setting follow it. Otherwise the
// statements of a pipeline do not depend on each other.
func (c conn) pipeline(statements []*dbconn.Statement) []*dbconn.Statement {
	for _, s := range statements {
		s.Failed = false
	}
	if last := len(statements) - 1; last > 0 && statements[last].Place == dbconn.Last {
		return append(c.pipeline(statements[:last]), statements[last])
	}
	if !c.prepares || len(statements) == 0 {
		return statements
	}
	first := c.isPlannedOnce(statements[0])
	if first == c.plansOnce && !slices.ContainsFunc(statements[1:], func(s *dbconn.Statement) bool { return c.isPlannedOnce(s) != first }) {
		return statements
	}
	same, other := make([]*dbconn.Statement, 0, len(statements)+2), []*dbconn.Statement(nil) // two settings
	if first != c.plansOnce {
		same = append(same, planSetting(first))
	}
	same = append(same, statements[0])
	for _, s := range statements[1:] {
		if c.isPlannedOnce(s) == first {
			same = append(same, s)
		} else {
			other = append(other, s)
		}
	}
	if other == nil {
		return same
	}
	return append(append(same, planSetting(!first)), other...)
}

// planSetting returns the statement that sets how the statements after it are planned.
func planSetting(once bool) *dbconn.Statement {
	if once {
		return &dbconn.Statement{SQL: planOnce}
	}
	return &dbconn.Statement{SQL: planEach}
}

// manyValues is the number of values from which a statement of a transaction counts
// as a batch lookup, as imports do.
const manyValues = 100

// planBatch makes PostgreSQL plan batch lookups of a transaction for their arguments. A
// generic plan that was made while the tables were nearly empty would scan the whole
// table for each batch until the statistics are updated.
const planBatch = "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)"

// plan adds the planning settings to statements of a transaction, and planEach after them.
// Otherwise, PostgreSQL would plan in the same way the check of each foreign key of each
// row that is inserted afterwards. Statements that read events have a generic plan, as
// they have outside of transactions.
func (t *transaction) plan(statements []*dbconn.Statement) []*dbconn.Statement {
	var setting string
	switch {
	case slices.ContainsFunc(statements, hasManyValues):
		setting = planBatch
	case t.engine.prepares && slices.ContainsFunc(statements, func(s *dbconn.Statement) bool { return s.Plan == dbconn.PlanOnceAlways }):
		setting = planOnce
	default:
		return statements
	}
	return slices.Concat([]*dbconn.Statement{{SQL: setting}}, statements, []*dbconn.Statement{{SQL: planEach}})
}

func hasManyValues(s *dbconn.Statement) bool {
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
