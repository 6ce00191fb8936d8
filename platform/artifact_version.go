package platform

import (
	"context"
	"slices"
)

// An ArtifactVersion is one release of an artifact, as its ecosystem calls it.
type ArtifactVersion struct {
	UID         UID    `json:"uid"`     // the artifact's and one segment
	Name        string `json:"name"`    // the artifact's
	Version     string `json:"version"` // unique in its artifact
	Description string `json:"description,omitempty"`
	CreateTime  Time   `json:"createTime,omitzero"` // when it was released, where the source tells
	UpdateTime  Time   `json:"updateTime,omitzero"`
	SizeBytes   int64  `json:"sizeBytes,omitempty,string"` // 0: not known

	SortKey string `json:"-"` // sorts by bytes as the ecosystem sorts Version
}

// ArtifactVersionFilter restricts a list of versions: there is nothing to
// restrict it by.
type ArtifactVersionFilter struct{}

func (ArtifactVersionFilter) check(*violations) {}

var artifactVersionKind = Kind[ArtifactVersion]{
	Name: "ArtifactVersion", Plural: "artifactVersions", Area: "libraries", Number: 16, List: CapLibrariesArtifactsList, Shared: true, Parent: "Artifact",
	Orders: []OrderField[ArtifactVersion]{
		{"version", nil, func(v *ArtifactVersion) any { return v.SortKey }},
		{"create_time", createTimeSpellings, func(v *ArtifactVersion) any { return v.CreateTime }},
		{"update_time", updateTimeSpellings, func(v *ArtifactVersion) any { return v.UpdateTime }},
		{"uid", nil, func(v *ArtifactVersion) any { return string(v.UID) }},
		{"name", nil, func(v *ArtifactVersion) any { return v.Name }},
	},
	DefaultOrder: Order{Field: "version", Desc: true},
	UID:          func(v *ArtifactVersion) UID { return v.UID },
}

// ArtifactVersions are the operations on versions of artifacts, for the same
// callers.
type ArtifactVersions struct {
	resources[ArtifactVersion, ArtifactVersionFilter]
}

// ListOf reads one page of the versions of an artifact: NOT_FOUND where there
// is none.
func (s ArtifactVersions) ListOf(ctx context.Context, artifact UID, req ListRequest[ArtifactVersionFilter]) (Page[ArtifactVersion], error) {
	malformed := violations(slices.Clone(req.Malformed))
	malformed.uid("artifact_id", artifact)
	req.UIDP, req.Malformed = UIDFilter{ChildrenOf: artifact}, malformed
	if !artifact.Valid() {
		req.UIDP = UIDFilter{} // it is named above
	}
	page, err := s.List(ctx, req)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		_, err = s.p.Artifacts.Get(ctx, artifact) // what is there can be something else
	}
	if err != nil {
		return Page[ArtifactVersion]{}, err
	}
	return page, nil
}
