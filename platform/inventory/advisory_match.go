package platform

import (
	"context"

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
func (s Advisories) ListOfImages(ctx context.Context, req ListRequest[*AdvisoryFilter], images []ImageKey) ([]Page[*Advisory], []error) {
	req.Filter = fillFilter(req.Filter)
	return s.rows.readEach(ctx, len(images), func(i int) (ListRequest[*AdvisoryFilter], Query[*AdvisoryFilter], error) {
		own := req
		own.Filter = changeFilter(req.Filter, func(f *AdvisoryFilter) { f.Affecting = images[i] })
		scope, err := s.affecting(ctx, images[i], req.UIDP)
		if err != nil {
			return own, Query[*AdvisoryFilter]{}, err
		}
		q, err := s.rows.buildQuery(ctx, own)
		if q.Scope = scope; own.PageToken == "" {
			q.Filter = req.Filter // One read serves all images, and the scopes say which.
		}
		return own, q, err
	})
}

// affecting returns the scope of the advisories with findings in an image that are not resolved.
func (s Advisories) affecting(ctx context.Context, image ImageKey, f UIDFilter) (Scope, error) {
	if _, err := require(ctx, image.Repo, findingKind.ReadCapabilities()...); err != nil {
		return Scope{}, err
	}
	scope := s.rows.kind.narrowScope(f, []UID{image.Repo.Root(), FeedGroup})
	for i := range scope.Branches {
		scope.Branches[i].Affecting = image
	}
	return scope, nil
}
