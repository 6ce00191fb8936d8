package platform

import (
	"context"
	"errors"
	"testing"
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
