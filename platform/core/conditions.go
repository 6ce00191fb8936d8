package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"atrium/platform/fieldmask"
)

// Conditions are what a client asks of a change beside its content. The protocols put them into the context of the operation, and
// the operations of all kinds heed them (write.go). What an operation cannot heed, it refuses.
type Conditions struct {
	IfMatch        string // the field If-Match of RFC 9110: ETags, or *; "" asks for nothing
	IdempotencyKey string // with which a creation is made once; "" asks for nothing
	ValidateOnly   bool   // whether everything is checked and nothing is stored

	fingerprint [sha256.Size]byte // of what is to be created, with the key
	hasMatched  bool              // whether a write has heeded IfMatch
	hasClaimed  bool              // whether a write has heeded IdempotencyKey
	etag        func() string     // the ETag of the resource that the operation has read or written; nil if there is none
}

type conditionsKey struct{}

// WithConditions returns a context for an operation under conditions.
func WithConditions(ctx context.Context, c *Conditions) context.Context {
	return context.WithValue(ctx, conditionsKey{}, c)
}

// conditionsOf returns the conditions of an operation, or none.
func conditionsOf(ctx context.Context) *Conditions {
	c, _ := ctx.Value(conditionsKey{}).(*Conditions)
	if c == nil {
		return &Conditions{}
	}
	return c
}

// OnlyValidates reports whether the caller of an operation asks for a check, so that nothing is stored.
func OnlyValidates(ctx context.Context) bool { return conditionsOf(ctx).ValidateOnly }

// maxIdempotencyKey is the length of the longest key, in bytes.
const maxIdempotencyKey = 255

// Check refuses conditions that no operation could heed. Errors name the conditions as the protocol does.
func (c *Conditions) Check(ifMatch, idempotencyKey string) error {
	var v Violations
	if _, isList := parseETags(c.IfMatch); c.IfMatch != "" && !isList {
		v.Add(ifMatch, `must be *, or ETags such as "abc", with commas between them`)
	}
	if len(c.IdempotencyKey) > maxIdempotencyKey {
		v.Add(idempotencyKey, "must be at most %d bytes long", maxIdempotencyKey)
	}
	return v.Err()
}

// ETag returns the ETag of the one resource that the operation has read or written, or "" if there is none.
func (c *Conditions) ETag() string {
	if c.etag == nil || c.ValidateOnly {
		return ""
	}
	return c.etag()
}

// noteETag notes the resource of which clients get the ETag: the one written, or else the first one read.
func noteETag[T any](ctx context.Context, k *Kind[T], row *T, isWritten bool) {
	if c := conditionsOf(ctx); isWritten || c.etag == nil {
		c.etag = func() string { return k.ETag(*row) }
	}
}

// An ETag is made of two hashes. The first part is of what callers can change, and of the time of the last change; each field has
// bytes of its own, so that a refusal can name the fields that differ. The second part is of the whole resource, which the service changes
// too: a sign-in or a run of a source must not refuse an update, but must not be hidden by 304 either.
const (
	stateBytes = 9 // of the hash of all changeable fields
	fieldBytes = 3 // of each field
	wholeBytes = 6
)

// ETag returns the strong ETag of a resource, with its quotes.
func (k *Kind[T]) ETag(row T) string {
	whole, _ := json.Marshal(row) // plain data: it cannot fail
	sum := sha256.Sum256(whole)
	encoding := base64.RawURLEncoding
	return `"` + encoding.EncodeToString(k.state(membersOf(json.RawMessage(whole)))) + "." + encoding.EncodeToString(sum[:wholeBytes]) + `"`
}

// state returns the first part of an ETag.
func (k *Kind[T]) state(members map[string]json.RawMessage) []byte {
	state, all := make([]byte, stateBytes), sha256.New()
	for _, name := range k.stateFields() {
		sum := sha256.Sum256(shownMember(members, name))
		_, _ = all.Write(sum[:]) // a hash takes everything
		state = append(state, sum[:fieldBytes]...)
	}
	copy(state, all.Sum(nil)[:stateBytes])
	return state
}

// stateFields lists the fields by which updates are compared.
func (k *Kind[T]) stateFields() []string {
	var names []string
	for _, f := range k.Fields {
		if f.Mode == fieldmask.Updatable || f.Mode == fieldmask.AtCreation || f.Name == "updateTime" {
			names = append(names, f.Name)
		}
	}
	return names
}

// shownMember returns the JSON of a field. What is written as a UID can be shown as an object: roleUid is role.uid.
func shownMember(members map[string]json.RawMessage, name string) json.RawMessage {
	if object, isUID := strings.CutSuffix(name, "Uid"); isUID {
		if uid := membersOf(members[object])["uid"]; uid != nil {
			return uid
		}
	}
	return members[name]
}

// parseETags splits the field If-Match. Its weak ETags are left out, since they match nothing there. ["*"] matches everything.
func parseETags(field string) (tags []string, isList bool) {
	if strings.TrimSpace(field) == "*" {
		return []string{"*"}, true
	}
	for tag := range strings.SplitSeq(field, ",") {
		tag = strings.TrimSpace(tag)
		strong := strings.TrimPrefix(tag, "W/")
		switch {
		case tag == "": // RFC 9110 lets recipients ignore empty elements
		case len(strong) < 2 || strong[0] != '"' || strong[len(strong)-1] != '"' || strings.Contains(strong[1:len(strong)-1], `"`):
			return nil, false
		default:
			isList = true
			if strong == tag {
				tags = append(tags, tag)
			}
		}
	}
	return tags, isList
}

// MatchesAny reports whether a GET whose field If-None-Match is given gets 304 for an ETag: by weak comparison, as RFC 9110 has it.
func MatchesAny(field, etag string) bool {
	tags, _ := parseETags(strings.ReplaceAll(field, "W/", ""))
	for _, tag := range tags {
		if tag == "*" || tag == etag {
			return true
		}
	}
	return false
}

// requireMatch fails if the caller has named another state of a resource than the one that a transaction has found and locked.
func (k *Kind[T]) requireMatch(ctx context.Context, found T) error {
	c := conditionsOf(ctx)
	if c.IfMatch == "" {
		return nil
	}
	c.hasMatched = true
	etag := k.ETag(found)
	state, _, _ := strings.Cut(etag, ".")
	given, _ := parseETags(c.IfMatch)
	for _, tag := range given {
		if old, _, _ := strings.Cut(tag, "."); tag == "*" || old == state {
			return nil
		}
	}
	because := "the " + spellKind(k.Name) + " has changed since it was read"
	metadata := map[string]string{"etag": etag, "resource": string(k.UID(found))}
	if changed := k.changedFields(given, state); len(changed) > 0 {
		metadata["changedFields"] = strings.Join(changed, ",")
		because += ": " + strings.Join(changed, ", ")
	}
	return &Error{
		Code: CodeAborted, Reason: ReasonETagMismatch, Area: k.Area, Metadata: metadata,
		Message: "Aborted: " + because + "; read it again, and decide again",
	}
}

// RequireMatch does so for operations that write in their own way.
func (r *Collection[T, F]) RequireMatch(ctx context.Context, found T) error {
	return r.Kind.requireMatch(ctx, found)
}

// NoteWritten notes the resource that such an operation has written, for its ETag.
func (r *Collection[T, F]) NoteWritten(ctx context.Context, row T) {
	noteETag(ctx, r.Kind, &row, true)
}

// changedFields lists the fields in which a state differs from that of the only ETag that a client has named. It lists none if the ETag
// is of another version of the program, or of something else.
func (k *Kind[T]) changedFields(given []string, state string) (changed []string) {
	if len(given) != 1 {
		return nil
	}
	old, _, _ := strings.Cut(given[0], ".")
	was, err := base64.RawURLEncoding.DecodeString(strings.Trim(old, `"`))
	is, _ := base64.RawURLEncoding.DecodeString(strings.Trim(state, `"`))
	if err != nil || len(was) != len(is) {
		return nil
	}
	for i, name := range k.stateFields() {
		at := stateBytes + i*fieldBytes
		if string(was[at:at+fieldBytes]) != string(is[at:at+fieldBytes]) {
			changed = append(changed, name)
		}
	}
	return changed
}

// Reasons of the errors of conditions.
const (
	ReasonETagMismatch         = "ETAG_MISMATCH"
	ReasonIdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED"
)

// errOnlyValidated ends the transaction of a change that is only checked.
var errOnlyValidated = errors.New("the change was only to be checked")

// WriteUnderConditions calls write, the Write of a Store, with a unit that heeds the conditions of the operation: it stores nothing if the
// caller only wants to know whether it could, nor what has overlooked a condition.
func WriteUnderConditions(ctx context.Context, write func(context.Context, func(Tx) error) error, unit func(Tx) error) error {
	c := conditionsOf(ctx)
	err := write(ctx, func(tx Tx) error {
		if err := unit(tx); err != nil {
			return err
		}
		var v Violations
		if c.IfMatch != "" && !c.hasMatched {
			v.Add("ifMatch", "is not supported by this operation, which compares no ETag")
		}
		if c.IdempotencyKey != "" && !c.hasClaimed {
			v.Add("idempotencyKey", "is not supported by this operation: a repeated request would run it again")
		}
		if err := v.Err(); err != nil || !c.ValidateOnly {
			return err
		}
		if err := Prove(ctx); err != nil {
			return err
		}
		return errOnlyValidated
	})
	if errors.Is(err, errOnlyValidated) {
		return nil
	}
	return err
}
