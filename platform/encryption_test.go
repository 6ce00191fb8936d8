package platform_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/secrets"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

var firstKey, secondKey, thirdKey = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32), bytes.Repeat([]byte{3}, 32)

// eachEncrypted runs test on every engine. The platform has the first key.
func eachEncrypted(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := &world{TB: t, url: url, store: storetest.Open(t, url)}
		w.p = w.replica(w.store, platform.Options{EncryptionKey: firstKey})
		test(t, w)
	})
}

// starts returns the error of starting a platform with an encryption key; nil means no
// key.
func (w *world) starts(key []byte) error {
	_, err := platform.New(w.Context(), w.store, platform.Options{EncryptionKey: key})
	return err
}

func (w *world) isOtherKey(what string, err error, part string) {
	w.Helper()
	if !errors.Is(err, &core.Error{Code: core.CodeFailedPrecondition, Reason: "ENCRYPTION_KEY_MISMATCH"}) || !strings.Contains(err.Error(), part) {
		w.Errorf("%s: got %v, want an error of the key with %q", what, err, part)
	}
}

// sharedKeys returns the purposes of keys, and the material of each.
func (w *world) sharedKeys() (purposes []string, materials [][]byte) {
	w.Helper()
	rows, err := w.raw().QueryContext(w.Context(), "SELECT purpose, material FROM shared_key ORDER BY purpose, id")
	must(w, err)
	defer rows.Close()
	for rows.Next() {
		var purpose string
		var material []byte
		must(w, rows.Scan(&purpose, &material))
		purposes, materials = append(purposes, purpose), append(materials, material)
	}
	must(w, rows.Err())
	return purposes, materials
}

// fault tries to deliver an event to a subscription. It returns the signing secret, or
// the error that prevents the attempt.
func (w *world) fault(p *platform.Platform, subscription core.UID) (secret string, fault error) {
	w.Helper()
	tested, err := w.p.Subscriptions.Test(w.operator(), subscription)
	must(w, err)
	w.relay()
	for _, d := range w.deliveries(subscription) {
		if d.EventID != tested.EventID {
			continue
		}
		dispatch, err := p.Webhooks.BeginAttempt(w.Context(), webhooks.Ticket{Delivery: d.UID, Number: d.Ticket})
		if err != nil {
			return "", err
		}
		if dispatch.Fault == "" {
			secret = dispatch.Secrets[0]
		}
		return secret, dispatch.Cause
	}
	w.Fatal("there is no delivery")
	return "", nil
}

func TestAnotherEncryptionKeyIsRejected(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		w.isOtherKey("another key", w.starts(secondKey), "another --encryption-key")
		w.isOtherKey("no key", w.starts(nil), "none is given")
		must(w, w.starts(firstKey))
		if purposes, _ := w.sharedKeys(); slices.Contains(purposes, "secrets") {
			w.Errorf("there are keys %v", purposes)
		}
	})
	t.Run("own", func(t *testing.T) {
		onEachEngine(t, func(_ *testing.T, w *world) {
			w.isOtherKey("a key", w.starts(firstKey), "atrium admin change-encryption-key")
			must(w, w.starts(nil))
		})
	})
}

func TestKeysAreEncryptedInTheDatabase(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		signing, err := w.p.Webhooks.Keys(w.Context())
		must(w, err)
		must(w, w.p.RotateKeys(w.Context()))
		purposes, materials := w.sharedKeys()
		if got := strings.Join(purposes, " "); got != "encryption-check page-token page-token webhook" {
			w.Fatalf("the keys are %s, want 'encryption-check page-token page-token webhook'", got)
		}
		for i, material := range materials {
			if bytes.Contains(material, signing[0].Material[10:]) || len(material) == 32 {
				w.Errorf("the key %s is readable", purposes[i])
			}
		}
		again, err := w.replica(w.store, platform.Options{EncryptionKey: firstKey}).Webhooks.Keys(w.Context())
		must(w, err)
		if !bytes.Equal(again[0].Material, signing[0].Material) {
			w.Error("another replica has another signing key")
		}
	})
}

func (w *world) changeKey(from, to []byte, discard bool) (int, error) {
	return secrets.ChangeEncryptionKey(w.Context(), w.store, w.store.Tables().Secrets, secrets.KeyChange{Old: from, New: to, Discard: discard})
}

func TestTheEncryptionKeyIsChangedBesideRunningServers(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid)
		for range 3 {
			w.repo(acme.uid)
		}
		page := w.mustList(acme.owner, repoList{PageSize: 1})
		signing, err := w.p.Webhooks.Keys(w.Context())
		must(w, err)

		_, err = w.changeKey(secondKey, thirdKey, false)
		w.isOtherKey("a wrong former key", err, "another key")
		_, err = w.changeKey(firstKey, secondKey, false)
		must(w, err)

		// A running server must not store anything that the new key cannot decrypt.
		expectRefused(w, "ready", w.p.Ready(w.Context()), core.CodeUnavailable)
		_, err = w.p.Subscriptions.Create(w.operator(), acme.uid, body[*webhooks.Subscription](`{"sink": "https://late.example.com/"}`))
		expectRefused(w, "a subscription", err, core.CodeUnavailable)
		_, err = w.p.Subscriptions.RotateSecret(acme.owner, sub.UID)
		expectRefused(w, "a secret", err, core.CodeUnavailable)
		expectRefused(w, "a page token key", w.p.RotateKeys(w.Context()), core.CodeUnavailable)
		_, err = w.p.Webhooks.Keys(w.Context())
		expectRefused(w, "signing keys", err, core.CodeUnavailable)
		_, err = w.fault(w.p, sub.UID) // which must wait, and not count as an attempt of the sink
		expectRefused(w, "a delivery", err, core.CodeUnavailable)

		w.isOtherKey("the former key", w.starts(firstKey), "another --encryption-key")
		next := w.replica(w.store, platform.Options{EncryptionKey: secondKey})
		must(w, next.Ready(w.Context()))
		if secret, err := w.fault(next, sub.UID); secret != sub.Secret {
			w.Errorf("the secret is %q, want %q: %v", secret, sub.Secret, err)
		}
		again, err := next.Webhooks.Keys(w.Context())
		must(w, err)
		if !bytes.Equal(again[0].Material, signing[0].Material) {
			w.Error("there is another signing key")
		}
		if _, err := next.Repos.List(acme.owner, repoList{PageSize: 1, PageToken: page.NextPageToken()}); err != nil {
			w.Errorf("a page token from before: %v", err)
		}
	})
}

// A server with both keys goes on while the key of the database changes, and stores nothing that
// the next key alone does not decrypt.
func TestAServerWithBothKeysGoesOnWhileTheKeyChanges(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid)
		both := platform.Options{EncryptionKey: firstKey, NextEncryptionKey: secondKey}
		servers := map[string]*platform.Platform{"before": w.replica(w.store, both)}
		w.isOtherKey("the next key too early", w.starts(secondKey), "another --encryption-key")
		_, err := w.changeKey(firstKey, secondKey, false)
		must(w, err)
		servers["afterwards"] = w.replica(w.store, both)
		alone := w.replica(w.store, platform.Options{EncryptionKey: secondKey})

		for name, p := range servers {
			must(w, p.Ready(w.Context()))
			if secret, err := w.fault(p, sub.UID); secret != sub.Secret {
				w.Errorf("started %s: the secret is %q, want %q: %v", name, secret, sub.Secret, err)
			}
			must(w, p.RotateKeys(w.Context()))
			made, err := p.Subscriptions.Create(w.operator(), acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()))
			must(w, err)
			rotated, err := p.Subscriptions.RotateSecret(w.operator(), made.UID)
			must(w, err)
			if secret, err := w.fault(alone, made.UID); secret != rotated.Secret {
				w.Errorf("started %s: it stored the secret %q, want %q: %v", name, secret, rotated.Secret, err)
			}
			_, err = p.IdentityProviders.Create(acme.owner, acme.uid, body[*iam.IdentityProvider](
				`{"name": %q, "defaultRole": %q, "oidc": {"issuer": "https://okta.example.com", "clientId": "c", "clientSecret": "hush"}}`, w.name(), iam.ViewerRole))
			must(w, err)
		}
		if n, err := w.changeKey(secondKey, thirdKey, false); n != 0 || err != nil {
			w.Errorf("%d secrets are lost: %v, want 0", n, err)
		}
	})
}

// The key of a database that keeps its own key moves to a key that it does not keep.
func TestAServerGoesOnWhileAnOwnKeyIsReplaced(t *testing.T) {
	onEachEngine(t, func(_ *testing.T, w *world) {
		sub := w.subscribe(w.found("acme").uid)
		next := platform.Options{NextEncryptionKey: firstKey}
		server := w.replica(w.store, next)
		_, err := w.changeKey(nil, firstKey, false)
		must(w, err)
		for _, p := range []*platform.Platform{server, w.replica(w.store, next)} {
			must(w, p.Ready(w.Context()))
			if secret, err := w.fault(p, sub.UID); secret != sub.Secret {
				w.Errorf("the secret is %q, want %q: %v", secret, sub.Secret, err)
			}
		}
		expectRefused(w, "a server without the next key", w.p.Ready(w.Context()), core.CodeUnavailable)
	})
}

// An operator who forgets the key must not read first that secrets are encrypted with a key of the database.
func TestAMissingEncryptionKeyGivesTheErrorAlone(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		var log bytes.Buffer
		_, err := platform.New(w.Context(), w.store, platform.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		w.isOtherKey("no key", err, "none is given")
		if log.Len() > 0 {
			w.Errorf("logged %s, want nothing", &log)
		}
	})
}

// The attack is subscriptions that are created while the key changes, with a secret
// encrypted by the old key.
func TestNoSecretIsLostWhileTheKeyChanges(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		acme := w.found("acme")
		w.subscribe(acme.uid)
		var first, making sync.WaitGroup
		for range 4 {
			first.Add(1)
			making.Go(func() {
				begun := sync.OnceFunc(first.Done)
				defer begun()
				for {
					_, err := w.p.Subscriptions.Create(w.operator(), acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()))
					if errors.Is(err, &core.Error{Code: core.CodeUnavailable}) {
						return
					}
					if err != nil {
						w.Error(err)
						return
					}
					begun()
				}
			})
		}
		first.Wait() // The key changes while they run.
		if _, err := w.changeKey(firstKey, secondKey, false); err != nil {
			w.Error(err)
		}
		making.Wait()
		if n, err := w.changeKey(secondKey, thirdKey, false); n != 0 || err != nil {
			w.Errorf("%d secrets are lost: %v, want 0", n, err)
		}
	})
}

func TestSecretsOfALostKeyAreDiscardedOnlyOnRequest(t *testing.T) {
	eachEncrypted(t, func(_ *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid)
		if _, err := w.changeKey(secondKey, thirdKey, false); err == nil {
			w.Fatal("a lost key is ignored")
		}
		if n, err := w.changeKey(nil, thirdKey, true); n != 2 || err != nil { // These are the secret and the page token key.
			w.Fatalf("%d are discarded: %v, want 2", n, err)
		}
		next := w.replica(w.store, platform.Options{EncryptionKey: thirdKey})
		if _, fault := w.fault(next, sub.UID); fault == nil {
			w.Error("a delivery begins without the secret")
		}
		rotated, err := next.Subscriptions.RotateSecret(acme.owner, sub.UID)
		must(w, err)
		if secret, err := w.fault(next, sub.UID); secret != rotated.Secret {
			w.Errorf("the secret is %q, want %q: %v", secret, rotated.Secret, err)
		}
	})
}

// A flaky store fails to read keys when a test says so.
type flaky struct {
	*sqlstore.Store
	broken func(ctx context.Context) error
}

// flakyQueries are the queries of a flaky.
type flakyQueries struct {
	secrets.Queries
	store *flaky
}

func (s *flaky) Tables() platform.Tables {
	all := s.Store.Tables()
	queries := flakyQueries{all.Secrets, s}
	all.Secrets = queries
	return all
}

func (q flakyQueries) Keys(ctx context.Context, on core.Conn, purpose string) ([]core.Key, error) {
	if q.store.broken != nil {
		if err := q.store.broken(ctx); err != nil {
			return nil, err
		}
	}
	return q.Queries.Keys(ctx, on, purpose)
}

func TestAFailedReadOfKeysMakesNoPageTokenInvalid(t *testing.T) {
	onEachEngine(t, func(_ *testing.T, w *world) {
		acme := w.found("acme")
		for range 3 {
			w.repo(acme.uid)
		}
		store := &flaky{Store: w.store}
		other := w.replica(store, platform.Options{})
		must(w, w.p.RotateKeys(w.Context()))
		next := repoList{PageSize: 1, PageToken: w.mustList(acme.owner, repoList{PageSize: 1}).NextPageToken()}

		store.broken = func(context.Context) error { return errors.New("once") }
		_, err := other.Repos.List(acme.owner, next)
		expectRefused(w, "a token of a new key, while keys cannot be read", err, core.CodeUnavailable)

		// A caller who leaves must not end the read, because others wait for it.
		leaving, leave := context.WithCancel(acme.owner)
		store.broken = func(ctx context.Context) error { leave(); return ctx.Err() }
		_, _ = other.Repos.List(leaving, next)
		store.broken = func(context.Context) error { return errors.New("the keys are read again") }
		if _, err := other.Repos.List(acme.owner, next); err != nil {
			w.Errorf("a token of a new key: %v", err)
		}
	})
}
