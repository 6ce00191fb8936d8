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
	SignInQueries
	reads byte
}

func (r *newVersions) AuthorityVersions(_ context.Context, _ Conn, roots []UID, issuers []string) (AuthorityVersions, error) {
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
	h := &feedCallers{tables: IAMTables{SignInQueries: &newVersions{}}, identify: func(_ context.Context, c Claims) (*Actor, error) {
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

// Feeds that deliver at about the same time share a round, and answers with the callers whose grants were
// read together. One that delivers later, or with grants that were read later, does not get what others have
// answered before.
func TestTheFeedsOfACallerShareARound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &feedCallers{open: map[string]*feedCaller{}}
		one, other := &feedCaller{actor: &Actor{}, read: 5}, &feedCaller{actor: &Actor{}, read: 5}
		join := func(caller *feedCaller) *feedRound {
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
		time.Sleep(roundTime / 2)
		if join(one) != first {
			t.Error("want the same round soon afterwards")
		}
		time.Sleep(roundTime)
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
		if third == second || third == join(other) || third.answers == second.answers || third.answers != join(other).answers {
			t.Error("want other rounds with grants that were read later, which share answers")
		}
		read(one)
		if join(one).answers == join(other).answers {
			t.Error("want other answers with grants that were read later")
		}
	})
}

// The attack is a flood of events, whose answers must not fill the memory.
func TestARoundKeepsFewAnswers(t *testing.T) {
	t.Parallel()
	r := &feedRound{&Actor{}, newSharedAnswers()}
	for i := range 10 * maxShared {
		e := &Event{ID: strconv.Itoa(i), Burst: newBurst(r)}
		if got := askTwice(e, e, true); got != 1 {
			t.Fatalf("event %d is answered %d times, want once", i, got)
		}
		if len(r.answers.all) > maxShared {
			t.Fatalf("a round keeps %d answers, want at most %d", len(r.answers.all), maxShared)
		}
	}
}

// askTwice shares two answers, and returns how many were computed.
func askTwice(one, other *Event, isSharable bool) (computed int) {
	for _, e := range []*Event{one, other} {
		e.Share("key", true, func() ([]byte, bool) { computed++; return []byte("{}"), isSharable })
	}
	return computed
}

// Answers that turn out not to be sharable, such as those with errors, must not keep others waiting for ever.
func TestFeedsStopWaitingForAnswersThatAreNotSharable(t *testing.T) {
	t.Parallel()
	r := &feedRound{&Actor{}, newSharedAnswers()}
	e := &Event{ID: "1", Burst: newBurst(r)}
	for range maxUnshared {
		if got := askTwice(e, e, false); got != 2 {
			t.Fatalf("%d answers were computed, want both", got)
		}
	}
	var inner int
	e.Share("key", true, func() ([]byte, bool) { inner = askTwice(e, e, false); return nil, false })
	if inner != 2 {
		t.Errorf("%d answers were computed while another one was, want both", inner)
	}
}

// noGrants has no grants.
type noGrants struct{ SignInQueries }

func (noGrants) Grants(context.Context, Conn, []UID) ([]Grant, error) { return nil, nil }
