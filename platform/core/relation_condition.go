package platform

// A TagCondition asks repos for a tag that meets all of this.
type TagCondition struct {
	Name         string `json:",omitempty"` // exact name
	Digest       string `json:",omitempty"` // the tag points to this image
	Deprecated   *bool  `json:",omitempty"` // nil means any
	UpdatedSince Time   `json:",omitzero"`  // the last update is at this time or later
}

func (c *TagCondition) check(v *violations) {
	if c != nil {
		v.checkFilter("tags.name", c.Name)
		v.checkFilter("tags.digest", c.Digest)
	}
}

// A RepoCondition asks groups for a repo, directly in them, that meets all of this.
type RepoCondition struct {
	Name           string           `json:",omitempty"` // exact name
	Tiers          []CatalogTier    `json:",omitempty"` // the tier is one of these
	OpenSeverities []SeverityRating `json:",omitempty"` // see ImageConditions
	UpdatedSince   Time             `json:",omitzero"`  // the last update is at this time or later
}

func (c *RepoCondition) check(v *violations) {
	if c == nil {
		return
	}
	v.checkFilter("repos.name", c.Name)
	for _, t := range c.Tiers {
		checkOneOf(v, "repos.tiers", t, catalogTiers)
	}
	for _, r := range c.OpenSeverities {
		checkOneOf(v, "repos.openSeverities", r, SeverityRatings())
	}
}

// capabilities lists what callers need for the condition where they list groups.
func (c *RepoCondition) capabilities() []Capability {
	switch {
	case c == nil:
		return nil
	case c.OpenSeverities != nil:
		return []Capability{CapRepoList, CapFindingsList, CapTagList}
	}
	return []Capability{CapRepoList}
}
