package platform

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A newVersions has another version for each organisation and issuer at each read.
type newVersions struct {
	Reader
	reads byte
}

func (r *newVersions) AuthorityVersions(_ context.Context, roots []UID, issuers []string) (AuthorityVersions, error) {
	r.reads++
	return AuthorityVersions{Roots: map[UID]string{roots[0]: string('a' + r.reads)}, Issuers: map[string]string{issuers[0]: string('a' + r.reads)}}, nil
}

// The attack is a failure that makes a feed forget that its token has lost an identity: that
// of another caller in the same read.
func TestALostIdentityIsNotForgottenAfterAFailure(t *testing.T) {
	t.Parallel()
	caller := func(name string) *feedCaller {
		return &feedCaller{key: name, actor: &Actor{Identities: []UID{UID(name)}, proof: &Proof{claims: Claims{Subject: name}}}}
	}
	loser, other := caller("loser"), caller("other")
	failure := errors.New("the store is away")
	h := &feedCallers{store: &newVersions{}, identify: func(_ context.Context, c Claims) (*Actor, error) {
		if c.Subject == "loser" {
			return &Actor{}, nil
		}
		return other.actor, failure
	}}
	for _, err := range []error{failure, nil, nil} {
		failure = err
		lost, got := h.confirm(t.Context(), []*feedCaller{loser, other})
		if !errors.Is(got, err) || len(lost) != 1 || lost[0] != loser {
			t.Errorf("confirm returns %d lost callers and %v, want the loser and %v", len(lost), got, err)
		}
	}
}

// Feeds that deliver at about the same time share a round. One that delivers later, or with grants
// that were read later, does not get what others have answered before.
func TestTheFeedsOfACallerShareARound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &feedCallers{open: map[string]*feedCaller{}}
		one, other := &feedCaller{key: "one", read: 5}, &feedCaller{key: "other", read: 5}
		join := func(caller *feedCaller) *feedRound {
			t.Helper()
			round, err := h.join(t.Context(), caller, &Actor{Subject: caller.key}, 5)
			if err != nil {
				t.Fatal(err)
			}
			return round
		}
		first := join(one)
		if join(one) != first || join(other) == first {
			t.Error("want one round for each caller")
		}
		time.Sleep(roundTime / 2)
		if join(one) != first {
			t.Error("want the same round soon afterwards")
		}
		time.Sleep(roundTime)
		second := join(one)
		if second == first {
			t.Error("want another round later")
		}
		h.store, h.now, h.reads = noGrants{}, &grantRead{asking: []*feedCaller{one}}, new(atomic.Int64)
		one.actor = &Actor{}
		h.lock.Lock()
		h.readNow()
		h.lock.Unlock()
		one.read = 5
		if join(one) == second {
			t.Error("want another round with grants that were read later")
		}
	})
}

// The attack is a flood of events, whose answers must not fill the memory.
func TestARoundKeepsFewValues(t *testing.T) {
	t.Parallel()
	r := newFeedRound(nil)
	for i := range 10 * maxShared {
		e := &Event{ID: strconv.Itoa(i), Burst: &Burst{round: r}}
		begun := 0
		for range 2 {
			if got := e.Share("key", func() any { begun++; return i }); got != i || begun != 1 {
				t.Fatalf("event %d gives %v, and begins %d times, want once", i, got, begun)
			}
		}
		if len(r.shared) > maxShared {
			t.Fatalf("a round keeps %d values, want at most %d", len(r.shared), maxShared)
		}
	}
}

// noGrants has no grants.
type noGrants struct{ Reader }

func (noGrants) Grants(context.Context, []UID) ([]Grant, error) { return nil, nil }
