package platform

import (
	"context"
	"slices"
)

// An ArtifactVersion is one released version of an artifact.
type ArtifactVersion struct {
	UID         UID    `json:"uid"`     // the artifact's UID and one more segment
	Name        string `json:"name"`    // the name of the artifact
	Version     string `json:"version"` // unique in its artifact
	Description string `json:"description,omitempty"`
	CreateTime  Time   `json:"createTime,omitzero"` // time of the release, if it is known
	UpdateTime  Time   `json:"updateTime,omitzero"`
	SizeBytes   int64  `json:"sizeBytes,omitempty,string"` // 0 means that it is not known

	SortKey string `json:"-"` // its bytes sort in the ecosystem's order of Version
}

// ArtifactVersionFilter has no fields: lists of versions have no filter.
type ArtifactVersionFilter struct{}

func (*ArtifactVersionFilter) check(*violations) {}

var artifactVersionKind = Kind[*ArtifactVersion]{
	Name: "ArtifactVersion", Plural: "artifactVersions", Area: areaLibraries, Number: 16, List: CapLibrariesArtifactsList, Shared: true, Parent: Ref{"Artifact", areaLibraries},
	Orders: []OrderField[*ArtifactVersion]{
		{"version", nil, func(v *ArtifactVersion) any { return v.SortKey }},
		{"create_time", createTimeSpellings, func(v *ArtifactVersion) any { return v.CreateTime }},
		{"update_time", updateTimeSpellings, func(v *ArtifactVersion) any { return v.UpdateTime }},
		{"uid", nil, func(v *ArtifactVersion) any { return string(v.UID) }},
		{"name", nil, func(v *ArtifactVersion) any { return v.Name }},
	},
	DefaultOrder: Order{Field: "version", Desc: true},
	UID:          func(v *ArtifactVersion) UID { return v.UID },
}

// ArtifactVersions are the operations on versions of artifacts. They need the
// same capability as Artifacts.
type ArtifactVersions struct {
	Resources[*ArtifactVersion, *ArtifactVersionFilter]
	rows *Collection[*ArtifactVersion, *ArtifactVersionFilter]
	area *librariesArea
}

// ListOf reads one page of the versions of an artifact. It returns NOT_FOUND if
// the artifact does not exist.
func (s ArtifactVersions) ListOf(ctx context.Context, artifact UID, req ListRequest[*ArtifactVersionFilter]) (Page[*ArtifactVersion], error) {
	malformed := violations(slices.Clone(req.Malformed))
	malformed.checkUID("artifact_id", artifact)
	req.UIDP, req.Malformed = UIDFilter{ChildrenOf: artifact}, malformed
	if !artifact.Valid() {
		req.UIDP = UIDFilter{} // the violation is reported above
	}
	page, err := s.List(ctx, req)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		_, err = s.area.Artifacts.Get(ctx, artifact) // the UID can name a resource of another kind
	}
	if err != nil {
		return Page[*ArtifactVersion]{}, err
	}
	return page, nil
}
