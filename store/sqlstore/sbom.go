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
	"atrium/platform/reports"
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

// ImageSBOMs reads the documents about images.
func (queries) ImageSBOMs(ctx context.Context, on core.Conn, images []core.ImageKey) (found []*reports.ImageSBOM, err error) {
	s := tablesOf(on)
	repos, digests := make([][]byte, len(images)), make([]string, len(images))
	for i, k := range images {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.repo, b.digest, b.architecture, b.format, b.create_time FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside ORDER BY b.architecture")
	err = s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		b := new(reports.ImageSBOM)
		found = append(found, b)
		return scan(table.UIDOf(&b.Repo), &b.Digest, &b.Architecture, &b.Format, table.TimeOf(&b.CreateTime))
	}))
	return found, err
}

// SBOMComponents reads what a document about an image has.
func (queries) SBOMComponents(ctx context.Context, on core.Conn, of *reports.ImageSBOM) (components []core.UID, placements []inventory.Placement, err error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect).Add("SELECT b.components, b.placements FROM sbom b WHERE b.repo = ? AND b.digest = ? AND b.architecture = ?", of.Repo, of.Digest, of.Architecture)
	err = s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var ends, packed []byte
		err := scan(&ends, &packed)
		if err == nil {
			components = splitEnds(of.Repo.Root(), ends)
			placements, err = unpackPlacements(packed, len(components))
		}
		return err
	}))
	return components, placements, err
}

// DescribeComponents reads components, and the versions of the source packages that they name.
func (queries) DescribeComponents(ctx context.Context, on core.Conn, uids []core.UID) (map[core.UID]*inventory.Component, map[core.UID]*inventory.PackageVersion, error) {
	s := tablesOf(on)
	var found []*inventory.Component
	err := s.Reads.Run(ctx, selectComponents(s.Dialect).Add("c.uid ?", table.UIDKeys(uids)).Build(collectComponents(&found)))
	components, sources := make(map[core.UID]*inventory.Component, len(found)), map[core.UID]*inventory.PackageVersion{}
	var named []core.UID
	for _, c := range found {
		if components[c.UID] = c; c.Source != "" {
			named = append(named, c.Source)
		}
	}
	if err != nil || len(named) == 0 {
		return components, sources, err
	}
	var versions []*inventory.PackageVersion
	err = s.Reads.Run(ctx, packageVersions.SelectAll(s.Dialect, distinctUIDs(named), &versions))
	for _, v := range versions {
		sources[v.UID] = v
	}
	return components, sources, err
}

// ends returns the part of the UIDs of versions or components that identifies them in their organization:
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

// A storedDocument has the ends of the components of a document, which are sorted, and their packed placements.
type storedDocument struct{ components, placements []byte }

// find returns the place of the component with an end.
func (d storedDocument) find(end []byte) (place int, holds bool) {
	place = sort.Search(len(d.components)/len(end), func(i int) bool { return bytes.Compare(d.components[i*len(end):(i+1)*len(end)], end) >= 0 })
	return place, bytes.HasPrefix(d.components[place*len(end):], end)
}

// directAt reports whether the project in the image depends on the component at a place itself; nil if the document does not say it.
func (d storedDocument) directAt(place int) *bool {
	if at := place / directsPerByte; at < len(d.placements) {
		return directOf(d.placements[at] >> (2 * (place % directsPerByte)) & 3)
	}
	return nil
}

// joinDocuments returns what documents of an image hold, each once, and what they say together of what is direct: nil if none says
// anything of where packages come from.
func joinDocuments(root core.UID, documents []storedDocument) (components []core.UID, direct inventory.DirectComponents) {
	if slices.ContainsFunc(documents, func(d storedDocument) bool { return len(d.placements) > 0 }) {
		direct = inventory.DirectComponents{}
	}
	for _, d := range documents {
		uids := splitEnds(root, d.components)
		for place, uid := range uids {
			if direct != nil {
				direct.Add(uid, d.directAt(place))
			}
		}
		components = append(components, uids...)
	}
	return distinctUIDs(components), direct
}

// Packed placements begin with two bits for each component, of which directOf is the reverse. What follows is compressed.
const directsPerByte = 4

// directOf returns what a code says.
func directOf(code byte) *bool {
	switch code {
	case 1:
		return new(false)
	case 2:
		return new(true)
	default:
		return nil
	}
}

// packedPlacements are the rest of the placements of the components of a document, as JSON: compressed, about two bytes for a
// package, and two more with layers. Each list has as many elements as there are components, or none.
type packedPlacements struct {
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
	codes := make([]byte, (len(all)+directsPerByte-1)/directsPerByte)
	for place, is := range all {
		if is.Direct != nil {
			codes[place/directsPerByte] |= map[bool]byte{false: 1, true: 2}[*is.Direct] << (2 * (place % directsPerByte))
		}
		at := slices.Index(p.Layers, is.Layer)
		if at < 0 {
			at = len(p.Layers)
			p.Layers = append(p.Layers, is.Layer)
		}
		p.IntroducedBy, p.LayerOf = append(p.IntroducedBy, is.IntroducedBy), append(p.LayerOf, at)
	}
	if len(p.Layers) == 1 && p.Layers[0] == "" {
		p.LayerOf, p.Layers = nil, nil
	}
	packed := bytes.NewBuffer(codes)
	to, _ := flate.NewWriter(packed, flate.DefaultCompression) // the level is valid
	_ = json.NewEncoder(to).Encode(p)                          // neither fails: it is written to memory
	_ = to.Close()
	return packed.Bytes()
}

// unpackPlacements returns the placements of the components of a document, or nil if it says nothing of them.
func unpackPlacements(packed []byte, components int) ([]inventory.Placement, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	d := storedDocument{placements: packed[:min(len(packed), (components+directsPerByte-1)/directsPerByte)]}
	var p packedPlacements
	if err := json.NewDecoder(flate.NewReader(bytes.NewReader(packed[len(d.placements):]))).Decode(&p); err != nil {
		return nil, fmt.Errorf("placements of an SBOM: %w", err)
	}
	all := make([]inventory.Placement, components)
	for i := range all {
		if all[i].Direct = d.directAt(i); i < len(p.IntroducedBy) {
			all[i].IntroducedBy = p.IntroducedBy[i]
		}
		if i < len(p.LayerOf) {
			all[i].Layer = p.Layers[p.LayerOf[i]]
		}
	}
	return all, nil
}
