package core

import (
	"context"
	"strconv"
	"strings"
	"testing"
)

// Answers may be shared by callers with different rights, if none of these rights can have made a difference.
func TestCallersShareAnswersThatDependOnEqualChecks(t *testing.T) {
	t.Parallel()
	org := UID(strings.Repeat("0", 39) + "1")
	team, repo := org+"/0000000000000002", org+"/0000000000000002/0000000000000003"
	repos := &Collection[*thing, *thingFilter]{Core: &Core{}, Kind: &thingKind}
	caller := func(scope UID, capabilities ...Capability) *Actor {
		return &Actor{Grants: []HeldGrant{{Scope: scope, set: CapabilitySetOf(capabilities)}}}
	}
	viewer, teamViewer, stranger := caller(org, CapRepoList, CapTagList), caller(team, CapRepoList), caller(team, CapGroupsList)
	read := func(ctx context.Context) {
		_, _ = ReadEach(ctx, repos, []UID{repo}, func(context.Context, Conn, Keys) ([]*thing, error) { return []*thing{{UID: repo}}, nil }, repos.Kind.UID)
	}
	nothing := func(context.Context, *Burst) {}
	one := func(ctx context.Context, b *Burst) { b.Record(ctx, 1, read) }
	unrecorded := func(ctx context.Context, b *Burst) { b.Record(ctx, 1, func(context.Context) {}) }
	both := func(ctx context.Context, b *Burst) { one(ctx, b); unrecorded(ctx, b) }
	for _, c := range []struct {
		name       string
		answer     func(context.Context, *Burst)
		isForAll   bool
		one, other *Actor
		isShared   bool
	}{
		{"nothing but the event", nothing, true, viewer, stranger, true},
		{"a repo that both may read", one, true, viewer, teamViewer, true},
		{"a repo that one may not read", one, true, viewer, stranger, false},
		{"a repo that only the other may read", one, true, stranger, viewer, false},
		{"a repo that neither may read", one, true, stranger, caller(team), true},
		{"a key without a check", unrecorded, true, viewer, teamViewer, false},
		{"a key without a check, and a repo", both, true, viewer, teamViewer, false},
		{"a key without a check, for the same caller", unrecorded, true, viewer, viewer, true},
		{"what the caller may do", nothing, false, viewer, teamViewer, false},
		{"what the same caller may do", nothing, false, viewer, viewer, true},
	} {
		answers, computed := NewSharedAnswers(), 0
		share := func(a *Actor) {
			e := &Event{ID: "1", Burst: NewBurst(&FeedRound{a, answers})}
			e.Share("key", c.isForAll, func() ([]byte, bool) {
				computed++
				c.answer(WithActor(t.Context(), a), e.Burst)
				return []byte("{}"), true
			})
		}
		share(c.one)
		share(c.other)
		if isShared := computed == 1; isShared != c.isShared {
			t.Errorf("%s: the answer is shared: %t, want %t", c.name, isShared, c.isShared)
		}
		if share(c.other); computed > 2 {
			t.Errorf("%s: the answer is computed again for the same caller", c.name)
		}
	}
}

// The attack is a flood of events, whose answers must not fill the memory.
func TestARoundKeepsFewAnswers(t *testing.T) {
	t.Parallel()
	r := &FeedRound{Actor: &Actor{}, Answers: NewSharedAnswers()}
	for i := range 10 * maxShared {
		e := &Event{ID: strconv.Itoa(i), Burst: NewBurst(r)}
		if got := askTwice(e, e, true); got != 1 {
			t.Fatalf("event %d is answered %d times, want once", i, got)
		}
		if len(r.Answers.all) > maxShared {
			t.Fatalf("a round keeps %d answers, want at most %d", len(r.Answers.all), maxShared)
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
	r := &FeedRound{Actor: &Actor{}, Answers: NewSharedAnswers()}
	e := &Event{ID: "1", Burst: NewBurst(r)}
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
