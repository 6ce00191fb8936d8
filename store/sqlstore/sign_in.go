package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Candidates reads, with one statement of three parts, the identities whose rule may
// match a bearer, the identity providers of the issuer with the identities that they
// provisioned, and the mappings of the bearer's external groups.
func (queries) Candidates(ctx context.Context, on core.Conn, b iam.Bearer) ([]iam.Candidate, []iam.SignInOption, error) {
	s := tablesOf(on)
	var found signIns
	statement := signInStatement(s.Dialect, b, nil)
	statement.Row = found.add
	if err := s.Conn.Run(ctx, statement); err != nil {
		return nil, nil, err
	}
	return found.Decode()
}

// signInStatement builds the statement of Candidates. Its rows are sorted, so that the
// results of two reads can be compared. It also reads the versions of scopes, in the same
// snapshot.
func signInStatement(d *dbconn.Dialect, b iam.Bearer, scopes []string) *dbconn.Statement {
	q := table.NewStatement(d)
	if len(b.Static) > 0 {
		q.Add("SELECT 0, '', '', '', '', i.uid, i.claim_match, i.static_keys, '', i.last_seen_time, " + boundColumns + " FROM identity i")
		addBound(q).Add(" WHERE i.uid ?", table.UIDKeys(b.Static))
	} else {
		q.Add("SELECT 0, CASE c.place WHEN 2 THEN i.uid ELSE ? END, '', '', '', i.uid, i.claim_match, i.static_keys, '', i.last_seen_time, "+boundColumns+" FROM (", core.UID(""))
		addCandidates(q, b)
		addBound(q.Add(") c JOIN identity i ON i.uid = c.uid"))
		addSignInOptions(q, b)
	}
	if len(scopes) > 0 {
		q.AddUnion().Add("SELECT 3, '', '', " + scopeVersion + ", s.column1, '', '', '', '', NULL, '', '', '', NULL FROM ")
		addScopes(q, scopes)
	}
	q.Add(" ORDER BY 1, 2, 6, 5, 11, 12")
	return q.Build(nil)
}

// addCandidates selects the candidates, with a limit per organization and a limit in
// total. Each part stops reading its index at the limit, so the cost does not depend
// on the number of other rules.
func addCandidates(q *table.Statement, b iam.Bearer) {
	q.Add("SELECT uid, place FROM (SELECT uid, place, create_time, row_number() OVER (PARTITION BY root ORDER BY place, create_time, uid) AS share FROM (")
	withKey := func(place, limit int, key string) {
		q.Add(fmt.Sprintf("SELECT * FROM (SELECT uid, root, create_time, %d AS place FROM identity WHERE match_rule = ? ORDER BY create_time, uid LIMIT %d) k%d", place, limit, len(q.Args)), key)
	}
	withKey(0, iam.MaxExactRules, rule(b.Issuer, b.Subject))
	for _, subject := range b.Tenants {
		q.AddUnion()
		withKey(1, iam.MaxCandidates, rule(b.Issuer, subject))
	}
	q.AddUnion().Add("SELECT * FROM (SELECT i.uid, i.root, i.create_time, 2 AS place FROM issuer_proof v CROSS JOIN " + q.Parents(table.TextPairs(b.Subjects, b.Subjects)...))
	q.Add(" CROSS JOIN identity i WHERE i.match_rule = v.issuer || ? || p.k AND i.root = v.root AND v.issuer ? AND v.method <> ? AND i.match_rule <> ? ORDER BY i.create_time, i.uid", ruleBreak, table.Values(b.Issuers), string(iam.ProofUpgrade), rule(b.Issuer, b.Subject))
	q.Add(fmt.Sprintf(" LIMIT %d) proven) found) ranked WHERE share <= %d ORDER BY place, share, create_time, uid LIMIT %d",
		iam.MaxCandidates, iam.MaxCandidatesOfRoot, iam.MaxCandidates))
}

// boundColumns are those of the grants of an identity i: one row for each role, or one row of empty
// texts.
const boundColumns = "b.parent, b.role, COALESCE(r.capabilities, ''), b.expire_time"

// addBound joins the grants of an identity i that have not expired.
func addBound(s *table.Statement) *table.Statement {
	return addUnexpired(s.Add(" LEFT JOIN role_binding b ON b.identity = i.uid AND "), "b").Add(" LEFT JOIN role r ON r.uid = b.role")
}

// addSignInOptions adds the identity providers of the issuer with the identities that they
// provisioned, and the mappings of external groups.
func addSignInOptions(q *table.Statement, b iam.Bearer) {
	external := make(table.Values, len(b.ExternalIDs))
	for i, id := range b.ExternalIDs {
		external[i] = rule(b.Issuer, id)
	}
	q.AddUnion().Add("SELECT 1, p.uid, p.default_role, p.oidc, v.method, i.uid, i.claim_match, '', COALESCE(i.external_id, ''), i.last_seen_time, "+boundColumns+
		" FROM issuer_proof v JOIN identity_provider p ON p.issuer = v.issuer AND p.root = v.root LEFT JOIN identity i ON i.provider = p.uid AND i.external_id ?", external)
	addBound(q).Add(" WHERE v.issuer = ?", b.Issuer)
	if len(b.Groups) == 0 {
		return
	}
	q.AddUnion().Add("SELECT 2, p.uid, '', '', m.external_group_id, '', '', '', '', NULL, m.scope, m.role, r.capabilities, NULL"+
		" FROM issuer_proof v JOIN identity_provider p ON p.issuer = v.issuer AND p.root = v.root JOIN external_group_role_mapping m ON m.parent = p.uid AND m.external_group_id ?"+
		" JOIN role r ON r.uid = m.role WHERE v.issuer = ?", table.Values(b.Groups), b.Issuer)
}

// signIns collects the rows, and decodes them only if they are not the ones that were
// decoded before. The parts of the statement follow one another.
type signIns struct {
	rows    []signInRow
	text    []byte // the columns of all rows, from which their digest is computed
	row     signInRow
	columns [signInTexts]rawColumn

	versions []byte // versions of the scopes, in the order of the scopes
	to       [signInTexts + 3]any
	ends     core.Time // the time when the first of the grants expires; zero if none does

	candidates []iam.Candidate
	options    []iam.SignInOption
}

// A signInRow is a row whose texts have not been decoded.
type signInRow struct {
	part  int64
	seen  core.Time
	ends  core.Time // the time when the grant expires; zero if it does not
	texts [signInTexts]textRange
}

// A textRange is a part of the text of all rows.
type textRange struct{ start, end int }

// signInTexts is the number of columns that are texts, UIDs or JSON.
const signInTexts = 11

// A rawColumn keeps the bytes of a column.
type rawColumn struct {
	rows *signIns
	n    int
}

// AppendText keeps the bytes. Their number goes before them, so that no other rows have
// the same text.
func (c *rawColumn) AppendText(b, src []byte) ([]byte, error) {
	c.rows.text = binary.BigEndian.AppendUint64(c.rows.text, uint64(len(src)))
	start := len(c.rows.text)
	c.rows.text = append(c.rows.text, src...)
	c.rows.row.texts[c.n].start, c.rows.row.texts[c.n].end = start, len(c.rows.text)
	return b, nil
}

// SetText does nothing: the bytes have been kept.
func (*rawColumn) SetText(string) {}

// Scan keeps the bytes.
func (c *rawColumn) Scan(src any) (err error) {
	switch src := src.(type) {
	case nil:
		_, err = c.AppendText(nil, nil)
	case string:
		_, err = c.AppendText(nil, []byte(src))
	case []byte:
		_, err = c.AppendText(nil, src)
	default:
		err = fmt.Errorf("cannot read bytes from %T", src)
	}
	return err
}

// add keeps a row.
func (found *signIns) add(scan func(...any) error) error {
	if found.to[0] == nil {
		found.text = make([]byte, 0, 1<<10)
		found.to[0], found.to[9], found.to[13] = &found.row.part, table.TimeOf(&found.row.seen), table.TimeOf(&found.row.ends)
		for i := range found.columns {
			at := i + 1
			if at >= 9 {
				at++
			}
			found.columns[i] = rawColumn{found, i}
			found.to[at] = &found.columns[i]
		}
	}
	start := len(found.text)
	if err := scan(found.to[:]...); err != nil {
		return err
	}
	if found.row.part == 3 {
		version := found.row.texts[2]
		_, _ = versionColumn{&found.versions}.AppendText(nil, found.text[version.start:version.end])
		found.text = found.text[:start] // versions are no part of the digest
		return nil
	}
	if end := found.row.ends; !end.IsZero() && (found.ends.IsZero() || end.Before(found.ends.Time)) {
		found.ends = end
	}
	found.rows = append(found.rows, found.row)
	found.text = binary.AppendVarint(found.text, found.row.part)
	found.text = binary.AppendVarint(found.text, found.row.seen.UnixMicro())
	found.text = binary.AppendVarint(found.text, found.row.ends.UnixMicro())
	return nil
}

// Digest returns a digest of the rows.
func (found *signIns) Digest() [sha256.Size]byte { return sha256.Sum256(found.text) }

// Decode decodes the rows.
func (found *signIns) Decode() ([]iam.Candidate, []iam.SignInOption, error) {
	for _, row := range found.rows {
		if err := found.decode(row); err != nil {
			return nil, nil, err
		}
	}
	return found.candidates, found.options, nil
}

// decode adds a row to the candidates or to the options.
func (found *signIns) decode(row signInRow) error {
	var provider iam.IdentityProvider
	var i iam.Identity
	var g core.Grant
	var text, external string
	i.LastSeenTime, g.ExpireTime = row.seen, row.ends
	for n, to := range [signInTexts]sql.Scanner{
		table.UIDOf(&provider.UID), table.UIDOf(&provider.DefaultRole), table.JSONOf(&provider.OIDC), textColumn{&text},
		table.UIDOf(&i.UID), table.JSONOf(&storedRule{&i.ClaimMatch}), table.JSONOf(&i.StaticKeys), textColumn{&external},
		table.UIDOf(&g.Group), table.UIDOf(&g.Role), capabilityColumn{&g.Capabilities},
	} {
		if err := to.Scan(found.text[row.texts[n].start:row.texts[n].end]); err != nil {
			return err
		}
	}
	switch row.part {
	case 0:
		if n := len(found.candidates); n == 0 || found.candidates[n-1].Identity.UID != i.UID {
			found.candidates = append(found.candidates, iam.Candidate{Identity: &i})
		}
		last := &found.candidates[len(found.candidates)-1]
		last.Proven = last.Proven || provider.UID != ""
		addGrant(last, g)
	case 1:
		if n := len(found.options); n == 0 || found.options[n-1].Provider.UID != provider.UID {
			found.options = append(found.options, iam.SignInOption{Provider: &provider, Proof: iam.ProofMethod(text)})
		}
		found.addProvisioned(&i, external, g)
	case 2:
		for n := range found.options {
			if e := &found.options[n]; e.Provider.UID == provider.UID {
				g.Identity = provider.UID
				e.Mapped = append(e.Mapped, iam.MappedGrant{Grant: g, ExternalGroupID: text})
			}
		}
	}
	return nil
}

// A textColumn reads a text from its bytes.
type textColumn struct{ to *string }

// Scan reads the text.
func (c textColumn) Scan(src any) error {
	text, _ := src.([]byte)
	*c.to = string(text)
	return nil
}

// addProvisioned adds an identity that the last provider provisioned, if there is
// one.
func (found *signIns) addProvisioned(i *iam.Identity, external string, g core.Grant) {
	if i.UID == "" {
		return
	}
	e := &found.options[len(found.options)-1]
	if n := len(e.Provisioned); n == 0 || e.Provisioned[n-1].Identity.UID != i.UID {
		_, id := ruleParts(external)
		e.Provisioned = append(e.Provisioned, iam.ProvisionedIdentity{Candidate: iam.Candidate{Identity: i}, ExternalID: id})
	}
	addGrant(&e.Provisioned[len(e.Provisioned)-1].Candidate, g)
}

func addGrant(c *iam.Candidate, g core.Grant) {
	if g.Identity = c.Identity.UID; g.Role != "" {
		c.Grants = append(c.Grants, g)
	}
}
