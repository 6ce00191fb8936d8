package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

const ruleColumns = "t.uid, t.parent, t.vulnerability, t.package, t.ecosystem, t.version, t.digest, t.image, t.product, t.product_ecosystem, t.product_version, t.pattern, t.state, t.justification, t.note, t.expire_time, t.create_time, t.author"

// collectRules returns what scans rules.
func collectRules(found *[]*inventory.TriageRule) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		r := new(inventory.TriageRule)
		*found = append(*found, r)
		return scan(table.UIDOf(&r.UID), table.UIDOf(&r.Scope), &r.VulnerabilityID, &r.Package, &r.Ecosystem, &r.Version, &r.Digest,
			&r.Image, &r.Product.Package, &r.Product.Ecosystem, &r.Product.Version, table.JSONOf(&r.Pattern), (*string)(&r.State), &r.Justification, &r.Note,
			table.TimeOf(&r.ExpireTime), table.TimeOf(&r.CreateTime), &r.Author)
	}
}

// selectRules returns a statement that reads rules.
func selectRules(d *dbconn.Dialect, scopes []core.UID, vulnerabilities []string, into *[]*inventory.TriageRule) *dbconn.Statement {
	q := table.NewStatement(d).Add("SELECT "+ruleColumns+" FROM triage_rule t WHERE t.parent ?", table.UIDValues(scopes))
	return q.Add(" AND t.vulnerability ?", table.Values(vulnerabilities)).Build(collectRules(into))
}

// TriageRules reads rules.
func (queries) TriageRules(ctx context.Context, in core.Tx, scopes []core.UID, vulnerabilities []string) (found []*inventory.TriageRule, err error) {
	tx := transactionOf(in)
	err = tx.Conn.Run(ctx, selectRules(tx.Dialect, scopes, vulnerabilities, &found))
	return found, err
}

// RulesAndPolicies reads rules and policies at once.
func (queries) RulesAndPolicies(ctx context.Context, on core.Conn, scopes []core.UID, vulnerabilities []string) (found []*inventory.TriageRule, policies []*inventory.DuePolicy, err error) {
	s := tablesOf(on)
	err = s.Reads.Run(ctx, selectRules(s.Dialect, scopes, vulnerabilities, &found), selectPolicies(s.Dialect, scopes, &policies))
	return found, policies, err
}

// selectPolicies returns a statement that reads policies.
func selectPolicies(d *dbconn.Dialect, scopes []core.UID, into *[]*inventory.DuePolicy) *dbconn.Statement {
	q := table.NewStatement(d).Add("SELECT t.scope, t.known_exploited, t.critical, t.high, t.medium, t.low, t.author, t.update_time FROM due_policy t WHERE t.scope ?", table.UIDKeys(scopes))
	return q.Build(func(scan func(...any) error) error {
		p := new(inventory.DuePolicy)
		*into = append(*into, p)
		return scan(table.UIDOf(&p.Scope), &p.KnownExploited, &p.Critical, &p.High, &p.Medium, &p.Low, &p.Author, table.TimeOf(&p.UpdateTime))
	})
}

// DuePolicies reads policies.
func (queries) DuePolicies(ctx context.Context, on core.Conn, scopes []core.UID) (found []*inventory.DuePolicy, err error) {
	s := tablesOf(on)
	err = s.Reads.Run(ctx, selectPolicies(s.Dialect, scopes, &found))
	return found, err
}

func daysOrNull(days *int) any {
	if days == nil {
		return nil
	}
	return int64(*days)
}

// PutDuePolicy replaces the policy of a scope.
func (queries) PutDuePolicy(in core.Tx, p *inventory.DuePolicy) {
	tx := transactionOf(in)
	tx.Conn.Queue(table.NewStatement(tx.Dialect).Add("DELETE FROM due_policy WHERE scope = ?", p.Scope).Build(nil))
	if p.DueDays != (inventory.DueDays{}) {
		tx.Conn.Queue(table.NewStatement(tx.Dialect).Add("INSERT INTO due_policy (scope, known_exploited, critical, high, medium, low, author, update_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			p.Scope, daysOrNull(p.KnownExploited), daysOrNull(p.Critical), daysOrNull(p.High), daysOrNull(p.Medium), daysOrNull(p.Low), p.Author, p.UpdateTime).Build(nil))
	}
}

// TagSources lists the sources of the tags of a repo.
func (queries) TagSources(ctx context.Context, on core.Conn, repo core.UID) ([]string, error) {
	s := tablesOf(on)
	var sources []string
	q := table.NewStatement(s.Dialect).Add("SELECT DISTINCT t.source FROM tag t WHERE t.parent = ? AND t.source <> ''", repo)
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var source string
		err := scan(&source)
		sources = append(sources, source)
		return err
	}))
	return sources, err
}

// RulesOf reads the rules of scopes.
func (queries) RulesOf(ctx context.Context, on core.Conn, scopes []core.UID) ([]*inventory.TriageRule, error) {
	s := tablesOf(on)
	var found []*inventory.TriageRule
	q := table.NewStatement(s.Dialect).Add("SELECT "+ruleColumns+" FROM triage_rule t WHERE t.parent ?", table.UIDValues(scopes))
	err := s.Reads.Run(ctx, q.Add(" ORDER BY t.uid").Build(collectRules(&found)))
	return found, err
}

// OtherNames lists other names of a vulnerability.
func (queries) OtherNames(ctx context.Context, in core.Tx, root core.UID, vulnerability string) ([]string, error) {
	tx := transactionOf(in)
	var names []string
	q, roots := table.NewStatement(tx.Dialect), table.UIDValues([]core.UID{root, inventory.FeedGroup})
	q.Add("SELECT o.alias FROM advisory_alias a CROSS JOIN advisory t CROSS JOIN advisory_alias o WHERE a.alias = ?", vulnerability).Add(" AND t.uid = a.uid AND t.root ? AND o.uid = t.uid", roots)
	q.Add(" UNION SELECT t.advisory_id FROM advisory_alias a CROSS JOIN advisory t WHERE a.alias = ?", vulnerability).Add(" AND t.uid = a.uid AND t.root ?", roots)
	q.Add(" UNION SELECT o.alias FROM advisory t CROSS JOIN advisory_alias o WHERE t.advisory_id = ?", vulnerability).Add(" AND t.root ? AND o.uid = t.uid", roots)
	err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	}))
	return names, err
}

// DecidingRules lists the rules that decide about findings of vulnerabilities, also by other names of these.
func (queries) DecidingRules(ctx context.Context, on core.Conn, scope core.UID, vulnerabilities []string) ([]core.UID, error) {
	s := tablesOf(on)
	var found []core.UID
	q := table.NewStatement(s.Dialect)
	addFindingsNamed(q, "f.decision", scope, vulnerabilities)
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var decision string
		err := scan(&decision)
		found = append(found, core.UID(decision))
		return err
	}))
	return found, err
}

// addFindingsNamed adds a SELECT of columns of the findings of vulnerabilities in a group or a repo, also by other names of
// these, without those that occur again.
func addFindingsNamed(q *table.Statement, columns string, scope core.UID, vulnerabilities []string) {
	q.Add(" SELECT "+columns+" FROM finding f WHERE f.root_key = ?", table.ScopeKey(scope.Root())).Add(" AND f.vulnerability ?", table.Values(vulnerabilities))
	q.Add(" AND f.rest >= ? AND f.rest < ?", table.RestOf(scope), table.PastRest(scope))
	for _, named := range []string{"advisory_alias a CROSS JOIN advisory v CROSS JOIN finding f WHERE v.uid = a.uid AND a.alias ?", "advisory v CROSS JOIN finding f WHERE v.advisory_id ?"} {
		q.Add(" UNION SELECT "+columns+" FROM "+named, table.Values(vulnerabilities))
		q.Add(" AND f.representative = v.representative AND f.uid >= ? AND f.uid < ?", table.PackUID(scope), table.PastSubtree(scope))
	}
}

// PutTriageRules stores rules.
func (queries) PutTriageRules(in core.Tx, rules []*inventory.TriageRule) {
	tx := transactionOf(in)
	for _, r := range rules {
		q := table.NewStatement(tx.Dialect).Add("INSERT INTO triage_rule (uid, parent, vulnerability, package, ecosystem, version, digest, image, product, product_ecosystem, product_version, pattern, state, justification, note, expire_time, create_time, author)"+
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			r.UID, r.Scope, r.VulnerabilityID, r.Package, r.Ecosystem, r.Version, r.Digest, r.Image, r.Product.Package, r.Product.Ecosystem, r.Product.Version, table.JSONText(&r.Pattern), string(r.State), r.Justification, r.Note, r.ExpireTime, r.CreateTime, r.Author)
		tx.Conn.Queue(q.Add(" ON CONFLICT (uid) DO UPDATE SET state = excluded.state, justification = excluded.justification," +
			" note = excluded.note, expire_time = excluded.expire_time, create_time = excluded.create_time, author = excluded.author").Build(nil))
	}
}

// DeleteTriageRules deletes rules.
func (queries) DeleteTriageRules(in core.Tx, uids []core.UID) {
	tx := transactionOf(in)
	if len(uids) > 0 {
		tx.Conn.Queue(table.NewStatement(tx.Dialect).Add("DELETE FROM triage_rule WHERE uid ?", table.UIDKeys(uids)).Build(nil))
	}
}

// EndTriageRules deletes rules whose time is over.
func (queries) EndTriageRules(ctx context.Context, in core.Tx, now core.Time) error {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("DELETE FROM triage_rule WHERE expire_time > ? AND expire_time <= ?", core.Time{}, now)
	return tx.Conn.Run(ctx, q.Build(nil))
}

// AddRuleTasks adds tasks for the findings of vulnerabilities, also by other names of these.
func (queries) AddRuleTasks(in core.Tx, scope core.UID, vulnerabilities []string) {
	tx := transactionOf(in)
	tx.addsTasks = true
	q := table.NewStatement(tx.Dialect)
	q.Add("INSERT INTO finding_task (root, subject, digest, advisory)")
	addFindingsNamed(q, "f.root, f.parent, '', f.representative", scope, vulnerabilities)
	tx.Conn.Queue(q.Build(nil))
}

// PatternRules reads the rules with patterns.
func (queries) PatternRules(ctx context.Context, on core.Conn, scopes []core.UID) ([]*inventory.TriageRule, error) {
	s := tablesOf(on)
	var found []*inventory.TriageRule
	q := table.NewStatement(s.Dialect).Add("SELECT "+ruleColumns+" FROM triage_rule t WHERE t.parent ?", table.UIDValues(scopes))
	err := s.Reads.Run(ctx, q.Add(" AND t.vulnerability = '' ORDER BY t.uid").Build(collectRules(&found)))
	return found, err
}

// addImageTasks begins a statement that adds tasks for the images of findings.
func (tx *transaction) addImageTasks() *table.Statement {
	tx.addsTasks = true
	return table.NewStatement(tx.Dialect).Add("INSERT INTO finding_task (root, subject, digest) SELECT DISTINCT t.root, t.parent, t.digest FROM finding t WHERE ")
}

// AddPatternTasks adds tasks for the images of findings that a filter selects.
func (queries) AddPatternTasks(in core.Tx, scope core.UID, filter *inventory.FindingFilter) {
	tx := transactionOf(in)
	q := tx.addImageTasks().Add("t.root_key = ? AND t.rest >= ? AND t.rest < ?", table.ScopeKey(scope.Root()), table.RestOf(scope), table.PastRest(scope))
	whereFinding(filter, q)
	tx.Conn.Queue(q.Build(nil))
}

// AddDecidedTasks adds tasks for the images of findings about which a rule has decided.
func (queries) AddDecidedTasks(in core.Tx, rule core.UID) {
	tx := transactionOf(in)
	tx.Conn.Queue(tx.addImageTasks().Add("t.decision = ? AND t.count_class > 24", string(rule)).Build(nil))
}

// CountDecided counts findings by the rules that have decided about them.
func (queries) CountDecided(ctx context.Context, on core.Conn, of []inventory.DecidedScope) ([]int64, error) {
	s := tablesOf(on)
	counts := make([]int64, len(of))
	q := table.NewStatement(s.Dialect)
	for i, d := range of {
		for _, uid := range d.Within {
			if len(q.Args) > 0 {
				q.AddUnion()
			}
			q.Add("SELECT CAST(? AS BIGINT), COUNT(*) FROM finding t WHERE t.decision = ?", int64(i), string(d.Rule))
			q.Add(" AND t.count_class > 24 AND t.uid >= ? AND t.uid < ?", table.PackUID(uid), table.PastSubtree(uid))
		}
	}
	if len(q.Args) == 0 {
		return counts, nil
	}
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var i, n int64
		err := scan(&i, &n)
		counts[i] += n
		return err
	}))
	return counts, err
}
