package storetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
)

// A mirrored engine has a standby that always has all changes: itself.
type mirrored struct{ dbconn.Engine }

func (e mirrored) Standbys() dbconn.Standbys { return mirror(e) }

type mirror struct{ dbconn.Engine }

func (mirror) AskPosition(at *dbconn.Position) *dbconn.Statement {
	return &dbconn.Statement{SQL: "SELECT 1", Place: dbconn.Last, Row: func(func(...any) error) error {
		*at = dbconn.Position{History: "mirror", Offset: 1}
		return nil
	}}
}

func (m mirror) Run(ctx context.Context, _ dbconn.Position, statements ...*dbconn.Statement) (done bool, err error) {
	return true, m.Engine.Run(ctx, statements...)
}

func (mirror) States() []dbconn.StandbyState { return nil }
func (mirror) Fallbacks() map[string]int64   { return nil }
func (mirror) Close()                        {}

// A viewer reads an organization, each time in a request that presumes what the first one found.
type viewer struct {
	p      *platform.Platform
	store  *sqlstore.Store
	claims iam.Claims
	last   *core.Actor
}

func newViewer(t *testing.T, p *platform.Platform, s *sqlstore.Store, subject string) viewer {
	t.Helper()
	claims := iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true}
	return viewer{p, s, claims, must[*core.Actor](t)(p.Authenticate(t.Context(), claims))}
}

// read returns the answers of reads that run beside each other for one response.
func (v viewer) read(ctx context.Context, root core.UID, groups []core.UID, repos []*inventory.Repo) (string, error) {
	ctx = v.p.Presume(v.store.AllowStandby(ctx), v.claims, v.last)
	reads := []func(ctx context.Context) (any, error){
		func(ctx context.Context) (any, error) {
			page, err := v.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: descendantsOf(root), PageSize: 7})
			return []any{page.Items, page.TotalCount}, err
		},
		func(ctx context.Context) (any, error) {
			scopes := []core.UIDFilter{childrenOf(groups[0]), childrenOf(groups[1])}
			pages, errs := v.p.Repos.ListEach(ctx, core.ListRequest[*inventory.RepoFilter]{PageSize: 3}, scopes)
			return []any{pages[0].Items, pages[1].Items, pages[1].TotalCount}, errors.Join(errs...)
		},
		func(ctx context.Context) (any, error) { return v.p.Repos.Get(ctx, repos[3].UID) },
		func(ctx context.Context) (any, error) { return v.p.Groups.Get(ctx, groups[0]) },
		func(ctx context.Context) (any, error) {
			found, errs := v.p.Repos.GetMany(ctx, []core.UID{repos[5].UID, repos[1].UID})
			return found, errors.Join(errs...)
		},
		func(ctx context.Context) (any, error) {
			page, err := v.p.Groups.List(ctx, core.ListRequest[*iam.GroupFilter]{UIDP: childrenOf(root)})
			return []any{page.Items, page.TotalCount}, err
		},
	}
	join, end := v.store.Gather(len(reads))
	answers := make([]any, len(reads))
	errs := runAtOnce(len(reads), func(i int) (err error) {
		defer end()
		answers[i], err = reads[i](join(ctx))
		return err
	})
	text, err := json.Marshal(answers)
	return string(text), errors.Join(append(errs, err, core.Prove(ctx))...)
}

// Each wrapper of the way to the database can be left out: the answers are the same, and a
// right that was removed does not count any more.
func TestEachWrapperCanBeLeftOut(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		owner, org := w.createOrganization("acme")
		root := org.Group.UID
		groups := []core.UID{w.group(owner, root, "one"), w.group(owner, root, "two")}
		repos := slices.Concat(w.repos(groups[0], 9), w.repos(groups[1], 4))
		want := ""
		for _, without := range append([]string{""}, dbconn.Wrappers()...) {
			s := sqlstore.NewWithout(mirrored{openEngine(t, w.url)}, without)
			ann := w.identity(owner, root, "ann without "+without)
			binding := must[*iam.RoleBinding](t)(w.p.RoleBindings.Create(owner, root, input[*iam.RoleBinding](`{"identityUid": "`+string(ann)+`", "roleUid": "`+string(iam.ViewerRole)+`"}`)))
			v := newViewer(t, w.replica(s), s, "ann without "+without)
			for range 3 { // From the third request on, only versions are compared.
				got, err := v.read(t.Context(), root, groups, repos)
				if want == "" {
					want = got
				}
				if err != nil || got != want {
					t.Errorf("without %q: %s (%v), want %s", without, got, err, want)
				}
			}
			must[any](t)(nil, w.p.RoleBindings.Delete(owner, binding.UID))
			if _, err := v.read(t.Context(), root, groups, repos); err == nil {
				t.Errorf("without %q, a right counts that was removed", without)
			}
		}
	})
}
