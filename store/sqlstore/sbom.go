package sqlstore

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// PutSBOMs replaces SBOMs.
func (queries) PutSBOMs(ctx context.Context, in core.Tx, all []*registry.SBOM) error {
	tx := transactionOf(in)
	run := make([]*dbconn.Statement, len(all))
	for i, b := range all {
		q := table.NewStatement(tx.Dialect).Add("INSERT INTO sbom (repo, digest, architecture, format, components, placements, used, create_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			b.Repo, b.Digest, b.Architecture, b.Format, ends(b.Components), packPlacements(b.Placements), []byte{}, b.CreateTime)
		q.Add(" ON CONFLICT (repo, digest, architecture) DO UPDATE SET format = excluded.format, components = excluded.components, placements = excluded.placements,")
		run[i] = q.Add(" used = COALESCE(sbom.used, sbom.components), create_time = excluded.create_time").Build(nil)
	}
	return tx.Conn.Run(ctx, run...)
}

// SBOMs reads the SBOMs of images.
func (queries) SBOMs(ctx context.Context, on core.Conn, wanted []core.ImageKey) ([]*registry.SBOM, error) {
	tx := tablesOf(on)
	repos, digests := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, k := range wanted {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	var found []*registry.SBOM
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT DISTINCT b.repo, b.digest, b.architecture, b.format, b.components, b.placements, b.create_time FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside")
	err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		b := new(registry.SBOM)
		var components, placements []byte
		err := scan(table.UIDOf(&b.Repo), &b.Digest, &b.Architecture, &b.Format, &components, &placements, table.TimeOf(&b.CreateTime))
		if err != nil {
			return err
		}
		b.Components = splitEnds(b.Repo.Root(), components)
		b.Placements, err = unpackPlacements(placements, len(b.Components))
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

// packedPlacements are the placements of the components of a document, as JSON, which is then compressed: about two bytes for a
// package, and two more with layers. Each list has as many elements as there are components, or none.
type packedPlacements struct {
	Direct       []*bool  `json:"d,omitempty"`
	IntroducedBy [][]int  `json:"i,omitempty"`
	LayerOf      []int    `json:"o,omitempty"` // places in Layers
	Layers       []string `json:"l,omitempty"`
}

// packPlacements returns the stored form of placements.
func packPlacements(all []inventory.Placement) []byte {
	if all == nil {
		return []byte{}
	}
	var p packedPlacements
	for _, is := range all {
		at := slices.Index(p.Layers, is.Layer)
		if at < 0 {
			at = len(p.Layers)
			p.Layers = append(p.Layers, is.Layer)
		}
		p.Direct, p.IntroducedBy, p.LayerOf = append(p.Direct, is.Direct), append(p.IntroducedBy, is.IntroducedBy), append(p.LayerOf, at)
	}
	if len(p.Layers) == 1 && p.Layers[0] == "" {
		p.LayerOf, p.Layers = nil, nil
	}
	var packed bytes.Buffer
	to, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level is valid
	_ = json.NewEncoder(to).Encode(p)                           // neither fails: it is written to memory
	_ = to.Close()
	return packed.Bytes()
}

// unpackPlacements returns the placements of the components of a document, or nil if it says nothing of them.
func unpackPlacements(packed []byte, components int) ([]inventory.Placement, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	var p packedPlacements
	if err := json.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(&p); err != nil {
		return nil, fmt.Errorf("placements of an SBOM: %w", err)
	}
	all := make([]inventory.Placement, components)
	for i := range all {
		if i < len(p.Direct) && i < len(p.IntroducedBy) {
			all[i].Direct, all[i].IntroducedBy = p.Direct[i], p.IntroducedBy[i]
		}
		if i < len(p.LayerOf) {
			all[i].Layer = p.Layers[p.LayerOf[i]]
		}
	}
	return all, nil
}
