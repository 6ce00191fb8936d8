package sqlstore

import (
	"context"

	"atrium/platform"
)

const ruleColumns = "t.uid, t.parent, t.vulnerability, t.package, t.ecosystem, t.version, t.digest, t.state, t.justification, t.note, t.expire_time, t.create_time, t.author"

// collectRules returns what scans rules.
func collectRules(found *[]*platform.TriageRule) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		r := new(platform.TriageRule)
		*found = append(*found, r)
		return scan(keyOf(&r.UID), keyOf(&r.Scope), &r.VulnerabilityID, &r.Package, &r.Ecosystem, &r.Version, &r.Digest, (*string)(&r.State), &r.Justification, &r.Note,
			timeOf(&r.ExpireTime), timeOf(&r.CreateTime), &r.Author)
	}
}

// TriageRules reads rules.
func (queries) TriageRules(ctx context.Context, in platform.Tx, scopes []platform.UID, vulnerabilities []string) ([]*platform.TriageRule, error) {
	tx := transactionOf(in)
	var found []*platform.TriageRule
	q := newStatement(tx.dialect).add("SELECT "+ruleColumns+" FROM triage_rule t WHERE t.parent ?", uidValueList(scopes)).add(" AND t.vulnerability ?", valueList(vulnerabilities))
	err := tx.conn.Run(ctx, q.build(collectRules(&found)))
	return found, err
}

// RulesOf reads the rules of scopes.
func (queries) RulesOf(ctx context.Context, on platform.Conn, scopes []platform.UID) ([]*platform.TriageRule, error) {
	s := tablesOf(on)
	var found []*platform.TriageRule
	q := newStatement(s.dialect).add("SELECT "+ruleColumns+" FROM triage_rule t WHERE t.parent ?", uidValueList(scopes))
	err := s.reads.Run(ctx, q.add(" ORDER BY t.uid").build(collectRules(&found)))
	return found, err
}

// OtherNames lists other names of a vulnerability.
func (queries) OtherNames(ctx context.Context, in platform.Tx, root platform.UID, vulnerability string) ([]string, error) {
	tx := transactionOf(in)
	var names []string
	q, roots := newStatement(tx.dialect), uidValueList([]platform.UID{root, platform.FeedGroup})
	q.add("SELECT o.alias FROM advisory_alias a CROSS JOIN advisory t CROSS JOIN advisory_alias o WHERE a.alias = ?", vulnerability).add(" AND t.uid = a.uid AND t.root ? AND o.uid = t.uid", roots)
	q.add(" UNION SELECT t.advisory_id FROM advisory_alias a CROSS JOIN advisory t WHERE a.alias = ?", vulnerability).add(" AND t.uid = a.uid AND t.root ?", roots)
	q.add(" UNION SELECT o.alias FROM advisory t CROSS JOIN advisory_alias o WHERE t.advisory_id = ?", vulnerability).add(" AND t.root ? AND o.uid = t.uid", roots)
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	}))
	return names, err
}

// PutTriageRules stores rules.
func (queries) PutTriageRules(in platform.Tx, rules []*platform.TriageRule) {
	tx := transactionOf(in)
	for _, r := range rules {
		q := newStatement(tx.dialect).add("INSERT INTO triage_rule (uid, parent, vulnerability, package, ecosystem, version, digest, state, justification, note, expire_time, create_time, author)"+
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			r.UID, r.Scope, r.VulnerabilityID, r.Package, r.Ecosystem, r.Version, r.Digest, string(r.State), r.Justification, r.Note, r.ExpireTime, r.CreateTime, r.Author)
		tx.conn.Queue(q.add(" ON CONFLICT (parent, vulnerability, package, ecosystem, version, digest) DO UPDATE SET state = excluded.state, justification = excluded.justification," +
			" note = excluded.note, expire_time = excluded.expire_time, create_time = excluded.create_time, author = excluded.author").build(nil))
	}
}

// DeleteTriageRules deletes rules.
func (queries) DeleteTriageRules(in platform.Tx, uids []platform.UID) {
	tx := transactionOf(in)
	if len(uids) > 0 {
		tx.conn.Queue(newStatement(tx.dialect).add("DELETE FROM triage_rule WHERE uid ?", uidKeyList(uids)).build(nil))
	}
}

// DeleteRulesOf deletes the rules of a group or a repo.
func (queries) DeleteRulesOf(in platform.Tx, scope platform.UID) {
	tx := transactionOf(in)
	tx.conn.Queue(newStatement(tx.dialect).add("DELETE FROM triage_rule WHERE parent = ?", scope).build(nil))
}

// EndTriageRules deletes rules whose time is over.
func (queries) EndTriageRules(ctx context.Context, in platform.Tx, now platform.Time) error {
	tx := transactionOf(in)
	q := newStatement(tx.dialect).add("DELETE FROM triage_rule WHERE expire_time > ? AND expire_time <= ?", platform.Time{}, now)
	return tx.conn.Run(ctx, q.build(nil))
}

// AddRuleTasks adds tasks for the findings of vulnerabilities, also by other names of these.
func (queries) AddRuleTasks(in platform.Tx, scope platform.UID, vulnerabilities []string) {
	tx := transactionOf(in)
	q := newStatement(tx.dialect)
	q.add("INSERT INTO finding_task (root, subject, digest, advisory)")
	q.add(" SELECT f.root, f.parent, '', f.advisory FROM finding f WHERE f.root_key = ?", scopeKey(scope.Root())).add(" AND f.vulnerability ?", valueList(vulnerabilities))
	q.add(" AND f.rest >= ? AND f.rest < ?", restOf(scope), pastRest(scope))
	q.add(" UNION SELECT f.root, f.parent, '', f.advisory FROM advisory_alias a CROSS JOIN finding f WHERE a.alias ?", valueList(vulnerabilities))
	q.add(" AND f.advisory = a.uid AND f.uid >= ? AND f.uid < ?", packUID(scope), pastSubtree(scope))
	tx.conn.Queue(q.build(nil))
}
