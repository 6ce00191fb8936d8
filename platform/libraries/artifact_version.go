package libraries

import (
	"context"
	"slices"

	"atrium/platform/core"
)

// An ArtifactVersion is one released version of an artifact.
type ArtifactVersion struct {
	UID         core.UID  `json:"uid"`     // the artifact's UID and one more segment
	Name        string    `json:"name"`    // the name of the artifact
	Version     string    `json:"version"` // unique in its artifact
	Description string    `json:"description,omitempty"`
	CreateTime  core.Time `json:"createTime,omitzero"` // time of the release, if it is known
	UpdateTime  core.Time `json:"updateTime,omitzero"`
	SizeBytes   int64     `json:"sizeBytes,omitempty,string"` // 0 means that it is not known

	SortKey string `json:"-"` // its bytes sort in the ecosystem's order of Version
}

// ArtifactVersionFilter has no fields: lists of versions have no filter.
type ArtifactVersionFilter struct{}

// Check adds the violations of the conditions.
func (*ArtifactVersionFilter) Check(*core.Violations) {}

// ArtifactVersionKind has the facts about artifact versions.
var ArtifactVersionKind = core.Kind[*ArtifactVersion]{
	Name: "ArtifactVersion", Plural: "artifactVersions", Area: core.AreaLibraries, Number: 16, List: core.CapLibrariesArtifactsList, Shared: true, Parent: core.Ref{Name: "Artifact", Area: core.AreaLibraries},
	Orders: []core.OrderField[*ArtifactVersion]{
		{Name: "version", Value: func(v *ArtifactVersion) any { return v.SortKey }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(v *ArtifactVersion) any { return v.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(v *ArtifactVersion) any { return v.UpdateTime }},
		{Name: "uid", Value: func(v *ArtifactVersion) any { return string(v.UID) }},
		{Name: "name", Value: func(v *ArtifactVersion) any { return v.Name }},
	},
	DefaultOrder: core.Order{Field: "version", Desc: true},
	UID:          func(v *ArtifactVersion) core.UID { return v.UID },
}

// ArtifactVersions are the operations on versions of artifacts. They need the
// same capability as Artifacts.
type ArtifactVersions struct {
	core.Resources[*ArtifactVersion, *ArtifactVersionFilter]
	rows *core.Collection[*ArtifactVersion, *ArtifactVersionFilter]
	area *Area
}

// ListOf reads one page of the versions of an artifact. It returns NOT_FOUND if
// the artifact does not exist.
func (s ArtifactVersions) ListOf(ctx context.Context, artifact core.UID, req core.ListRequest[*ArtifactVersionFilter]) (core.Page[*ArtifactVersion], error) {
	malformed := core.Violations(slices.Clone(req.Malformed))
	malformed.CheckUID("artifact_id", artifact)
	req.UIDP, req.Malformed = core.UIDFilter{ChildrenOf: artifact}, malformed
	if !artifact.Valid() {
		req.UIDP = core.UIDFilter{} // the violation is reported above
	}
	page, err := s.List(ctx, req)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		_, err = s.area.Artifacts.Get(ctx, artifact) // the UID can name a resource of another kind
	}
	if err != nil {
		return core.Page[*ArtifactVersion]{}, err
	}
	return page, nil
}
