package main

import (
	"context"
	_ "embed"
	"testing"

	"github.com/jackc/pgx/v5"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// A few rows in the tables of the benchmark.
//
//go:embed testdata/bench.sql
var bench string

const (
	big   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	feed  = "cccccccccccccccccccccccccccccccccccccccc"
	group = big + "/0000000000000002"
)

// TestTheRowsOfTheBenchmarkAreCopied asks as the caller of the benchmark does.
func TestTheRowsOfTheBenchmarkAreCopied(t *testing.T) {
	t.Parallel()
	from, to := storetest.Postgres(t), storetest.Postgres(t)
	source, err := pgx.Connect(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close(context.WithoutCancel(t.Context())) }()
	if _, err := source.Exec(t.Context(), bench); err != nil {
		t.Fatal(err)
	}
	if err := load(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}

	p, err := platform.New(t.Context(), storetest.Open(t, to), platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := p.Authenticate(t.Context(), iam.Claims{Issuer: auth.DevelopmentIssuer, Subject: "owner", ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := core.WithActor(t.Context(), caller)
	below := func(uid core.UID) core.UIDFilter { return core.UIDFilter{DescendantsOf: uid} }
	for _, of := range []struct {
		kind  string
		total func() (int64, error)
		want  int64
	}{
		{"groups", totalOf(ctx, p.Groups.List, below(big)), 1},
		{"identities", totalOf(ctx, p.Identities.List, below(big)), 2},
		{"role bindings", totalOf(ctx, p.RoleBindings.List, below(big)), 2},
		{"repos", totalOf(ctx, p.Repos.List, below(group)), 2},
		{"tags", totalOf(ctx, p.Tags.List, below(group)), 3},
		{"advisories", totalOf(ctx, p.Advisories.List, below(feed)), 2},
	} {
		if total, err := of.total(); total != of.want || err != nil {
			t.Errorf("%d %s (%v), want %d", total, of.kind, err, of.want)
		}
	}
	repo, err := p.Repos.Get(ctx, group+"/0000000000000005")
	if err != nil || repo.Name != "api" || repo.CreateTime.String() != "2022-03-01T00:00:00.000Z" {
		t.Errorf("the repo is %+v (%v), want the name and the time of the benchmark", repo, err)
	}
}

// totalOf asks for the total of a list.
func totalOf[T, F any](ctx context.Context, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), below core.UIDFilter) func() (int64, error) {
	return func() (int64, error) {
		page, err := list(ctx, core.ListRequest[F]{UIDP: below})
		return page.TotalCount, err
	}
}
