package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"atrium/cvss"
	"atrium/platform"
)

// A storedAdvisory is a row that migrations 12 and 17 read.
type storedAdvisory struct {
	key []byte
	platform.Advisory
}

// advisoriesAtOnce is how many advisories a migration holds at once.
const advisoriesAtOnce = 1000

// rateAdvisories is migration 12. It computes the severities of the existing advisories,
// and counts the advisories by their classes.
func rateAdvisories(ctx context.Context, tx *sql.Tx, dialect *Dialect) error {
	known, err := severitiesByName(ctx, tx)
	if err != nil {
		return err
	}
	counted := deltas{}
	update := withPlaceholders(dialect, "UPDATE advisory SET severity = ?, severity_vector = ?, severity_version = ?, severity_source = ?, count_class = ? WHERE uid = ?")
	for after := []byte{}; ; {
		some, err := readAdvisoriesAfter(ctx, tx, dialect, after)
		if err != nil {
			return err
		}
		for _, a := range some {
			if after = a.key; !hasVector(a.Severities) {
				for _, name := range append([]string{a.AdvisoryID}, a.Aliases...) {
					a.Inherited = append(a.Inherited, known[name]...)
				}
			}
			s := platform.RateAdvisory(a.Severities, a.Inherited, cvss.Score)
			a.Severity = s
			class := classOf(&a.Advisory)
			if _, err := tx.ExecContext(ctx, update, s.SortKey(), s.Vector, s.Version, string(s.Source), class, a.key); err != nil {
				return err
			}
			uid, _ := platform.UnpackUID(a.key)
			for _, number := range advisoryCounters(class) {
				counted.count(number, uid, false, 0, 1)
			}
		}
		if len(some) < advisoriesAtOnce {
			return insertCounters(ctx, tx, dialect, counted)
		}
	}
}

func hasVector(all []platform.Severity) bool {
	for _, s := range all {
		if strings.HasPrefix(s.Type, "TYPE_CVSS") {
			return true
		}
	}
	return false
}

// withPlaceholders returns a statement with the placeholders of a dialect.
func withPlaceholders(dialect *Dialect, text string) string {
	s := dialect.statement()
	return s.add(text, make([]any, strings.Count(text, "?"))...).sql.String()
}

// readAdvisoriesAfter reads the next batch of advisories after a UID.
func readAdvisoriesAfter(ctx context.Context, tx *sql.Tx, dialect *Dialect, after []byte) (some []*storedAdvisory, err error) {
	query := withPlaceholders(dialect, "SELECT uid, advisory_id, aliases, events, severities, delete_time FROM advisory WHERE uid > ? ORDER BY uid LIMIT ?")
	rows, err := tx.QueryContext(ctx, query, after, advisoriesAtOnce)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		a := &storedAdvisory{}
		if err := rows.Scan(&a.key, &a.AdvisoryID, jsonColumn{&a.Aliases}, jsonColumn{&a.Events}, jsonColumn{&a.Severities}, timeColumn{&a.DeleteTime}); err != nil {
			return nil, err
		}
		some = append(some, a)
	}
	return some, rows.Err()
}

// severitiesByName reads the severities of vulnerabilities, by their ids and aliases.
func severitiesByName(ctx context.Context, tx *sql.Tx) (map[string][]platform.Severity, error) {
	rows, err := tx.QueryContext(ctx, "SELECT a.alias, v.severities FROM vulnerability v JOIN vulnerability_alias a ON a.uid = v.uid WHERE v.severities <> ''")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	known := map[string][]platform.Severity{}
	for rows.Next() {
		var name string
		var severities []platform.Severity
		if err := rows.Scan(&name, jsonColumn{&severities}); err != nil {
			return nil, err
		}
		known[name] = append(known[name], severities...)
	}
	return known, rows.Err()
}

// insertCounters writes counters of classes.
func insertCounters(ctx context.Context, tx *sql.Tx, dialect *Dialect, counted deltas) error {
	insert := withPlaceholders(dialect, "INSERT INTO counter (scope, kind, slot, n, nc) VALUES (?, ?, 0, ?, ?)")
	for _, k := range counted.sortedKeys() {
		if _, err := tx.ExecContext(ctx, insert, k.scope, int64(k.kind), counted[k].n, counted[k].nc); err != nil {
			return err
		}
	}
	return nil
}
