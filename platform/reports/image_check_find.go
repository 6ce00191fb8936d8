package reports

import (
	"context"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// An imageState is what is known of an image.
type imageState struct {
	unknown         string // why nothing is known; "" if it is
	findings        []*inventory.Finding
	packages        int64
	unknownPackages int64
	isStored        bool // whether the findings are
}

// neededToCheck are what callers need for the findings of a repo.
func neededToCheck() []core.Capability { return inventory.FindingKind.ReadCapabilities() }

// find finds the image that a request names.
func (s ImageChecks) find(ctx context.Context, actor *core.Actor, group *core.UID, ref imageReference) (core.ImageKey, error) {
	sboms := SBOMs(s)
	if group != nil && ref.repo != "" {
		repo, err := s.findInGroup(ctx, *group, ref.repo)
		if err == nil && repo == nil {
			err = sboms.notFound(ref.text)
		}
		if err != nil {
			return core.ImageKey{}, err
		}
		ref.repo = string(repo.UID)
	}
	if uid := core.UID(ref.repo); uid.Valid() { // whether it is there or not
		if _, err := core.Require(ctx, uid, neededToCheck()...); err != nil {
			return core.ImageKey{}, err
		}
	}
	key, err := sboms.findImageFor(ctx, actor, ref, neededToCheck()...)
	if err == nil {
		_, err = core.Require(ctx, key.Repo, neededToCheck()...)
	}
	return key, err
}

// findInGroup finds a repo of a group by its name; nil if there is none.
func (s ImageChecks) findInGroup(ctx context.Context, group core.UID, name string) (*inventory.Repo, error) {
	if _, err := core.Require(ctx, group, append(neededToCheck(), core.CapRepoList)...); err != nil {
		return nil, err
	}
	page, err := s.area.inventory.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{
		UIDP: core.UIDFilter{ChildrenOf: group}, Filter: &inventory.RepoFilter{Name: name}, PageSize: 1, Parts: core.PartItems,
	})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return page.Items[0], nil
}

// repo reads a repo that the caller may see.
func (s ImageChecks) repo(ctx context.Context, uid core.UID) (*inventory.Repo, error) {
	found, err := s.area.tables.Repos.Get(ctx, s.area.Store, core.Keys{UIDs: []core.UID{uid}})
	if err == nil && len(found) == 0 {
		err = core.NewNotFound(core.RepoRef, uid)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// base returns what is known of the image of a tag of a repo.
func (s ImageChecks) base(ctx context.Context, repo core.UID, tag string) (*imageState, error) {
	found, err := s.area.inventory.Tags.ListNamed(ctx, []inventory.TagName{{Repo: repo, Name: tag}})
	if err == nil && len(found) == 0 {
		err = core.NewNotFound(inventory.TagKind.Ref(), tag)
	}
	if err != nil {
		return nil, err
	}
	of, err := s.repo(ctx, repo)
	if err != nil {
		return nil, err
	}
	return s.evaluate(ctx, of, found[0].Digest)
}

// evaluate finds out which findings an image has. Those that are stored are of images to which a tag points, as of when their tasks have
// ended. In all other cases, what its SBOMs say is compared anew.
func (s ImageChecks) evaluate(ctx context.Context, repo *inventory.Repo, digest string) (*imageState, error) {
	key := core.ImageKey{Repo: repo.UID, Digest: digest}
	documents, err := s.area.tables.ImageSBOMs(ctx, s.area.Store, []core.ImageKey{key})
	if err != nil || len(documents) == 0 {
		return &imageState{unknown: reasonNoSBOM}, err
	}
	held := inventory.HeldContent{HeldComponents: inventory.HeldComponents{Direct: inventory.DirectComponents{}}, Sources: map[core.UID]*inventory.PackageVersion{}}
	wanted := map[core.UID]bool{}
	var uids []core.UID
	for _, of := range documents {
		components, placements, err := s.area.tables.SBOMComponents(ctx, s.area.Store, of)
		if err != nil {
			return nil, err
		}
		for i, uid := range components {
			if !wanted[uid] {
				wanted[uid], uids = true, append(uids, uid)
			}
			if placements == nil {
				held.Direct.Add(uid, nil)
			} else {
				held.Direct.Add(uid, placements[i].Direct)
			}
		}
	}
	if len(uids) == 0 {
		return &imageState{unknown: reasonEmptySBOM}, nil
	}
	state, err := s.readStored(ctx, key)
	if state != nil || err != nil {
		if state != nil {
			state.packages = int64(len(uids))
		}
		return state, err
	}
	components, sources, err := s.area.tables.DescribeComponents(ctx, s.area.Store, uids)
	if err != nil {
		return nil, err
	}
	for _, uid := range uids {
		if c := components[uid]; c != nil {
			held.Components = append(held.Components, c)
		}
	}
	held.Sources = sources
	return s.predict(ctx, repo, digest, held)
}

// readStored returns what is stored of an image; nil if that is not what follows from its SBOMs.
func (s ImageChecks) readStored(ctx context.Context, key core.ImageKey) (*imageState, error) {
	settled, err := s.area.inventory.Findings.AreSettled(ctx, key)
	if err != nil || !settled {
		return nil, err
	}
	summaries, errs := s.area.inventory.Findings.SummarizeImages(ctx, []core.ImageKey{key})
	if errs[0] != nil || summaries[0].KnownImages == 0 {
		return nil, errs[0]
	}
	found, err := s.area.inventory.Findings.ListUnresolved(ctx, []core.ImageKey{key})
	if err != nil {
		return nil, err
	}
	return &imageState{findings: found[0], unknownPackages: summaries[0].UnknownPackages, isStored: true}, nil
}

func (s ImageChecks) predict(ctx context.Context, repo *inventory.Repo, digest string, held inventory.HeldContent) (*imageState, error) {
	found, unknown, err := s.area.inventory.Findings.Predict(ctx, repo, digest, held)
	return &imageState{findings: found, packages: int64(len(held.Components)), unknownPackages: unknown}, err
}

// A CheckedSBOM is an SBOM that a caller gives, and that is not stored.
type CheckedSBOM struct {
	Packages []inventory.InstalledPackage
	Digest   string // of the image, if the document names it; "" otherwise
}

// An SBOMCheck is a check of an SBOM that its caller may ask for.
type SBOMCheck struct {
	checks ImageChecks
	repo   *inventory.Repo
	key    core.ImageKey // without the repo if that is not there
	policy parsedPolicy
}

// AcceptSBOM finds the repo of an SBOM that is to be checked, and fails if the caller may not read findings there. It is for callers who have not
// sent the SBOM yet. Image may be a repo alone; its digest is what decisions about the image are found by. With a group, the repo need not
// exist, and Image may be "". Who says what is new since when needs a repo that exists.
func (s ImageChecks) AcceptSBOM(ctx context.Context, req CheckRequest) (*SBOMCheck, error) {
	check, err := s.acceptSBOM(ctx, req)
	return check, core.InArea(core.AreaVulnerabilities, err)
}

func (s ImageChecks) acceptSBOM(ctx context.Context, req CheckRequest) (*SBOMCheck, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	var v core.Violations
	ref := parseRepo(req.Image, &v)
	c := &SBOMCheck{checks: s, policy: req.parse(&v), key: core.ImageKey{Digest: ref.digest}}
	switch {
	case req.Image == "" && req.Group == nil:
		v.Add("group", "is required, unless image names the repo by its path")
	case req.NewSince != nil && req.Image == "":
		v.Add("image", "is required with newSince: it names the repo")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if req.Group != nil {
		if _, err := core.Require(ctx, *req.Group, append(neededToCheck(), core.CapRepoList)...); err != nil {
			return nil, err
		}
		if exists, err := s.area.Store.Exists(ctx, *req.Group); err != nil || !exists {
			if err == nil {
				err = core.NewNotFound(core.GroupRef, *req.Group)
			}
			return nil, err
		}
	}
	switch {
	case ref.repo == "":
	case req.Group != nil:
		c.repo, err = s.findInGroup(ctx, *req.Group, ref.repo)
	default:
		var key core.ImageKey
		if ref.digest == "" {
			ref.digest = noDigest
		}
		if key, err = s.find(ctx, actor, nil, ref); err == nil {
			c.repo, err = s.repo(ctx, key.Repo)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.repo != nil {
		c.key.Repo = c.repo.UID
		return c, nil
	}
	if req.NewSince != nil {
		return nil, core.NewNotFound(core.RepoRef, ref.repo)
	}
	c.repo = &inventory.Repo{UID: req.Group.NewChild(), Name: ref.repo}
	return c, nil
}

// noDigest stands for the digest of an image of which only the repo is wanted.
const noDigest = "-"

// parseRepo reads the name of an image of which only the repo is needed.
func parseRepo(text string, v *core.Violations) imageReference {
	if text == "" {
		return imageReference{}
	}
	if at := strings.LastIndexByte(text, ':'); !strings.Contains(text, "@") && at <= strings.LastIndexByte(text, '/') {
		v.CheckFilter("image", text)
		return imageReference{text: text, repo: text}
	}
	return parseImage(text, v)
}

// Run decides whether an SBOM passes the policy. It stores nothing.
func (c *SBOMCheck) Run(ctx context.Context, b *CheckedSBOM) (*ImageCheck, error) {
	check, err := c.run(ctx, b)
	return check, core.InArea(core.AreaVulnerabilities, err)
}

func (c *SBOMCheck) run(ctx context.Context, b *CheckedSBOM) (*ImageCheck, error) {
	if c.key.Digest == "" {
		c.key.Digest = b.Digest
	}
	if len(b.Packages) == 0 {
		return c.checks.judge(ctx, c.key, &imageState{unknown: reasonEmptySBOM}, c.policy)
	}
	held := inventory.HeldContent{HeldComponents: inventory.HeldComponents{Direct: inventory.DirectComponents{}}, Sources: map[core.UID]*inventory.PackageVersion{}}
	seen := map[core.UID]bool{}
	for _, p := range b.Packages {
		component, source := inventory.NewComponent(c.repo.UID.Root(), p, c.checks.area.Now())
		if source != nil {
			held.Sources[source.UID] = source
		}
		if !seen[component.UID] {
			seen[component.UID], held.Components = true, append(held.Components, component)
		}
		held.Direct.Add(component.UID, p.Direct)
	}
	state, err := c.checks.predict(ctx, c.repo, c.key.Digest, held)
	if err != nil {
		return nil, err
	}
	return c.checks.judge(ctx, c.key, state, c.policy)
}
