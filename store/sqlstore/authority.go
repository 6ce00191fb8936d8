package sqlstore

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Triggers give a scope of the table authority a new version with every change that can
// decide who a caller is and what they hold: see the schema. Thus a request reads all
// about its bearer only if a version differs from the one of an earlier request.

// knownAuthority holds what earlier requests with the same token have read. It is
// immutable.
type knownAuthority struct {
	scopes   []string          // scopes of the bearer, sorted; nil until its rows have been read
	ends     core.Time         // the time when the first grant of the bearer expires; zero if none does
	read     *dbconn.Statement // reads everything about the bearer, and the versions of scopes
	compare  *dbconn.Statement // reads only the versions, and none of them once a grant has expired
	versions string            // the versions with which the rows have proven the presumption
	until    time.Time         // time at which everything must be read again; zero if there are no such versions
}

const (
	// maxScopes limits the scopes of a bearer whose versions are compared.
	maxScopes = 16
	// These are the prefixes of the scopes of organizations and issuers.
	rootScope, issuerScope = "root:", "issuer:"
	// rootBytes is the length of the UID of a root group.
	rootBytes = 20
	// boundFor is how long versions are compared. Then everything is read again, which
	// also notes that the identities were seen.
	boundFor = 30 * time.Second
)

// newKnownAuthority prepares the statements for a bearer with scopes, whose first grant expires at
// a time.
func newKnownAuthority(d *dbconn.Dialect, b iam.Bearer, scopes []string, ends core.Time) *knownAuthority {
	known := &knownAuthority{scopes: scopes, ends: ends, read: signInStatement(d, b, scopes)}
	if len(scopes) > 0 {
		q := table.NewStatement(d)
		q.Plan, q.Quick = dbconn.PlanBySession, true
		q.Add("SELECT " + scopeVersion + " FROM ")
		addScopes(q, scopes)
		if !ends.IsZero() {
			q.Add(" WHERE "+d.Now+" < ?", ends)
		}
		known.compare = q.Build(nil)
	}
	return known
}

// scopeVersion selects the version of a scope s.column2. If that scope has no version yet, it
// selects the version of the scope that follows in the index. No two versions are equal, so the
// first version of the scope changes the result. With an equality in place of the order,
// PostgreSQL would read the whole table while it has at most some hundreds of scopes.
const scopeVersion = "COALESCE((SELECT a.version FROM authority a WHERE a.scope >= s.column2 ORDER BY a.scope LIMIT 1), '')"

// addScopes adds a table s of scopes, with their places in column1.
func addScopes(q *table.Statement, scopes []string) {
	for i, scope := range scopes {
		before := ", "
		if i == 0 {
			before = "(VALUES "
		}
		q.Add(fmt.Sprintf("%s('%02d', ?)", before, i), scope)
	}
	q.Add(") s")
}

// isBound reports whether comparing versions proves the presumption.
func (k *knownAuthority) isBound(now time.Time) bool { return now.Before(k.until) }

// bind returns what is known once rows have proven the presumption. If the scopes of
// the rows and the end of the first grant are those of the statements, the versions are known, too.
func (k *knownAuthority) bind(d *dbconn.Dialect, b iam.Bearer, found *signIns, now time.Time) *knownAuthority {
	scopes := found.scopes(b)
	switch {
	case len(scopes) > maxScopes:
		return &knownAuthority{read: k.read}
	case !slices.Equal(scopes, k.scopes) || found.ends != k.ends:
		return newKnownAuthority(d, b, scopes, found.ends)
	}
	bound := *k
	bound.versions, bound.until = string(found.versions), now.Add(boundFor)
	return &bound
}

// scopes returns the scopes of everything that decides what the bearer holds: the issuers
// that rules for it can name, and the root groups of its rows. The built-in roles have
// the root "".
func (found *signIns) scopes(b iam.Bearer) []string {
	scopes := []string{rootScope, issuerScope + b.Issuer}
	for _, issuer := range b.Issuers {
		scopes = append(scopes, issuerScope+issuer)
	}
	for _, row := range found.rows {
		for _, column := range []int{0, 4} { // the UIDs of a provider and an identity
			if uid := found.text[row.texts[column].start:row.texts[column].end]; len(uid) >= rootBytes {
				scopes = append(scopes, rootScope+hex.EncodeToString(uid[:rootBytes]))
			}
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// AuthorityVersions reads the versions of organizations and issuers.
func (queries) AuthorityVersions(ctx context.Context, on core.Conn, roots []core.UID, issuers []string) (iam.AuthorityVersions, error) {
	s := tablesOf(on)
	var scopes table.Keys
	for _, root := range roots {
		scopes = append(scopes, rootScope+string(root))
	}
	for _, issuer := range issuers {
		scopes = append(scopes, issuerScope+issuer)
	}
	found := iam.AuthorityVersions{Roots: map[core.UID]string{}, Issuers: map[string]string{}}
	q := table.NewStatement(s.Dialect).Add("SELECT a.scope, a.version FROM authority a WHERE a.scope ?", scopes)
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var scope, version string
		err := scan(&scope, &version)
		if root, isRoot := strings.CutPrefix(scope, rootScope); isRoot {
			found.Roots[core.UID(root)] = version
		} else {
			found.Issuers[strings.TrimPrefix(scope, issuerScope)] = version
		}
		return err
	}))
	return found, err
}

// addVersion keeps the version of a scope.
func (found *signIns) addVersion(scan func(...any) error) error {
	if found.to[0] == nil {
		found.versions = make([]byte, 0, 512)
		found.to[0] = versionColumn{&found.versions}
	}
	return scan(found.to[:1]...)
}

// A versionColumn appends the bytes of a column to versions.
type versionColumn struct{ versions *[]byte }

// AppendText keeps the bytes.
func (c versionColumn) AppendText(b, src []byte) ([]byte, error) {
	*c.versions = append(binary.AppendUvarint(*c.versions, uint64(len(src))), src...)
	return b, nil
}

// SetText does nothing: the bytes have been kept.
func (versionColumn) SetText(string) {}

// Scan keeps the bytes.
func (c versionColumn) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("cannot read a version from %T", src)
	}
	_, err := c.AppendText(nil, []byte(text))
	return err
}
