package sqlstore

import (
	"fmt"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// The conditions on images are those of repos and of tags alike: a repo meets them if one of its live
// images does, and a tag if its image does.

// Repos and tags whose images hold a version of a package.
const (
	repoHolds = " AND t.uid IN (SELECT u.parent FROM package_use u WHERE u.root_key = p.xroot AND u.version = p.x)"
	tagHolds  = " AND t.uid IN (" + tagsOfUses + " u.root_key = p.xroot AND u.version = p.x AND " + tagOfUse + ")"

	tagsOfUses = "SELECT g.uid FROM package_use u CROSS JOIN " + table.ElementsOf + "u.images" + "} CROSS JOIN image_status m CROSS JOIN tag g WHERE"
	tagOfUse   = "m.parent = u.parent AND m.number = CAST(e.value AS BIGINT) AND g.parent_key = m.parent_key AND substr(g.digest, 8, 6) = substr(m.digest, 8, 6)" +
		" AND g.parent = m.parent AND g.digest = m.digest"
)

// holding returns the condition that images of a row of t hold a version.
func holding(sql string, version core.UID) table.Narrowing {
	return table.Narrowing{SQL: sql, Bytes: table.LocalOf(version), Root: table.ScopeKey(version.Root())}
}

// addHolds adds the condition that images of a row of t hold a version; "" means any.
func addHolds(s *table.Statement, sql string, version core.UID) {
	if version != "" {
		s.AddNarrowing(holding(sql, version))
	}
}

// addOpenSeverities adds the condition that a repo, or a tag, whose table has the alias, has open findings
// with one of ratings: see inventory.OpenCounts.Text.
func addOpenSeverities(s *table.Statement, alias string, ratings []core.SeverityRating) {
	for i, rating := range ratings {
		s.Add(map[bool]string{true: " AND (", false: " OR "}[i == 0])
		switch at := 6 * (5 - max(rating.Rank(), 0)); at {
		case 0:
			s.Add(alias + ".open_severity >= '000001'") // an index has this order
		default:
			s.Add(fmt.Sprintf("substr(%s.open_severity, %d, 6) > '000000'", alias, at+1))
		}
	}
	if len(ratings) > 0 {
		s.Add(")")
	}
}

// addOpenVulnerability adds the condition that a finding f is open and of an advisory with one of names.
func addOpenVulnerability(s *table.Statement, names []string) {
	s.Add(fmt.Sprintf("f.count_class > 0 AND f.count_class <= %d AND f.representative", openClasses))
	addNamedAdvisory(s, names)
}

// addTagsOfVulnerability adds the condition that the image of a tag has an open finding of an advisory with one of names. In an
// organization, an index finds these findings, which are fewer than those of all images.
func addTagsOfVulnerability(s *table.Statement, names []string) {
	switch {
	case len(names) == 0:
		return
	case s.Organization == "":
		s.Add(" AND EXISTS (SELECT 1 FROM finding f WHERE f.parent = t.parent AND f.digest = t.digest AND ")
		addOpenVulnerability(s, names)
	default: // The index of digests has a part of them.
		s.Add(" AND t.uid IN (SELECT g.uid FROM finding f CROSS JOIN tag g WHERE f.root_key = ? AND ", table.ScopeKey(s.Organization))
		addOpenVulnerability(s, names)
		s.Add(" AND g.parent_key = f.parent_key AND substr(g.digest, 8, 6) = substr(f.digest, 8, 6) AND g.parent = f.parent AND g.digest = f.digest")
	}
	s.Add(")")
}

// addNamedAdvisory adds the condition that the UID of an advisory is that of one that stands for one with one of names.
func addNamedAdvisory(s *table.Statement, names []string) {
	s.Add(" IN (SELECT v.representative FROM advisory_alias a JOIN advisory v ON v.uid = a.uid WHERE a.alias ?", table.Values(names))
	s.Add(" UNION SELECT v.representative FROM advisory v WHERE v.advisory_id ?)", table.Values(names))
}

// openClasses is the last class of open findings.
var openClasses = 1 + inventory.FindingClass{State: inventory.FindingInTriage, Rating: core.SeverityCritical, Fixable: true, KnownExploited: true}.Number()

// addPackagesKnown adds the condition that of the live images m that a condition finds, one has packages that are known, or not.
func addPackagesKnown(s *table.Statement, found string, known *bool) {
	if known != nil {
		is := map[bool]string{true: "=", false: "<>"}[*known]
		s.Add(" AND EXISTS (SELECT 1 FROM image_status m WHERE " + found + " AND m.live AND m.basis " + is + " '" + string(inventory.BasisVersion) + "')")
	}
}

// whereRepoImages adds the conditions on the images of repos.
func whereRepoImages(f *inventory.ImageConditions, s *table.Statement) {
	addPackagesKnown(s, "m.parent = t.uid", f.PackagesKnown)
	addOpenSeverities(s, "t", f.OpenSeverities)
	if len(f.VulnerabilityIDs) > 0 {
		s.Add(" AND t.affected AND t.uid IN (SELECT f.parent FROM finding f WHERE ")
		addOpenVulnerability(s, f.VulnerabilityIDs)
		s.Add(")")
	}
	if f.Package == nil {
		return
	}
	s.Add(" AND EXISTS (SELECT 1 FROM package_use u WHERE u.parent = t.uid AND ")
	addVersions(s, f.Versions())
	s.Add(")")
}

// whereTagImages adds the conditions on the images of tags.
func whereTagImages(f *inventory.ImageConditions, s *table.Statement) {
	addPackagesKnown(s, "m.parent = t.parent AND m.digest = t.digest", f.PackagesKnown)
	if len(f.OpenSeverities) > 0 {
		s.Add(" AND t.open_severity <> ''") // indexes have no other tags
		addOpenSeverities(s, "t", f.OpenSeverities)
	}
	addTagsOfVulnerability(s, f.VulnerabilityIDs)
	if f.Package == nil {
		return
	}
	s.Add(" AND t.uid IN (SELECT g.uid FROM package_use u CROSS JOIN ").AddElements("u.images").Add(" CROSS JOIN image_status m CROSS JOIN tag g WHERE ")
	addVersions(s, f.Versions())
	s.Add(" AND " + tagOfUse + ")")
}

// addVersions adds the condition that a use is of one of versions.
func addVersions(s *table.Statement, versions []core.UID) {
	roots, packages, locals := [][]byte{}, [][]byte{}, [][]byte{}
	for _, v := range versions {
		roots, packages, locals = append(roots, table.ScopeKey(v.Root())), append(packages, table.LocalOf(v.Parent())), append(locals, table.LocalOf(v))
	}
	s.Add("u.root_key IN (SELECT p.k FROM ").Add(s.Parents(dbconn.ParentColumn{Name: "k", Bytes: compactBytes(roots)}))
	s.Add(") AND u.package IN (SELECT p.k FROM ").Add(s.Parents(dbconn.ParentColumn{Name: "k", Bytes: compactBytes(packages)}))
	s.Add(") AND u.version IN (SELECT p.k FROM ").Add(s.Parents(dbconn.ParentColumn{Name: "k", Bytes: locals}))
	s.Add(")")
}
