package platform_test

import (
	"context"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/reports"
	"atrium/platform/webhooks"
)

// An operation is an operation of the ledger, as a caller uses it.
type operation struct {
	// on creates the resource of the call, because a call may change it. The path names
	// it, and permission is checked on it. For a list, it is a resource that the list may
	// contain.
	on func() core.UID
	// call makes the call. For a list, it reports whether uid was among the items.
	call func(ctx context.Context, uid core.UID) (seen bool, err error)
	// within lists a part of the tree.
	within func(ctx context.Context, scope core.UIDFilter) error
}

// sharedReads lists the reads that show everything to callers who hold their capability
// anywhere. Those with true read one resource, which can be missing.
var sharedReads = map[string]bool{"ListArtifacts": false, "GetArtifactCount": false, "ListArtifactVersions": true}

// operations returns the operations of the core on the contents of group.
func (w *world) operations(group core.UID) map[string]operation {
	p := w.p
	in := func(made func(core.UID) core.UID) func() core.UID {
		return func() core.UID { return made(group) }
	}
	parent := func() core.UID { return group }
	member := in(func(g core.UID) core.UID { return w.member(g, w.name()) })
	role := in(func(g core.UID) core.UID { return w.role(g) })
	bound := in(func(g core.UID) core.UID { return w.bind(g, member(), w.role(g)) })
	tag := in(func(g core.UID) core.UID { return w.tag(w.repo(g)) })
	all := map[string]operation{
		"ListArtifacts": {w.artifact, func(ctx context.Context, _ core.UID) (bool, error) {
			_, err := p.Artifacts.List(ctx, core.ListRequest[*libraries.ArtifactFilter]{Filter: java})
			return false, err
		}, nil},
		"ListArtifactVersions": {w.artifact, func(ctx context.Context, uid core.UID) (bool, error) {
			_, err := p.ArtifactVersions.ListOf(ctx, uid, core.ListRequest[*libraries.ArtifactVersionFilter]{})
			return false, err
		}, nil},
		"GetArtifactCount": {w.artifact, func(ctx context.Context, _ core.UID) (bool, error) {
			_, err := p.Artifacts.Counts(ctx, java.Ecosystems)
			return false, err
		}, nil},

		"Ping": {parent, func(ctx context.Context, _ core.UID) (bool, error) { p.Ping(ctx); return false, nil }, nil},

		"GetGroup":    {in(w.group), one(p.Groups.Get), nil},
		"ListGroups":  {in(w.group), list(p.Groups.List, func(g *iam.Group) core.UID { return g.UID }), listInScope(p.Groups.List)},
		"CreateGroup": {parent, create(p.Groups.Create, func() fieldmask.Input[*iam.Group] { return body[*iam.Group](`{"name": %q}`, w.name()) }), nil},
		"UpdateGroup": {in(w.group), update(p.Groups.Update, `{"description": "changed"}`), nil},
		"DeleteGroup": {in(w.group), remove(p.Groups.Delete), nil},

		"GetIdentity":    {member, one(p.Identities.Get), nil},
		"ListIdentities": {member, list(p.Identities.List, func(i *iam.Identity) core.UID { return i.UID }), listInScope(p.Identities.List)},
		"CreateIdentity": {parent, create(p.Identities.Create, func() fieldmask.Input[*iam.Identity] { return body[*iam.Identity](`{"name": "x"}`) }), nil},
		"UpdateIdentity": {member, update(p.Identities.Update, `{"description": "changed"}`), nil},
		"DeleteIdentity": {member, remove(p.Identities.Delete), nil},
		"LookupIdentity": {in(func(g core.UID) core.UID { return w.member(g, "looked up") }), func(ctx context.Context, uid core.UID) (bool, error) {
			found, err := p.Identities.Lookup(ctx, issuer, "looked up")
			return found == uid, err
		}, nil},

		"GetRole":    {role, one(p.Roles.Get), nil},
		"ListRoles":  {role, list(p.Roles.List, func(r *iam.Role) core.UID { return r.UID }), listInScope(p.Roles.List)},
		"CreateRole": {parent, create(p.Roles.Create, func() fieldmask.Input[*iam.Role] { return body[*iam.Role](`{"name": %q}`, w.name()) }), nil},
		"UpdateRole": {role, update(p.Roles.Update, `{"description": "changed"}`), nil},
		"DeleteRole": {role, remove(p.Roles.Delete), nil},

		"GetRoleBinding":   {bound, one(p.RoleBindings.Get), nil},
		"ListRoleBindings": {bound, list(p.RoleBindings.List, func(b *iam.RoleBinding) core.UID { return b.UID }), listInScope(p.RoleBindings.List)},
		"CreateRoleBinding": {parent, create(p.RoleBindings.Create, func() fieldmask.Input[*iam.RoleBinding] {
			return binding(member(), role())
		}), nil},
		"BatchCreateRoleBindings": {parent, func(ctx context.Context, uid core.UID) (bool, error) {
			_, err := p.RoleBindings.CreateBatch(ctx, newBatch(uid, []fieldmask.Input[*iam.RoleBinding]{binding(member(), role())}))
			return false, err
		}, nil},
		"UpdateRoleBinding": {bound, func(ctx context.Context, uid core.UID) (bool, error) {
			_, err := p.RoleBindings.Update(ctx, uid, body[*iam.RoleBinding](`{"roleUid": %q}`, role()))
			return false, err
		}, nil},
		"DeleteRoleBinding": {bound, remove(p.RoleBindings.Delete), nil},

		"GetRepo":          {in(w.repo), one(p.Repos.Get), nil},
		"ListRepos":        {in(w.repo), list(p.Repos.List, func(r *inventory.Repo) core.UID { return r.UID }), listInScope(p.Repos.List)},
		"CreateRepo":       {parent, create(p.Repos.Create, func() fieldmask.Input[*inventory.Repo] { return body[*inventory.Repo](`{"name": %q}`, w.name()) }), nil},
		"UpdateRepo":       {in(w.repo), update(p.Repos.Update, `{"description": "changed"}`), nil},
		"DeleteRepo":       {in(w.repo), remove(p.Repos.Delete), nil},
		"GetRepoReadme":    {in(w.repo), one(p.Repos.Readme), nil},
		"UpdateRepoReadme": {in(w.repo), update(p.Repos.UpdateReadme, `{"content": "changed"}`), nil},

		"GetTag":   {tag, one(p.Tags.Get), nil},
		"ListTags": {tag, list(p.Tags.List, func(t *inventory.Tag) core.UID { return t.UID }), listInScope(p.Tags.List)},
		"CreateTag": {in(w.repo), create(p.Tags.Create, func() fieldmask.Input[*inventory.Tag] {
			return body[*inventory.Tag](`{"name": "latest", "digest": %q}`, digest(1))
		}), nil},
		"DeleteTag": {tag, remove(p.Tags.Delete), nil},

		"GetAdvisory":    {in(w.advisory), one(p.Advisories.Get), nil},
		"ListAdvisories": {in(w.advisory), list(p.Advisories.List, func(a *inventory.Advisory) core.UID { return a.UID }), listInScope(p.Advisories.List)},

		"GetSubscription":   {in(w.subscription), one(p.Subscriptions.Get), nil},
		"ListSubscriptions": {in(w.subscription), list(p.Subscriptions.List, func(s *webhooks.Subscription) core.UID { return s.UID }), listInScope(p.Subscriptions.List)},
		"CreateSubscription": {parent, create(p.Subscriptions.Create, func() fieldmask.Input[*webhooks.Subscription] {
			return body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name())
		}), nil},
		"DeleteSubscription": {in(w.subscription), remove(p.Subscriptions.Delete), nil},

		"ListVulnerabilityMetadata": {parent, func(ctx context.Context, _ core.UID) (bool, error) {
			_, err := p.Vulnerabilities.List(ctx, core.ListRequest[*inventory.VulnerabilityFilter]{})
			return false, err
		}, nil},
		"ListDocuments": {parent, func(ctx context.Context, _ core.UID) (bool, error) {
			_, err := p.AdvisoryDocuments.List(ctx, core.ListRequest[*reports.DocumentFilter]{})
			return false, err
		}, nil},
		"ListResolvedVulnsReports": {in(w.newTag), func(ctx context.Context, repo core.UID) (bool, error) {
			_, err := p.ResolvedVulnerabilities.ListAll(ctx, reports.ResolvedVulnerabilityFilter{
				ImageRefs: []reports.ImageRef{{Repo: string(repo)}}, StartTime: core.At(epoch), EndTime: core.At(epoch.AddDate(0, 0, 1)),
			})
			return false, err
		}, nil},
		"GetArchitectures": {in(w.newImage), func(ctx context.Context, repo core.UID) (bool, error) {
			_, err := p.Images.Get(ctx, core.ImageKey{Repo: repo, Digest: digest(1)})
			return false, err
		}, nil},
		"GetSize": {in(w.newImage), func(ctx context.Context, repo core.UID) (bool, error) {
			_, err := p.Images.Size(ctx, core.ImageKey{Repo: repo, Digest: digest(1)}, "")
			return false, err
		}, nil},
	}
	maps.Copy(all, w.iamOperations(group))
	return all
}

// advisory imports an advisory. No operation creates one.
func (w *world) advisory(group core.UID) core.UID {
	w.Helper()
	a := &inventory.Advisory{AdvisoryID: w.name(), ArtifactName: "stdlib"}
	_, err := w.p.Feeds.ImportAdvisories(w.operator(), group, []*inventory.Advisory{a})
	must(w, err)
	return a.UID
}

var java = &libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{libraries.EcosystemJava}}

// artifact imports an artifact without versions.
func (w *world) artifact() core.UID {
	w.Helper()
	a := &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: libraries.EcosystemJava, Name: w.name()}}
	_, _, err := w.p.Artifacts.Import(w.operator(), []*libraries.ImportedArtifact{a})
	must(w, err)
	return a.UID
}

// newImage creates a repo with an image.
func (w *world) newImage(group core.UID) core.UID {
	w.Helper()
	repo := w.repo(group)
	_, err := w.p.Registry.ImportImages(w.operator(), []*inventory.Image{{Repo: repo, Digest: digest(1), Architectures: []inventory.Architecture{{Name: "amd64", Size: 7}}}})
	must(w, err)
	return repo
}

// newTag creates a repo with the tag latest.
func (w *world) newTag(group core.UID) core.UID {
	w.Helper()
	repo := w.repo(group)
	_, err := w.p.Tags.Create(w.operator(), repo, body[*inventory.Tag](`{"name": "latest", "digest": %q}`, digest(1)))
	must(w, err)
	return repo
}

type call = func(context.Context, core.UID) (bool, error)

func one[T any](get func(context.Context, core.UID) (T, error)) call {
	return func(ctx context.Context, uid core.UID) (bool, error) {
		_, err := get(ctx, uid)
		return false, err
	}
}

func list[T, F any](list func(context.Context, core.ListRequest[F]) (core.Page[T], error), uidOf func(T) core.UID) call {
	return func(ctx context.Context, uid core.UID) (bool, error) {
		page, err := list(ctx, core.ListRequest[F]{OrderBy: "uid", UIDP: core.UIDFilter{IDs: []core.UID{uid}}})
		if err != nil || len(page.Items) != int(page.TotalCount) {
			return false, err
		}
		return slices.ContainsFunc(page.Items, func(row T) bool { return uidOf(row) == uid }), nil
	}
}

func listInScope[T, F any](list func(context.Context, core.ListRequest[F]) (core.Page[T], error)) func(context.Context, core.UIDFilter) error {
	return func(ctx context.Context, scope core.UIDFilter) error {
		_, err := list(ctx, core.ListRequest[F]{UIDP: scope})
		return err
	}
}

func create[T any](create func(context.Context, core.UID, fieldmask.Input[T]) (T, error), in func() fieldmask.Input[T]) call {
	return func(ctx context.Context, parent core.UID) (bool, error) {
		_, err := create(ctx, parent, in())
		return false, err
	}
}

func update[T any](update func(context.Context, core.UID, fieldmask.Input[T]) (T, error), change string) call {
	return func(ctx context.Context, uid core.UID) (bool, error) {
		_, err := update(ctx, uid, body[T]("%s", change))
		return false, err
	}
}

func remove(remove func(context.Context, core.UID) error) call {
	return func(ctx context.Context, uid core.UID) (bool, error) { return false, remove(ctx, uid) }
}
