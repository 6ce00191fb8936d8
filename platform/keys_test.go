package platform_test

import (
	"context"
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// `atrium admin rotate-keys` adds a key beside running servers, which must use it without a restart.
func TestRunningServersUseANewKeyOfPageTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newPost(t, webhooks.Attempt{Status: 200})
		for range 2 {
			_, err := d.p.Repos.Create(d.ctx, d.org, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name"))
			d.must(err)
		}
		next := func() (token string, key byte) {
			page, err := d.p.Repos.List(d.ctx, repoList{PageSize: 1})
			d.must(err)
			token = page.NextPageToken()
			sealed, err := base64.RawURLEncoding.DecodeString(token)
			d.must(err)
			return token, sealed[0]
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); d.p.Run(ctx) }()
		before, first := next()
		command, err := platform.New(t.Context(), d.store, platform.Options{})
		d.must(err)
		d.must(command.RotateKeys(t.Context()))
		time.Sleep(11 * time.Minute)
		if _, key := next(); key != first+1 {
			t.Errorf("tokens are sealed with key %d, want %d", key, first+1)
		}
		if _, err := d.p.Repos.List(d.ctx, repoList{PageSize: 1, PageToken: before}); err != nil {
			t.Errorf("a token from before: %v", err)
		}
		stop()
		<-ended
	})
}
