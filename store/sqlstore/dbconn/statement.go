package dbconn

// A Statement is one SQL statement with its arguments and the functions that
// receive its rows.
type Statement struct {
	SQL  string
	Args []any

	// Row is called for each row; scan accepts the same destinations as database/sql.
	Row func(scan func(dest ...any) error) error

	// The builder of the statement knows the following.

	Plan  Plan // how often PostgreSQL should plan the statement
	Slow  bool // whether it counts rows or searches for words: the other calls of a level do not wait for two of them
	Waits bool // whether it waits for a lock, so that its round trip can take longer
	Quick bool // whether it only finds a few rows by their keys, so that it may share a round trip with other requests

	// Several requests may run copies of one statement. Original is that statement; nil means
	// that this one is no copy. Of the copies in one round trip, only one runs.
	Original *Statement

	// Place restricts where the statement stands in a round trip.
	Place Place

	Outcome
}

// A Place is where a statement stands in a round trip.
type Place int

const (
	// Anywhere is the place of nearly all statements.
	Anywhere Place = iota
	// LimitsWait is the first place. The statement limits how long the others wait for locks,
	// which they may need also to be prepared.
	LimitsWait
	// Last means that no other statement may run after this one.
	Last
)

// An Outcome is what came of a statement. The engine sets it.
type Outcome struct {
	Affected int64 // number of changed rows, if the statement has no function for rows
	Done     bool  // whether the statement has run and all of its rows were read
	Failed   bool  // whether the round trip has failed at the statement; an engine without pipelines need not set it
}

// A Plan says how often PostgreSQL should plan a prepared statement.
type Plan int

const (
	// PlanAsNeeded means that the best plan can depend on the arguments, so PostgreSQL
	// decides.
	PlanAsNeeded Plan = iota
	// PlanOnce means that the best plan is the same for all arguments.
	PlanOnce
	// PlanOnceAlways is PlanOnce also in a transaction. Statements that read events have it,
	// because planning looks at every partition.
	PlanOnceAlways
	// PlanBySession means that there is only one good plan, which PostgreSQL finds by itself
	// in every setting.
	PlanBySession
)
