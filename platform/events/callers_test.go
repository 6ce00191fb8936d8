package events

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// A newVersions has another version for each organization and issuer at each read.
type newVersions struct {
	iam.SignInQueries
	reads byte
}

func (r *newVersions) AuthorityVersions(_ context.Context, _ core.Conn, roots []core.UID, issuers []string) (iam.AuthorityVersions, error) {
	r.reads++
	return iam.AuthorityVersions{Roots: map[core.UID]string{roots[0]: string('a' + r.reads)}, Issuers: map[string]string{issuers[0]: string('a' + r.reads)}}, nil
}

// The attack is a failure that makes a feed forget that its token has lost an identity: that
// of another caller in the same read.
func TestALostIdentityIsNotForgottenAfterAFailure(t *testing.T) {
	t.Parallel()
	caller := func(name string) *feedCaller {
		return &feedCaller{key: name, actor: &core.Actor{Identities: []core.UID{core.UID(name)}, Proof: &iam.Proof{Claims: iam.Claims{Subject: name}}}}
	}
	loser, other := caller("loser"), caller("other")
	failure := errors.New("the store is away")
	h := &feedCallers{tables: iam.Tables{SignInQueries: &newVersions{}}, identify: func(_ context.Context, c iam.Claims) (*core.Actor, error) {
		if c.Subject == "loser" {
			return &core.Actor{}, nil
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

// Feeds that deliver at about the same time share a round, and answers with the callers whose grants were
// read together. One that delivers later, or with grants that were read later, does not get what others have
// answered before.
func TestTheFeedsOfACallerShareARound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &feedCallers{open: map[string]*feedCaller{}}
		one, other := &feedCaller{actor: &core.Actor{}, read: 5}, &feedCaller{actor: &core.Actor{}, read: 5}
		join := func(caller *feedCaller) *core.FeedRound {
			t.Helper()
			round, err := h.join(t.Context(), caller, 5)
			if err != nil {
				t.Fatal(err)
			}
			return round
		}
		first := join(one)
		if join(one) != first || join(other) == first {
			t.Error("want one round for each caller")
		}
		time.Sleep(core.RoundTime / 2)
		if join(one) != first {
			t.Error("want the same round soon afterwards")
		}
		time.Sleep(core.RoundTime)
		second := join(one)
		if second == first {
			t.Error("want another round later")
		}
		h.tables.SignInQueries, h.reads = noGrants{}, new(atomic.Int64)
		read := func(callers ...*feedCaller) {
			h.lock.Lock()
			h.now = &grantRead{asking: callers}
			h.readNow()
			h.lock.Unlock()
			for _, caller := range callers {
				caller.read = 5
			}
		}
		read(one, other)
		third := join(one)
		if third == second || third == join(other) || third.Answers == second.Answers || third.Answers != join(other).Answers {
			t.Error("want other rounds with grants that were read later, which share answers")
		}
		read(one)
		if join(one).Answers == join(other).Answers {
			t.Error("want other answers with grants that were read later")
		}
	})
}

// noGrants has no grants.
type noGrants struct{ iam.SignInQueries }

func (noGrants) Grants(context.Context, core.Conn, []core.UID) ([]core.Grant, error) { return nil, nil }
