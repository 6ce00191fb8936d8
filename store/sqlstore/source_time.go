package sqlstore

import (
	"context"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// RaiseAdvisoryTimes replaces the source times of advisories by later ones.
func (queries) RaiseAdvisoryTimes(ctx context.Context, in core.Tx, times []feeds.SourceTime) error {
	tx := transactionOf(in)
	uids := make([][]byte, len(times))
	for i, t := range times {
		uids[i] = table.PackUID(t.UID)
	}
	return tx.raiseTimes(ctx, "advisory", "source_time", dbconn.ParentColumn{Name: "k", Bytes: uids}, times)
}

// RaiseVulnerabilityTimes replaces the source times of vulnerabilities by later ones.
func (queries) RaiseVulnerabilityTimes(ctx context.Context, in core.Tx, times []feeds.SourceTime) error {
	tx := transactionOf(in)
	ids := make([]string, len(times))
	for i, t := range times {
		ids[i] = string(t.UID)
	}
	return tx.raiseTimes(ctx, "vulnerability", "update_time", dbconn.ParentColumn{Name: "k", Texts: ids}, times)
}

// raiseTimes replaces the times of a column by later ones, with one statement.
func (tx *transaction) raiseTimes(ctx context.Context, of, column string, keys dbconn.ParentColumn, times []feeds.SourceTime) error {
	texts := make([]string, len(times))
	for i, t := range times {
		texts[i] = strconv.FormatInt(dbconn.StoredTime(t.Time).UnixMilli(), 10)
	}
	later := tx.Dialect.ReadTime("p.inside")
	q := table.NewStatement(tx.Dialect)
	q.Add("UPDATE " + of + " SET " + column + " = " + later + " FROM ")
	q.Add(q.Parents(keys, dbconn.ParentColumn{Name: "inside", Texts: texts}))
	q.Add(" WHERE " + of + ".uid = p.k AND " + of + "." + column + " < " + later)
	return tx.Conn.Run(ctx, q.Build(nil))
}
