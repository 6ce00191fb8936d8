package platform_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// under returns a context of a change under conditions, and the conditions.
func under(ctx context.Context, c core.Conditions) (context.Context, *core.Conditions) {
	return core.WithConditions(ctx, &c), &c
}

// etagOf reads the ETag of a repo.
func (w *world) etagOf(ctx context.Context, repo core.UID) string {
	w.Helper()
	ctx, c := under(ctx, core.Conditions{})
	_, err := w.p.Repos.Get(ctx, repo)
	must(w, err)
	return c.ETag()
}

func TestALostUpdateIsRefusedAndNamesWhatChanged(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		read := w.etagOf(acme.owner, repo)
		ctx, c := under(acme.owner, core.Conditions{IfMatch: read})
		_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "first", "labels": {"a": "b"}}`))
		must(t, err)
		if now := w.etagOf(acme.owner, repo); c.ETag() != now || now == read {
			t.Errorf("the ETag is %s after an update that answered %s, and was %s", now, c.ETag(), read)
		}
		before := len(w.events())
		for _, change := range []func(ctx context.Context) error{
			func(ctx context.Context) error {
				_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "second"}`))
				return err
			},
			func(ctx context.Context) error {
				_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{}`))
				return err
			},
			func(ctx context.Context) error { return w.p.Repos.Delete(ctx, repo) },
		} {
			for given, changed := range map[string]string{read: "description,labels,updateTime", `"other"`: "", read + `, "other"`: "", "W/" + w.etagOf(acme.owner, repo): ""} {
				ctx, _ := under(acme.owner, core.Conditions{IfMatch: given})
				e := core.AsError(change(ctx))
				if e.Code != core.CodeAborted || e.Reason != core.ReasonETagMismatch || e.Metadata["changedFields"] != changed || e.Metadata["etag"] != w.etagOf(acme.owner, repo) {
					t.Errorf("If-Match %s is answered with %v and %v", given, e, e.Metadata)
				}
			}
		}
		if got, err := w.p.Repos.Get(acme.owner, repo); err != nil || got.Description != "first" || len(w.events()) != before {
			t.Errorf("refused changes have changed %v: %v", got, err)
		}
		for _, given := range []string{"*", `"other", `} {
			if given != "*" {
				given += w.etagOf(acme.owner, repo)
			}
			ctx, _ := under(acme.owner, core.Conditions{IfMatch: given})
			_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "%s"}`, w.name()))
			must(t, err)
		}
		ctx, _ = under(acme.owner, core.Conditions{IfMatch: w.etagOf(acme.owner, repo)})
		must(t, w.p.Repos.Delete(ctx, repo))
	})
}

func TestOfTwoWritersWhoHaveReadTheSameOneWins(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 15 {
			repo := w.repo(acme.uid)
			read := w.etagOf(acme.owner, repo)
			write := func(description string) func() error {
				return func() error {
					ctx, _ := under(acme.owner, core.Conditions{IfMatch: read})
					_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "%s"}`, description))
					return err
				}
			}
			remove := func() error {
				ctx, _ := under(acme.owner, core.Conditions{IfMatch: read})
				return w.p.Repos.Delete(ctx, repo)
			}
			isLost := func(err error) bool { return core.AsError(err).Reason == core.ReasonETagMismatch }
			if a, b := runBoth(write("a"), write("b")); (a == nil) == (b == nil) || !isLost(errorOf(a, b)) {
				t.Errorf("two updates of the same state: %v and %v", a, b)
			}
			read = w.etagOf(acme.owner, repo)
			if a, b := runBoth(write("c"), remove); (a == nil) == (b == nil) || b != nil && !isLost(b) || a != nil && !isCode(a, core.CodeNotFound) {
				t.Errorf("an update and a deletion of the same state: %v and %v", a, b)
			}
		}
	})
}

// errorOf returns the one of two errors that is not nil.
func errorOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func TestAKeyCreatesOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		create := func(owner context.Context, parent core.UID, key, content string) (*inventory.Repo, error) {
			ctx, _ := under(owner, core.Conditions{IdempotencyKey: key})
			return w.p.Repos.Create(ctx, parent, body[*inventory.Repo]("%s", content))
		}
		made, err := create(acme.owner, team, "k", `{"name": "api", "description": "one"}`)
		must(t, err)
		_, err = w.p.Repos.Update(acme.owner, made.UID, body[*inventory.Repo](`{"description": "changed"}`))
		must(t, err)
		before := len(w.events())
		again, err := create(acme.owner, team, "k", `{"description": "one", "name": "api"}`)
		if must(t, err); again.UID != made.UID || again.Description != "one" || !again.CreateTime.Equal(made.CreateTime.Time) || len(w.events()) != before {
			t.Errorf("the repetition answers %+v, want %+v", again, made)
		}
		for what, refused := range map[string]func() (*inventory.Repo, error){
			"another body": func() (*inventory.Repo, error) {
				return create(acme.owner, team, "k", `{"name": "api", "description": "two"}`)
			},
			"another parent": func() (*inventory.Repo, error) {
				return create(acme.owner, acme.uid, "k", `{"name": "api", "description": "one"}`)
			},
		} {
			if _, err := refused(); core.AsError(err).Reason != core.ReasonIdempotencyKeyReused {
				t.Errorf("%s: %v, want a refusal of the key", what, err)
			}
		}
		_, err = create(w.memberWith(iam.EditorRole, team, acme.uid), team, "k", `{"name": "theirs"}`)
		must(t, err) // the key of another caller
		if _, err := create(acme.owner, team, "l", `{"name": "api", "description": "one"}`); !isCode(err, core.CodeAlreadyExists) {
			t.Errorf("another key: %v, want that the repo exists", err)
		}
		ctx, _ := under(acme.owner, core.Conditions{IdempotencyKey: "l"})
		_, err = w.p.Repos.Create(ctx, team, body[*inventory.Repo](`{"name": "web"}`))
		must(t, err) // what failed has not taken the key
		w.pass(25 * time.Hour)
		must(t, w.p.Repos.Delete(acme.owner, made.UID))
		late, err := create(acme.owner, team, "k", `{"name": "api", "description": "late"}`)
		if must(t, err); late.UID == made.UID {
			t.Error("a key is kept for more than a day")
		}
		var kept int
		must(t, w.raw().QueryRow("SELECT count(*) FROM idempotency_key").Scan(&kept))
		if kept != 1 {
			t.Errorf("%d keys are stored, want the one whose time is not over", kept)
		}
		ctx, _ = under(acme.owner, core.Conditions{IdempotencyKey: "m"})
		if err := w.p.Repos.Delete(ctx, late.UID); !strings.Contains(violationFields(err), "idempotencyKey") {
			t.Errorf("a deletion with a key: %v, want a refusal", err)
		}
	})
}

func TestRequestsWithTheSameKeyAtTheSameTimeCreateOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 10 {
			name := w.name()
			var made [4]*inventory.Repo
			var running sync.WaitGroup
			for i := range made {
				running.Go(func() {
					ctx, _ := under(acme.owner, core.Conditions{IdempotencyKey: name})
					repo, err := w.p.Repos.Create(ctx, acme.uid, body[*inventory.Repo](`{"name": "%s"}`, name))
					if err != nil {
						t.Error(err)
						return
					}
					made[i] = repo
				})
			}
			running.Wait()
			for _, repo := range made {
				if repo == nil || repo.UID != made[0].UID {
					t.Fatalf("one key has created %v", made)
				}
			}
		}
	})
}

func TestWhatIsOnlyValidatedStoresNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		before, denials, read := len(w.events()), len(w.denials()), w.etagOf(acme.owner, repo)
		ctx, c := under(acme.owner, core.Conditions{ValidateOnly: true})
		made, err := w.p.Repos.Create(ctx, acme.uid, body[*inventory.Repo](`{"name": "new"}`))
		if must(t, err); made.Name != "new" || c.ETag() != "" {
			t.Errorf("the answer is %+v with the ETag %q", made, c.ETag())
		}
		changed, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "new"}`))
		if must(t, err); changed.Description != "new" {
			t.Errorf("the answer is %+v", changed)
		}
		must(t, w.p.Repos.Delete(ctx, repo))
		if _, err := w.p.Repos.Create(ctx, acme.uid, body[*inventory.Repo](`{"name": "%s"}`, changed.Name)); !isCode(err, core.CodeAlreadyExists) {
			t.Errorf("a name that is taken: %v", err)
		}
		w.tag(repo)
		if err := w.p.Repos.Delete(ctx, repo); !isCode(err, core.CodeFailedPrecondition) {
			t.Errorf("a repo with a tag: %v", err)
		}
		denied, _ := under(viewer, core.Conditions{ValidateOnly: true})
		if err := w.p.Repos.Delete(denied, repo); !isCode(err, core.CodePermissionDenied) {
			t.Errorf("without rights: %v", err)
		}
		if _, err := w.p.Repos.Get(acme.owner, made.UID); !isCode(err, core.CodeNotFound) {
			t.Errorf("the validated repo is stored: %v", err)
		}
		if w.etagOf(acme.owner, repo) != read || len(w.events()) != before+1 || len(w.denials()) != denials {
			t.Errorf("validations have left something: %d events, want %d; %d denials, want %d", len(w.events()), before+1, len(w.denials()), denials)
		}
		w.checkCounters()
	})
}
