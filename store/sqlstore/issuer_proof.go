package sqlstore

import (
	"context"
	"strings"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

const proofColumns = "v.root, v.issuer, v.method, v.verify_time, v.check_time"

func proofScan(p *iam.IssuerProof) []any {
	return []any{table.UIDOf(&p.Organization), &p.Issuer, (*string)(&p.Method), table.TimeOf(&p.VerifyTime), table.TimeOf(&p.CheckTime)}
}

func collectProofs(into *[]*iam.IssuerProof) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		p := new(iam.IssuerProof)
		*into = append(*into, p)
		return scan(proofScan(p)...)
	}
}

// IssuerProof reads the proof of an organization for an issuer. It is empty if there is
// none.
func (queries) IssuerProof(ctx context.Context, on core.Conn, root core.UID, issuer string) (*iam.IssuerProof, error) {
	s := tablesOf(on)
	found := &iam.IssuerProof{}
	q := table.NewStatement(s.Dialect).Add("SELECT "+proofColumns+" FROM issuer_proof v WHERE v.issuer = ? AND v.root = ?", issuer, root)
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(proofScan(found)...) }))
	return found, err
}

// DueIssuerProofs lists proofs by a file that were not checked since a time.
func (queries) DueIssuerProofs(ctx context.Context, on core.Conn, before core.Time, limit int) ([]*iam.IssuerProof, error) {
	s := tablesOf(on)
	var due []*iam.IssuerProof
	q := table.NewStatement(s.Dialect).Add("SELECT "+proofColumns+" FROM issuer_proof v WHERE v.method = 'file' AND v.check_time < ? ORDER BY v.check_time LIMIT ?", before, int64(limit))
	err := s.Conn.Run(ctx, q.Build(collectProofs(&due)))
	return due, err
}

// IssuerProofs lists all proofs, and the issuers without one. It reads all
// identities with patterns, so only the operator may call it.
func (queries) IssuerProofs(ctx context.Context, on core.Conn) ([]*iam.IssuerProof, error) {
	s := tablesOf(on)
	var all []*iam.IssuerProof
	q := table.NewStatement(s.Dialect).Add("SELECT " + proofColumns + " FROM issuer_proof v ORDER BY v.root, v.issuer")
	if err := s.Conn.Run(ctx, q.Build(collectProofs(&all))); err != nil {
		return nil, err
	}
	type decision struct {
		root   core.UID
		issuer string
	}
	known := map[decision]bool{}
	for _, p := range all {
		known[decision{p.Organization, p.Issuer}] = true
	}
	q = table.NewStatement(s.Dialect).AddSlow("SELECT p.root, p.issuer FROM identity_provider p WHERE p.issuer <> '' UNION SELECT i.root, i.match_rule FROM identity i WHERE i.match_rule LIKE ? ORDER BY 1, 2", "%"+iam.PatternMark+"%")
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var root core.UID
		var rule string
		if err := scan(table.UIDOf(&root), &rule); err != nil {
			return err
		}
		issuer, _, _ := strings.Cut(rule, ruleBreak)
		if d := (decision{root, issuer}); !known[d] {
			known[d] = true
			all = append(all, &iam.IssuerProof{Organization: d.root, Issuer: issuer})
		}
		return nil
	}))
	return all, err
}

// ProvidersOfIssuer lists the identity providers of an organization for an
// issuer.
func (queries) ProvidersOfIssuer(ctx context.Context, on core.Conn, root core.UID, issuer string) ([]core.UID, error) {
	s := tablesOf(on)
	var uids []core.UID
	q := table.NewStatement(s.Dialect).Add("SELECT uid FROM identity_provider WHERE issuer = ? AND root = ? ORDER BY uid", issuer, root)
	err := s.Conn.Run(ctx, q.Build(collectUIDs(&uids)))
	return uids, err
}

// CountRules counts the other identities of an organization that have a key. A subject of static
// keys never looks like a pattern.
func (queries) CountRules(ctx context.Context, on core.Conn, keys map[core.UID]iam.RuleKey) (map[core.UID]int, error) {
	s := tablesOf(on)
	return s.countByIdentity(ctx, keys, func(q *table.Statement, identity core.UID, key string) {
		q.AddSlow("SELECT (SELECT COUNT(*) FROM identity WHERE match_rule = ? AND root = ? AND uid <> ?)", key, identity.Root(), identity)
		q.Add(" + (SELECT COUNT(*) FROM identity WHERE static_rule = ? AND static_rule <> '' AND root = ? AND uid <> ?)", key, identity.Root(), identity)
	})
}

// CountBindings counts the role bindings of each identity, and of those with its key.
func (queries) CountBindings(ctx context.Context, on core.Conn, keys map[core.UID]iam.RuleKey, most int) (map[core.UID]int, error) {
	s := tablesOf(on)
	return s.countByIdentity(ctx, keys, func(q *table.Statement, identity core.UID, key string) {
		q.AddSlow("SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT uid FROM identity WHERE match_rule = ? AND root = ?", key, identity.Root())
		q.Add(" UNION SELECT uid FROM identity WHERE static_rule = ? AND static_rule <> '' AND root = ? UNION SELECT uid FROM identity WHERE uid = ?) i", key, identity.Root(), identity)
		q.Add(" JOIN role_binding b ON b.identity = i.uid LIMIT ?) bound", int64(most))
	})
}

// countByIdentity runs a statement that counts for each identity and its rule.
func (s tables) countByIdentity(ctx context.Context, keys map[core.UID]iam.RuleKey, add func(q *table.Statement, identity core.UID, key string)) (map[core.UID]int, error) {
	counts := make(map[core.UID]int, len(keys))
	var run []*dbconn.Statement
	for identity, key := range keys {
		q := table.NewStatement(s.Dialect)
		add(q, identity, ruleText(key))
		run = append(run, q.Build(func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			counts[identity] = int(n)
			return err
		}))
	}
	if len(run) == 0 {
		return counts, nil
	}
	return counts, s.Conn.Run(ctx, run...)
}

// HasOwner reports whether an organization has a lasting owner who could sign in. The UID without is
// that of a role binding or of an identity whose rule does not count. Owners with these identities do not count.
func (queries) HasOwner(ctx context.Context, on core.Conn, root, without core.UID, identities ...core.UID) (bool, error) {
	s := tablesOf(on)
	has := false
	q := table.NewStatement(s.Dialect).Add("SELECT 1 FROM role_binding b JOIN identity i ON i.uid = b.identity WHERE b.parent = ? AND b.role = ? AND b.uid <> ? AND b.expire_time IS NULL", root, iam.OwnerRole, without)
	q.Add(" AND (i.provider IS NOT NULL OR i.uid <> ? AND (i.match_rule <> '' OR i.static_rule <> ''))", without)
	if len(identities) > 0 {
		q.Add(" AND NOT (i.uid ?)", table.UIDKeys(identities))
	}
	q.Add(" LIMIT 1")
	err := s.Conn.Run(ctx, q.Build(func(func(...any) error) error { has = true; return nil }))
	return has, err
}

// PutIssuerProof stores a proof.
func (queries) PutIssuerProof(ctx context.Context, in core.Tx, p *iam.IssuerProof) error {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("INSERT INTO issuer_proof (root, issuer, method, verify_time, check_time) VALUES (?, ?, ?, ?, ?)", p.Organization, p.Issuer, string(p.Method), p.VerifyTime, p.CheckTime)
	q.Add(" ON CONFLICT (issuer, root) DO UPDATE SET method = excluded.method, verify_time = excluded.verify_time, check_time = excluded.check_time")
	return tx.Conn.Run(ctx, q.Build(nil))
}

// DeleteIssuerProof removes a proof.
func (queries) DeleteIssuerProof(ctx context.Context, in core.Tx, root core.UID, issuer string) error {
	tx := transactionOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("DELETE FROM issuer_proof WHERE issuer = ? AND root = ?", issuer, root).Build(nil))
}
