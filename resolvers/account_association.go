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
	"atrium/platform"
)

func (q queries) AccountAssociation(ctx context.Context, uid platform.UID) (*platform.AccountAssociation, error) {
	return readsOf(ctx).accountAssociations.one(ctx, uid)
}

func (q queries) AccountAssociations(ctx context.Context, descendantsOf, childrenOf *platform.UID, where *scalar.AccountAssociationFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.AccountAssociationConnection, error) {
	f := or(where)
	return list(ctx, q.p.AccountAssociations.List, within(descendantsOf, childrenOf, f.ByUID), f.AccountAssociationFilter, window{orderBy, first, after, last, before, skip})
}

func (m mutations) CreateAccountAssociation(ctx context.Context, input map[string]any) (*scalar.CreateAccountAssociationPayload, error) {
	input, apps := byApp(input)
	return create(ctx, apps.listed(m.p.AccountAssociations.Create), m.p.AccountAssociations.ListEach, input)
}

func (m mutations) UpdateAccountAssociation(ctx context.Context, input map[string]any) (*scalar.UpdateAccountAssociationPayload, error) {
	input, apps := byApp(input)
	return update(ctx, apps.listed(m.p.AccountAssociations.Update), input)
}

func (m mutations) DeleteAccountAssociation(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return remove(ctx, m.p.AccountAssociations.Delete, "AccountAssociation", input)
}

func (e entities) FindManyAccountAssociationByUIDs(ctx context.Context, reps []*graph.AccountAssociationByUIDsInput) ([]*platform.AccountAssociation, error) {
	return represented(ctx, &readsOf(ctx).accountAssociations, keysOf(reps, func(r *graph.AccountAssociationByUIDsInput) platform.UID { return r.UID }))
}

func (accountAssociations) Group(ctx context.Context, all []*platform.AccountAssociation) ([]*platform.Group, error) {
	return follow(ctx, all, &readsOf(ctx).groups, func(a *platform.AccountAssociation) platform.UID { return a.UID })
}

// AppInstallations are sorted by the numbers of the apps.
func (gitHubAccounts) AppInstallations(_ context.Context, all []*platform.GitHubAccount) ([][]*graph.GitHubAppInstallations, error) {
	return keysOf(all, appInstallations), nil
}

func appInstallations(a *platform.GitHubAccount) []*graph.GitHubAppInstallations {
	all := []*graph.GitHubAppInstallations{}
	for _, app := range slices.Sorted(maps.Keys(a.AppInstallations)) {
		of := &graph.GitHubAppInstallations{AppID: platform.Int64(app), Installations: []*platform.GitHubInstallation{}}
		for _, one := range a.AppInstallations[app].Installations {
			of.Installations = append(of.Installations, &one)
		}
		all = append(all, of)
	}
	return all
}

// apps are the GitHub apps of an input in its order. Clients list them; to the
// core they are a map by their numbers.
type apps []platform.Int64

// byApp gives an input the map that the core takes.
func byApp(input map[string]any) (map[string]any, apps) {
	github, _ := input["github"].(map[string]any)
	list, ok := github["appInstallations"].([]map[string]any)
	if !ok {
		return input, nil
	}
	numbers, installed := make(apps, len(list)), make(map[string]any, len(list))
	for i, app := range list {
		numbers[i], _ = app["appId"].(platform.Int64)
		installed[strconv.FormatInt(int64(numbers[i]), 10)] = map[string]any{"installations": app["installations"]}
	}
	input = maps.Clone(input)
	input["github"] = map[string]any{"appInstallations": installed}
	return input, numbers
}

type writing[T any] func(context.Context, platform.UID, platform.Input[T]) (*T, error)

// listed is do, which knows of no list: what it finds wrong with an app is told
// of the app's place in the list, and so is an app that comes twice.
func (a apps) listed(do writing[platform.AccountAssociation]) writing[platform.AccountAssociation] {
	return func(ctx context.Context, uid platform.UID, in platform.Input[platform.AccountAssociation]) (*platform.AccountAssociation, error) {
		done, err := do(ctx, uid, in.Malformed(a.twice()...))
		return done, renamed(err, a.placed)
	}
}

// twice finds apps that a map would hold once. One that comes more often is
// told of once: a list can be as long as a request.
func (a apps) twice() (found []platform.Violation) {
	times := map[platform.Int64]int{}
	for i, app := range a {
		if times[app]++; times[app] == 2 {
			found = append(found, platform.Violation{Field: fmt.Sprintf("github.appInstallations[%d].appId", i), Description: "is given twice"})
		}
	}
	return found
}

func (a apps) placed(field string) string {
	rest, inApp := strings.CutPrefix(field, "github.appInstallations.")
	number, rest, _ := strings.Cut(rest, ".")
	app, err := strconv.ParseInt(number, 10, 64)
	if !inApp || err != nil {
		return field
	}
	return fmt.Sprintf("github.appInstallations[%d].%s", slices.Index(a, platform.Int64(app)), rest)
}
