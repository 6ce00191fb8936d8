package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"atrium/platform/fieldmask"
)

// keyKeptFor is how long the answer to a creation with an idempotency key is given again.
const keyKeptFor = 24 * time.Hour

// A KeyedAnswer is the answer to a creation with an idempotency key. Neither the key nor the caller is stored, only a hash of both.
type KeyedAnswer struct {
	ID          [sha256.Size]byte
	Fingerprint [sha256.Size]byte // of what was asked for
	Answer      []byte            // the resource as JSON; empty before it is made
	CreateTime  Time
	ExpireTime  Time
}

// IdempotencyQueries keep the answers to creations with idempotency keys.
type IdempotencyQueries interface {
	// ClaimKey stores a key without an answer, forgets keys whose time is over, and returns what is stored under the key: k itself, or
	// the answer of a transaction before. It waits for one at the same time.
	ClaimKey(ctx context.Context, tx Tx, k KeyedAnswer) (KeyedAnswer, error)

	// PutAnswer stores the answer under a claimed key.
	PutAnswer(ctx context.Context, tx Tx, k KeyedAnswer) error
}

// noteFingerprint notes what a creation is asked for. The key is part of it, so that nobody can guess from what is stored what a
// caller has sent, such as a password.
func (r *Collection[T, F]) noteFingerprint(ctx context.Context, row T) {
	if c := conditionsOf(ctx); c.IdempotencyKey != "" {
		content, _ := json.Marshal(row) // plain data: it cannot fail
		c.fingerprint = hashTexts(c.IdempotencyKey, r.Kind.Name, string(content))
	}
}

// hashTexts hashes texts so that no others have the same hash.
func hashTexts(texts ...string) [sha256.Size]byte {
	encoded, _ := json.Marshal(texts) // texts: it cannot fail
	return sha256.Sum256(encoded)
}

// MakeOnce calls create, which creates *row in a transaction, unless the caller has created it before with the same idempotency key. Then *row
// becomes the answer of that time. The creation and the key are stored together, so that none is without the other.
func (r *Collection[T, F]) MakeOnce(ctx context.Context, tx Tx, parent UID, row *T, create func() error) error {
	c := conditionsOf(ctx)
	noteETag(ctx, r.Kind, row, true)
	if c.IdempotencyKey == "" {
		return create()
	}
	c.hasClaimed = true
	now := r.Core.Now()
	claim := KeyedAnswer{
		ID:          hashTexts(ActorOf(ctx).Key(), c.IdempotencyKey),
		Fingerprint: hashTexts(string(parent), hex.EncodeToString(c.fingerprint[:])), CreateTime: now, ExpireTime: At(now.Add(keyKeptFor)),
	}
	stored, err := r.Core.Idempotency.ClaimKey(ctx, tx, claim)
	switch {
	case err != nil:
		return err
	case stored.Fingerprint != claim.Fingerprint:
		return &Error{
			Code: CodeInvalidArgument, Reason: ReasonIdempotencyKeyReused, Area: r.Kind.Area,
			Message: "Invalid argument: the idempotency key was used for another creation; use a new key for each creation",
		}
	case len(stored.Answer) > 0:
		answer := fieldmask.NewValue[T]()
		if err := json.Unmarshal(stored.Answer, answer); err != nil {
			return fmt.Errorf("the answer of an idempotency key: %w", err)
		}
		*row = answer
		return nil
	}
	if err := create(); err != nil {
		return err
	}
	if claim.Answer, err = json.Marshal(*row); err != nil {
		return err
	}
	return r.Core.Idempotency.PutAnswer(ctx, tx, claim)
}
