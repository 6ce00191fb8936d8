package resolvers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// accountAssociations resolves the fields of account associations.
type accountAssociations struct {
	viewerFields[*iam.AccountAssociation]
}

func (r root) AccountAssociation() graph.AccountAssociationResolver {
	return accountAssociations{newViewerFields(r.p.AccountAssociations)}
}

func (r *reads) accountAssociations() *loader[core.UID, *iam.AccountAssociation] {
	return loaderOf(r, r.p.AccountAssociations.GetMany)
}

func (q queries) AccountAssociation(ctx context.Context, uid core.UID) (*iam.AccountAssociation, error) {
	return readsOf(ctx).accountAssociations().load(ctx, uid)
}

func (q queries) AccountAssociations(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.AccountAssociationFilter) (*scalar.AccountAssociationConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.AccountAssociations.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.AccountAssociationFilter, window)))
}

func (m mutations) CreateAccountAssociation(ctx context.Context, input map[string]any) (*scalar.CreateAccountAssociationPayload, error) {
	input, apps := indexApps(input)
	parent, in := decodeInput[*iam.AccountAssociation](input)
	made, err := m.p.AccountAssociations.Create(withConditions(ctx, input), parent, in.Malformed(apps.findDuplicates()...))
	return newCreated(ctx, m.p.AccountAssociations.ListEach, parent, made, renameFields(err, apps.listField))
}

func (m mutations) UpdateAccountAssociation(ctx context.Context, input map[string]any) (*scalar.UpdateAccountAssociationPayload, error) {
	input, apps := indexApps(input)
	uid, in := decodeInput[*iam.AccountAssociation](input)
	changed, err := m.p.AccountAssociations.Update(withConditions(ctx, input), uid, in.Malformed(apps.findDuplicates()...))
	return newUpdated(changed, renameFields(err, apps.listField))
}

func (m mutations) DeleteAccountAssociation(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("AccountAssociation", input, m.p.AccountAssociations.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManyAccountAssociationByUIDs(ctx context.Context, reps []*graph.AccountAssociationByUIDsInput) ([]*iam.AccountAssociation, error) {
	return readRepresentations(ctx, readsOf(ctx).accountAssociations(), mapEach(reps, func(r *graph.AccountAssociationByUIDsInput) core.UID { return r.UID }))
}

func (accountAssociations) Group(ctx context.Context, all []*iam.AccountAssociation) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(a *iam.AccountAssociation) core.UID { return a.UID })
}

// platformServices resolves the fields of the services that act in a group, and platformService those of each.
type (
	platformServices struct{}
	platformService  struct{}
)

func (root) PlatformServices() graph.PlatformServicesResolver { return platformServices{} }

func (root) PlatformService() graph.PlatformServiceResolver { return platformService{} }

func (platformServices) Services(_ context.Context, all []*iam.PlatformServices) ([][]*graph.PlatformService, error) {
	return mapEach(all, func(p *iam.PlatformServices) []*graph.PlatformService {
		services := []*graph.PlatformService{}
		for _, name := range slices.Sorted(maps.Keys(p.ServiceBindings)) {
			services = append(services, &graph.PlatformService{Name: name, IdentityUID: core.UID(p.ServiceBindings[name])})
		}
		return services
	}), nil
}

func (platformService) Identity(ctx context.Context, all []*graph.PlatformService) ([]*iam.Identity, error) {
	return followActor(ctx, all, func(s *graph.PlatformService) string { return string(s.IdentityUID) })
}

// AppInstallations returns the installations sorted by app id.
func (gitHubAccounts) AppInstallations(_ context.Context, all []*iam.GitHubAccount) ([][]*graph.GitHubAppInstallations, error) {
	return mapEach(all, appInstallations), nil
}

func appInstallations(a *iam.GitHubAccount) []*graph.GitHubAppInstallations {
	all := []*graph.GitHubAppInstallations{}
	for _, app := range slices.Sorted(maps.Keys(a.AppInstallations)) {
		entry := &graph.GitHubAppInstallations{AppID: core.Int64(app), Installations: []*iam.GitHubInstallation{}}
		for _, installation := range a.AppInstallations[app].Installations {
			entry.Installations = append(entry.Installations, &installation)
		}
		all = append(all, entry)
	}
	return all
}

// appIDs holds the ids of the GitHub apps of an input, in the input's order.
// Clients send a list of apps, and the core takes a map by app id.
type appIDs []core.Int64

// indexApps replaces the list of apps in an input by a map from app id to app,
// and returns the ids in the order of the list.
func indexApps(input map[string]any) (map[string]any, appIDs) {
	github, _ := input["github"].(map[string]any)
	list, ok := github["appInstallations"].([]map[string]any)
	if !ok {
		return input, nil
	}
	ids, installed := make(appIDs, len(list)), make(map[string]any, len(list))
	for i, app := range list {
		ids[i], _ = app["appId"].(core.Int64)
		installed[strconv.FormatInt(int64(ids[i]), 10)] = map[string]any{"installations": app["installations"]}
	}
	input = maps.Clone(input)
	input["github"] = map[string]any{"appInstallations": installed}
	return input, ids
}

// findDuplicates returns one violation for each app that is in the list more than
// once. It names only the second place, because a list can be as long as a request.
func (a appIDs) findDuplicates() (found []fieldmask.Violation) {
	times := map[core.Int64]int{}
	for i, app := range a {
		if times[app]++; times[app] == 2 {
			found = append(found, fieldmask.Violation{Field: fmt.Sprintf("github.appInstallations[%d].appId", i), Description: "is given twice"})
		}
	}
	return found
}

// listField translates a field of the core's map into a field of the client's
// list. It returns other fields unchanged.
func (a appIDs) listField(field string) string {
	rest, inApp := strings.CutPrefix(field, "github.appInstallations.")
	number, rest, _ := strings.Cut(rest, ".")
	app, err := strconv.ParseInt(number, 10, 64)
	if !inApp || err != nil {
		return field
	}
	return fmt.Sprintf("github.appInstallations[%d].%s", slices.Index(a, core.Int64(app)), rest)
}
