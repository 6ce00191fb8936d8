package sqlstore

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
	"atrium/store/sqlstore/table"
)

// A documentOrigins is what a document says of where its components come from.
type documentOrigins struct {
	components []core.UID
	placements []inventory.Placement
}

// Origins finds out where versions come from: one statement for the documents of images of which one says it; then, if there are any, one for
// the components of the versions; and one for the components through which those come.
func (queries) Origins(ctx context.Context, on core.Conn, of []reports.HeldVersion) ([]inventory.PackageOrigin, error) {
	s := tablesOf(on)
	var keys []core.ImageKey
	versions := make([]core.UID, len(of))
	for i, h := range of {
		versions[i] = h.Version
		if !slices.Contains(keys, h.ImageKey) {
			keys = append(keys, h.ImageKey)
		}
	}
	repos, digests := make([][]byte, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		repos[i], digests[i] = table.PackUID(k.Repo), k.Digest
	}
	documents, built := map[core.ImageKey][]documentOrigins{}, map[core.UID][]core.UID{}
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.repo, b.digest, b.components, b.placements FROM ").Add(q.Parents(table.UIDPairs(repos, digests)...))
	q.Add(" CROSS JOIN sbom b WHERE b.repo = p.k AND b.digest = p.inside")
	q.Add(" AND EXISTS (SELECT 1 FROM sbom o WHERE o.repo = b.repo AND o.digest = b.digest AND length(o.placements) > 0) ORDER BY b.architecture")
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var k core.ImageKey
		var ends, placements []byte
		err := scan(table.UIDOf(&k.Repo), &k.Digest, &ends, &placements)
		if err != nil {
			return err
		}
		d := documentOrigins{components: splitEnds(k.Repo.Root(), ends)}
		d.placements, err = unpackPlacements(placements, len(d.components))
		documents[k] = append(documents[k], d)
		return err
	}))
	origins := make([]inventory.PackageOrigin, len(of))
	if err != nil || len(documents) == 0 {
		return origins, err
	}
	uids := table.UIDValues(distinctUIDs(versions))
	components := table.NewStatement(s.Dialect).Add("SELECT c.uid, c.version FROM component c WHERE c.version ?", uids).AddUnion()
	components.Add("SELECT c.uid, c.source FROM component c WHERE c.source ?", uids)
	err = s.Reads.Run(ctx, components.Build(func(scan func(...any) error) error {
		var component, version core.UID
		err := scan(table.UIDOf(&component), table.UIDOf(&version))
		built[version] = append(built[version], component)
		return err
	}))
	if err != nil {
		return nil, err
	}
	var through []core.UID
	eachOrigin(of, documents, built, func(_ int, from inventory.Placement, all []core.UID) {
		for _, place := range from.IntroducedBy {
			through = append(through, all[place])
		}
	})
	var found []*inventory.Component
	if len(through) > 0 {
		if err := s.Reads.Run(ctx, selectComponents(s.Dialect).Add("c.uid ?", table.UIDKeys(distinctUIDs(through))).Build(collectComponents(&found))); err != nil {
			return nil, err
		}
	}
	byUID := make(map[core.UID]*inventory.Component, len(found))
	for _, c := range found {
		byUID[c.UID] = c
	}
	eachOrigin(of, documents, built, func(i int, from inventory.Placement, all []core.UID) {
		origins[i].Add(from, func(place int) *inventory.Component { return byUID[all[place]] })
	})
	return origins, nil
}

// eachOrigin calls visit for each component of a version in a document of its image, with the components of the document.
func eachOrigin(of []reports.HeldVersion, documents map[core.ImageKey][]documentOrigins, components map[core.UID][]core.UID, visit func(i int, from inventory.Placement, all []core.UID)) {
	for i, h := range of {
		for _, d := range documents[h.ImageKey] {
			for _, uid := range components[h.Version] {
				at, holds := slices.BinarySearch(d.components, uid)
				if !holds {
					continue
				}
				var from inventory.Placement
				if d.placements != nil {
					from = d.placements[at]
				}
				visit(i, from, d.components)
			}
		}
	}
}
