package core

import "atrium/platform/fieldmask"

// A TagCondition asks repos for a tag that meets all of this.
type TagCondition struct {
	Name         string `json:",omitempty"` // exact name
	Digest       string `json:",omitempty"` // the tag points to this image
	Deprecated   *bool  `json:",omitempty"` // nil means any
	UpdatedSince Time   `json:",omitzero"`  // the last update is at this time or later
}

// Check adds the violations of the conditions.
func (c *TagCondition) Check(v *Violations) {
	if c != nil {
		v.CheckFilter("tags.name", c.Name)
		v.CheckFilter("tags.digest", c.Digest)
	}
}

// A RepoCondition asks groups for a repo, directly in them, that meets all of this.
type RepoCondition struct {
	Name           string           `json:",omitempty"` // exact name
	Tiers          []CatalogTier    `json:",omitempty"` // the tier is one of these
	OpenSeverities []SeverityRating `json:",omitempty"` // see ImageConditions
	UpdatedSince   Time             `json:",omitzero"`  // the last update is at this time or later
}

// Check adds the violations of the conditions.
func (c *RepoCondition) Check(v *Violations) {
	if c == nil {
		return
	}
	v.CheckFilter("repos.name", c.Name)
	for _, t := range c.Tiers {
		CheckOneOf(v, "repos.tiers", t, CatalogTiers)
	}
	for _, r := range c.OpenSeverities {
		CheckOneOf(v, "repos.openSeverities", r, SeverityRatings())
	}
}

// Capabilities lists what callers need for the condition where they list groups.
func (c *RepoCondition) Capabilities() []Capability {
	switch {
	case c == nil:
		return nil
	case c.OpenSeverities != nil:
		return []Capability{CapRepoList, CapFindingsList, CapTagList}
	}
	return []Capability{CapRepoList}
}

// CatalogTier is the part of the catalog that a repo belongs to.
type CatalogTier string

// The catalog's parts.
const (
	CatalogTierApplication CatalogTier = "CATALOG_TIER_APPLICATION"
	CatalogTierBase        CatalogTier = "CATALOG_TIER_BASE"
	CatalogTierFIPS        CatalogTier = "CATALOG_TIER_FIPS"
	CatalogTierAI          CatalogTier = "CATALOG_TIER_AI"
	CatalogTierDevtools    CatalogTier = "CATALOG_TIER_DEVTOOLS"
	CatalogTierCommercial  CatalogTier = "CATALOG_TIER_COMMERCIAL"
)

// CatalogTiers lists the tiers.
var CatalogTiers = []CatalogTier{CatalogTierApplication, CatalogTierBase, CatalogTierFIPS, CatalogTierAI, CatalogTierDevtools, CatalogTierCommercial}

// UnmarshalJSON reads the name or the number of a part.
func (t *CatalogTier) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalEnum(b, t, CatalogTiers)
}

// Values lists the parts.
func (CatalogTier) Values() []string { return fieldmask.Texts(CatalogTiers) }
