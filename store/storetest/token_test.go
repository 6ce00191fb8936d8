package storetest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// repos creates n repos in a group, in one transaction.
func (w *world) repos(group core.UID, n int) []*inventory.Repo {
	w.t.Helper()
	d := newDice(29)
	made := times(n, func(i int) *inventory.Repo {
		return &inventory.Repo{UID: d.below(group), Name: fmt.Sprintf("repo-%04d", i), CreateTime: core.At(w.now()), UpdateTime: core.At(w.now())}
	})
	w.insert(func(tx core.Tx) error { return storetest.Tables.Inventory.Repos.Insert(w.t.Context(), tx, made...) })
	return made
}

func TestPageTokensOutliveRestartsAndNewKeys(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		w.repos(org.Group.UID, 10)
		read := func(p *platform.Platform, token string) (names []string, next string) {
			t.Helper()
			page, err := p.Repos.List(w.contextOn(p, "owner of acme"), core.ListRequest[*inventory.RepoFilter]{PageSize: 3, PageToken: token})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Items {
				names = append(names, r.Name)
			}
			return names, page.NextPageToken()
		}
		_, token := read(w.p, "")

		restarted := w.replica(storetest.Open(t, w.url))
		names, next := read(restarted, token)
		if want := []string{"repo-0003", "repo-0004", "repo-0005"}; !slices.Equal(names, want) {
			t.Fatalf("after a restart got %v, want %v", names, want)
		}

		if err := restarted.RotateKeys(ctx); err != nil {
			t.Fatal(err)
		}
		_, sealedNew := read(restarted, token)
		if next[0] == sealedNew[0] && next[1] == sealedNew[1] {
			t.Error("a token made after the rotation is sealed with the old key")
		}
		// The first replica does not know the new key yet.
		for _, token := range []string{next, sealedNew} {
			if names, _ := read(w.p, token); !slices.Equal(names, []string{"repo-0006", "repo-0007", "repo-0008"}) {
				t.Fatalf("a replica with the old key reads %v", names)
			}
		}
	})
}

func TestTokensOfAnotherDatabaseDoNotOpen(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		w.repos(org.Group.UID, 5)
		other := newWorld(t, storetest.SQLite(t))
		otherCtx, otherOrg := other.createOrganization("acme")
		other.repos(otherOrg.Group.UID, 5)
		page, err := other.p.Repos.List(otherCtx, core.ListRequest[*inventory.RepoFilter]{PageSize: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{PageSize: 2, PageToken: page.NextPageToken()})
		if !errors.Is(err, &core.Error{Code: core.CodeInvalidArgument}) {
			t.Errorf("got %v, want INVALID_ARGUMENT", err)
		}
	})
}

func TestTokensThatAreTooOldStartTheListAgain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		w.repos(org.Group.UID, 5)
		req := core.ListRequest[*inventory.RepoFilter]{PageSize: 2, OrderBy: "name desc"}
		page, err := w.p.Repos.List(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		w.clockAhead.Add((73 * time.Hour).Milliseconds())
		req.PageToken, req.OrderBy = page.NextPageToken(), ""
		again, err := w.p.Repos.List(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if again.Items[0].Name != "repo-0004" {
			t.Errorf("the list starts again with %s, want repo-0004", again.Items[0].Name)
		}
	})
}
