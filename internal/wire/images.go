package wire

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

type (
	// A CompareImagesRequest names two images.
	CompareImagesRequest struct {
		From ImageName `json:"from"`
		To   ImageName `json:"to"`
	}
	// An ImageName is an image of a repo.
	ImageName struct {
		Repo   core.UID `json:"repo"`
		Digest string   `json:"digest"`
	}
	// An ImageComparison is what differs between two images. Each list has at most 1,000 entries.
	ImageComparison struct {
		Added             []HeldPackage        `json:"added"`
		AddedCount        int                  `json:"addedCount"`
		Removed           []HeldPackage        `json:"removed"`
		RemovedCount      int                  `json:"removedCount"`
		Changed           []ChangedPackage     `json:"changed"`
		ChangedCount      int                  `json:"changedCount"`
		FindingsGone      []*inventory.Finding `json:"findingsGone"`
		FindingsGoneCount int                  `json:"findingsGoneCount"`
		FindingsNew       []*inventory.Finding `json:"findingsNew"`
		FindingsNewCount  int                  `json:"findingsNewCount"`
	}
	// A HeldPackage is a package of an image.
	HeldPackage struct {
		Name      string `json:"name"`
		Ecosystem string `json:"ecosystem,omitempty"`
		Version   string `json:"version,omitempty"`
		PURL      string `json:"purl,omitempty"`
	}
	// A ChangedPackage is a package of which both images hold different versions.
	ChangedPackage struct {
		Name      string   `json:"name"`
		Ecosystem string   `json:"ecosystem,omitempty"`
		From      []string `json:"from"`
		To        []string `json:"to"`
	}
)

// CompareImages finds out what differs between two images.
func (o Operations) CompareImages(ctx context.Context, in *CompareImagesRequest) (*ImageComparison, error) {
	c, err := o.p.ImageComparisons.Compare(ctx, core.ImageKey{Repo: in.From.Repo, Digest: in.From.Digest}, core.ImageKey{Repo: in.To.Repo, Digest: in.To.Digest})
	if err != nil {
		return nil, err
	}
	return &ImageComparison{
		showHeld(c.Added()), c.AddedCount(), showHeld(c.Removed()), c.RemovedCount(), showChanged(c.Changed()), c.ChangedCount(),
		listOrEmpty(c.FindingsGone()), c.FindingsGoneCount(), listOrEmpty(c.FindingsNew()), c.FindingsNewCount(),
	}, nil
}

func showHeld(all []*inventory.ImagePackage) []HeldPackage {
	shown := make([]HeldPackage, len(all))
	for i, p := range all {
		shown[i] = HeldPackage{p.PackageVersion.Package.Name, p.PackageVersion.Package.Ecosystem, p.PackageVersion.Version, p.PURL}
	}
	return shown
}

func showChanged(all []reports.PackageChange) []ChangedPackage {
	shown := make([]ChangedPackage, len(all))
	for i, c := range all {
		shown[i] = ChangedPackage{c.Name, c.Ecosystem, c.From, c.To}
	}
	return shown
}
