package inventory

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// What advisories meet: artifacts by their names, and images by findings.

// NameRule returns the rule by which the name of the artifact is compared.
func (a *Advisory) NameRule() ecosystem.NameRule { return ecosystem.NameRuleOf(a.ArtifactType) }

// NormalName returns the normal form of the name of the artifact.
func (a *Advisory) NormalName() string { return a.NameRule().Normalize(a.ArtifactName) }

// ListOfImages reads, for each image, the same page of the advisories with findings in it that are not
// resolved, with one read; of a whole repo, if the digest is "". Who may see findings may see their
// advisories, whichever groups these lie in.
func (s Advisories) ListOfImages(ctx context.Context, req core.ListRequest[*AdvisoryFilter], images []core.ImageKey) ([]core.Page[*Advisory], []error) {
	req.Filter = core.FillFilter(req.Filter)
	return s.rows.ReadEach(ctx, len(images), func(i int) (core.ListRequest[*AdvisoryFilter], core.Query[*AdvisoryFilter], error) {
		own := req
		own.Filter = core.EditFilter(req.Filter, func(f *AdvisoryFilter) { f.Affecting = images[i] })
		scope, err := s.area.AffectingScope(ctx, images[i], req.UIDP)
		if err != nil {
			return own, core.Query[*AdvisoryFilter]{}, err
		}
		q, err := s.rows.BuildQuery(ctx, own)
		if q.Scope = scope; own.PageToken == "" {
			q.Filter = req.Filter // One read serves all images, and the scopes say which.
		}
		return own, q, err
	})
}

// AffectingScope returns the scope of the advisories with findings in an image that are not resolved; of a whole repo, if the
// digest is "".
func (area *Area) AffectingScope(ctx context.Context, image core.ImageKey, f core.UIDFilter) (core.Scope, error) {
	if _, err := core.Require(ctx, image.Repo, FindingKind.ReadCapabilities()...); err != nil {
		return core.Scope{}, err
	}
	scope := AdvisoryKind.NarrowScope(f, []core.UID{image.Repo.Root(), FeedGroup})
	for i := range scope.Branches {
		scope.Branches[i].Affecting = image
	}
	return scope, nil
}
