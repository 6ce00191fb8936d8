package storetest_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/reports"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A hotRead is an operation whose statements must not cost more in a large organization
// than in a small one.
type hotRead struct {
	name    string
	subject string
	run     func(ctx context.Context) error

	// PostgreSQL may touch maxBuffers buffers for the rows, and maxTotalBuffers for their
	// number. The design of the store sets these limits.
	maxBuffers, maxTotalBuffers int
	// If sorts is set, SQLite may sort the rows of a page, or the first rows of several
	// branches.
	sorts bool
	// If inOrder is set, an index has the order, so PostgreSQL must not sort at all.
	inOrder bool
	// grows says why the read costs more in a larger database. An empty text means that it
	// does not.
	grows string
	// If scans is set, PostgreSQL may read a whole table that is small compared with the
	// number of look-ups.
	scans bool
}

// bigTables lists the tables that are large in a bigWorld. Groups, roles and
// subscriptions have at most some thousand rows, so a scan of such a table can be the
// best plan.
var bigTables = []string{"repo", "tag", "identity", "role_binding", "advisory", "advisory_alias", "vulnerability", "vulnerability_alias", "event", "event_mention", "artifact", "artifact_version", "finding"}

// maxSortedRows is the number of rows that a plan may sort: those of some pages.
const maxSortedRows = 2500

// requirePlans skips a test that fills a big database, which takes minutes, outside of `make plans`. The Makefile finds
// such tests by their names.
func requirePlans(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestABigDatabase") {
		t.Fatal("`make plans` runs only tests whose names begin with TestABigDatabase; rename this one")
	}
	if os.Getenv("ATRIUM_TEST_PLANS") == "" {
		t.Skip("run `make plans`: it fills a big database, which takes minutes")
	}
}

func TestABigDatabaseOnPostgreSQL(t *testing.T) {
	requirePlans(t)
	t.Parallel()
	b := newBigWorld(newWorld(t, storetest.Postgres(t)), ordinarySizes)
	t.Run("hot reads cost the same at any size", func(t *testing.T) { b.forTest(t).checkHotReads(t) })
	t.Run("the work of a query follows its cost", func(t *testing.T) { b.forTest(t).checkPrices(t, allReads(), maxWorkOfCost) })
	t.Run("fallbacks answer in time", func(t *testing.T) { b.forTest(t).checkFallbacks(t) })
	t.Run("counting anew takes what it takes", func(t *testing.T) {
		hurried := storetest.Open(t, b.url+"&statement_timeout=200")
		if wrong, err := hurried.Recount(t.Context()); wrong != 0 || err != nil {
			t.Errorf("recount found %d wrong counters (%v), want none", wrong, err)
		}
	})
}

func (b *bigWorld) checkHotReads(t *testing.T) {
	s, e := b.newSpy(), b.explainer()
	p := b.replica(s)
	var report strings.Builder
	for _, r := range b.hotReads(p, s) {
		statements, err := recordStatements(b.contextOn(p, r.subject), r.run)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			rows, total := e.cost(t, r, statements, mode)
			fmt.Fprintf(&report, "%5d %4d  %s (%s)\n", rows, total, r.name, mode)
			if rows > r.maxBuffers || total > r.maxTotalBuffers {
				t.Errorf("%s: %s touches %d and %d buffers, the bars are %d and %d", r.name, mode, rows, total, r.maxBuffers, r.maxTotalBuffers)
			}
		}
	}
	t.Log("buffers for the rows and for the total:\n" + report.String())
	t.Log("indexes that no hot read uses, those of rare kinds among them:", b.query(b.openDirect(), "SELECT indexrelname FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid) WHERE idx_scan = 0 AND NOT i.indisunique ORDER BY 1"))
}

// cost explains statements, checks the shapes of their plans, and adds up the buffers of
// those that read rows and of those that count.
func (e explainer) cost(t *testing.T, read *hotRead, statements []dbconn.Statement, mode string) (rows, total int) {
	t.Helper()
	for _, s := range statements {
		plan, err := e.explain(t.Context(), s, mode)
		if err != nil {
			t.Errorf("%s: %v", read.name, err)
		}
		if isCount(s) {
			total += plan.buffers()
		} else {
			rows += plan.buffers()
		}
		plan.visitAll(func(n planNode) {
			sorted := 0.0
			for _, below := range n.Plans {
				sorted = max(sorted, below.Rows*max(below.Loops, 1))
			}
			switch {
			case n.Type == "Seq Scan" && slices.Contains(bigTables, n.Relation) && n.buffers() > totalBuffers && !read.scans: // A cheap scan stopped at once.
				t.Errorf("%s: %s reads all of %s:\n%s\n%s", read.name, mode, n.Relation, s.SQL, plan)
			case strings.Contains(n.Type, "Sort") && (sorted > maxSortedRows || read.inOrder):
				t.Errorf("%s: %s sorts %g rows:\n%s\n%s", read.name, mode, math.Round(sorted), s.SQL, plan)
			}
		})
	}
	return rows, total
}

// isCount reports whether a statement reads a total.
func isCount(s dbconn.Statement) bool {
	return strings.Contains(s.SQL, "FROM counter") || strings.Contains(s.SQL, "COUNT(*) FROM")
}

// SQLite has the statistics of its schema, so its plans follow from that alone.
// Operations need the data, so that they find something.
func TestABigDatabaseOnSQLite(t *testing.T) {
	requirePlans(t)
	t.Parallel()
	b := newBigWorld(newWorld(t, storetest.SQLite(t)), sizes{
		repos: 5_000, tags: 5_000, identities: 2_000, bindings: 3_000, advisories: 1_000, organizations: 50, events: 200, artifacts: 2_000, deliveries: 2_000, findings: 2_000,
	})
	s := b.newSpy()
	p := b.replica(s)
	for _, r := range b.hotReads(p, s) {
		statements, err := recordStatements(b.contextOn(p, r.subject), r.run)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		for _, s := range statements {
			steps := b.explainQueryPlan(t, s)
			for _, step := range steps {
				if fault := findFault(step, steps); fault != "" && (fault != sortsAll || !r.sorts) {
					t.Errorf("%s %s:\n%s\n  %s", r.name, fault, s.SQL, strings.Join(steps, "\n  "))
				}
			}
		}
	}
}

const sortsAll = "sorts"

// findFault describes what is wrong with a step of a plan.
func findFault(step string, steps []string) string {
	name, isScan := strings.CutPrefix(step, "SCAN ")
	switch {
	case strings.HasPrefix(step, "USE TEMP B-TREE FOR ORDER BY"):
		return sortsAll
	case !isScan, name == "CONSTANT ROW", strings.Contains(name, "VIRTUAL TABLE"):
		return ""
	case name == "t USING INDEX sqlite_autoindex_vulnerability_1": // This index returns all rows in order, up to the limit.
		return ""
	}
	for _, other := range steps {
		if other == "CO-ROUTINE "+name || other == "MATERIALIZE "+name {
			return "" // This part of the statement has its own limit.
		}
	}
	return "reads all of " + name
}

// These reads have no index of their own: their cost grows with the scope.
//
//   - update_time below a group of the second level or deeper has no index
//     (it would make every update touch three more); the rows of the group of
//     the second or third level are sorted.
//   - The same holds for create_time there, but for repos, tags and role
//     bindings.
//   - The same holds for the orders of rare kinds: roles by update_time,
//     advisories by times or artifact below the second level or in one group,
//     subscriptions by update_time.
//   - Scopes below the third level walk the index of that level and leave out
//     what lies beside: a page costs as much as the scope's share is small.
//   - A total behind a filter counts the rows that its index finds; filters
//     on words of events, a free text, a role's capability, or on SQLite an
//     alias, look at every row of the scope.
//   - All advisory documents at once read the index of what there is.
//   - Facets count the rows of their lists, and so does a word that most rows hold. Those of
//     findings are sums, unless the filter asks for what finding_count does not have.
//   - Remediated artifacts and those of a CUDA version have indexes by name
//     alone; a free text looks at every artifact of the ecosystems.
//   - An activity reads what happened in its days, and below the first level
//     of groups all of the group.
func (b *bigWorld) checkFallbacks(t *testing.T) {
	p := b.replica(b.newSpy())
	e := b.explainer()
	below := func(level int) core.UIDFilter { return core.UIDFilter{DescendantsOf: b.deep[level]} }
	for _, r := range []hotRead{
		{name: "repos below level 1 by update_time", run: askList(p.Repos.List, core.ListRequest[*inventory.RepoFilter]{UIDP: below(1), OrderBy: "update_time"})},
		{name: "repos below level 4 by update_time", run: askList(p.Repos.List, core.ListRequest[*inventory.RepoFilter]{UIDP: below(4), OrderBy: "update_time desc"})},
		{name: "identities below level 1 by create_time", run: askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: below(1), OrderBy: "create_time"})},
		{name: "tags of the busy repo by digest", run: askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(b.busyRepo), OrderBy: "digest"})},
		{name: "identities below level 0 by email", run: askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: below(0), OrderBy: "email desc"})},
		{name: "advisories below level 0 by delete_time", run: askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: below(0), OrderBy: "delete_time desc"})},
		{name: "deliveries by type", run: askList(p.Deliveries.List, core.ListRequest[*webhooks.DeliveryFilter]{UIDP: childrenOf(b.subscriptions[0]), OrderBy: "event_type"})},
		{name: "documents by id and names", run: func(ctx context.Context) error {
			_, err := p.AdvisoryDocuments.List(ctx, core.ListRequest[*reports.DocumentFilter]{Filter: &reports.DocumentFilter{ID: b.artifacts[0], CVEs: []string{"CVE-" + b.advisoryIDs[0]}}})
			return err
		}},
		{name: "bindings with a capability", run: askList(p.RoleBindings.List, core.ListRequest[*iam.RoleBindingFilter]{UIDP: below(0), Filter: &iam.RoleBindingFilter{Capability: core.CapRepoCreate}})},
		{name: "facets of all repos", run: func(ctx context.Context) error {
			page, err := p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: below(0), PageSize: 1})
			if err == nil {
				_, err = p.Repos.Facets(ctx, []core.Page[*inventory.Repo]{page})
			}
			return err
		}},
		{name: "a search for what all repos hold", run: func(ctx context.Context) error {
			_, err := p.Search.List(ctx, core.SearchRequest{Query: "repo"})
			return err
		}},
		{name: "who can do something in 50 groups", run: func(ctx context.Context) error {
			return checkNotEmpty(p.RoleBindings.ListEffective(ctx, b.groups[:50], core.CapRepoCreate, core.ListRequest[*iam.RoleBindingFilter]{PageSize: 10}))
		}},
		{name: "the activity of advisories in an organization", run: b.activity(p, b.root)},
		{name: "the activity of advisories in a group", run: b.activity(p, b.deep[1])},
		{name: "the activity of advisories of a repo", run: b.activity(p, b.busyRepo)},
		{name: "the activity of the log", run: func(ctx context.Context) error {
			_, err := p.AuditLog.Activity(ctx, core.ActivityRequest{Within: b.root, Interval: core.EachWeek, From: core.At(epoch), To: core.At(epoch.AddDate(0, 1, 0))}, nil)
			return err
		}},
		{name: "a long run of the log", run: func(ctx context.Context) error {
			_, err := p.AuditLog.ListRuns(ctx, events.AuditRequest{DescendantsOf: b.root, Actor: string(b.busyActor()), PageSize: 20})
			return err
		}},
		{name: "artifacts by free text", run: askList(p.Artifacts.List, core.ListRequest[*libraries.ArtifactFilter]{Filter: &libraries.ArtifactFilter{Ecosystems: bothEcosystems, Query: "holds 77"}})},
		{name: "advisories by free text", run: askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: below(0), Filter: &inventory.AdvisoryFilter{Query: "go-2001-1"}})},
	} {
		statements, err := recordStatements(b.contextOn(p, "owner"), r.run)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		for _, s := range statements {
			plan, err := e.explain(t.Context(), s, "force_generic_plan")
			if err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
			t.Logf("%6d buffers: %s", plan.buffers(), r.name)
		}
	}
}

// activity reads two weeks of advisories.
func (*bigWorld) activity(p *platform.Platform, within core.UID) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := p.Activities.ListAdvisoryActivity(ctx, core.ActivityRequest{Within: within, From: core.At(epoch), To: core.At(epoch.AddDate(0, 0, 13))})
		return err
	}
}
