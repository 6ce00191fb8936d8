package sqlstore

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// PutSBOMs replaces SBOMs.
func (queries) PutSBOMs(ctx context.Context, in core.Tx, all []*inventory.SBOM) error {
	tx := transactionOf(in)
	run := make([]*dbconn.Statement, len(all))
	for i, b := range all {
		q := table.NewStatement(tx.Dialect).Add("INSERT INTO sbom (repo, digest, architecture, format, components, used, create_time) VALUES (?, ?, ?, ?, ?, ?, ?)",
			b.Repo, b.Digest, b.Architecture, b.Format, ends(b.Components), []byte{}, b.CreateTime)
		q.Add(" ON CONFLICT (repo, digest, architecture) DO UPDATE SET format = excluded.format, components = excluded.components,")
		run[i] = q.Add(" used = COALESCE(sbom.used, sbom.components), create_time = excluded.create_time").Build(nil)
	}
	return tx.Conn.Run(ctx, run...)
}

// SBOMs reads the SBOMs of images.
func (queries) SBOMs(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.SBOM, error) {
	tx := tablesOf(on)
	wanted := keys.Keys()
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	var found []*inventory.SBOM
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT DISTINCT b.repo, b.digest, b.architecture, b.format, b.components, b.create_time FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside")
	err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		b := new(inventory.SBOM)
		var components []byte
		err := scan(table.UIDOf(&b.Repo), &b.Digest, &b.Architecture, &b.Format, &components, table.TimeOf(&b.CreateTime))
		b.Components = splitEnds(b.Repo.Root(), components)
		found = append(found, b)
		return err
	}))
	return found, err
}

// ends returns the part of the UIDs of versions or components that identifies them in their organisation:
// the last two segments.
func ends(uids []core.UID) []byte {
	b := make([]byte, 0, len(uids)*2*table.SegmentLength)
	for _, u := range uids {
		b = append(b, table.RestOf(u)...)
	}
	return b
}

// splitEnds returns the UIDs whose ends were put together.
func splitEnds(root core.UID, b []byte) []core.UID {
	uids := make([]core.UID, 0, len(b)/(2*table.SegmentLength))
	packed := table.PackUID(root)
	for end := range slices.Chunk(b, 2*table.SegmentLength) {
		uid, _ := core.UnpackUID(slices.Concat(packed, end))
		uids = append(uids, uid)
	}
	return uids
}

// containsEnd reports whether one of the ends, which are sorted, is that of a UID.
func containsEnd(all, end []byte) bool {
	at := sort.Search(len(all)/len(end), func(i int) bool { return bytes.Compare(all[i*len(end):(i+1)*len(end)], end) >= 0 })
	return bytes.HasPrefix(all[at*len(end):], end)
}
