package iam

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A GroupInvite offers a role in a group to the holder of its code, until it
// expires.
type GroupInvite struct {
	UID            core.UID      `json:"uid"`
	RoleUID        core.UID      `json:"roleUid"`
	Email          string        `json:"email,omitempty"` // address whose owner alone can accept; "" means that any caller with the code can
	TTL            core.Duration `json:"ttl,omitempty"`   // input only
	ExpirationTime core.Time     `json:"expirationTime,omitzero"`
	SingleUse      bool          `json:"singleUse"`
	Code           string        `json:"code,omitempty"` // code, which only the response to the creation contains
	KeyID          string        `json:"keyId"`          // the part of the code that is not secret
	CreateTime     core.Time     `json:"createTime,omitzero"`

	Role InvitedRole `json:"role"`

	Hash []byte `json:"-"` // hash of the code
}

// An InvitedRole holds the fields of a role that an invite shows.
type InvitedRole struct {
	UID          core.UID          `json:"uid"`
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	Capabilities []core.Capability `json:"capabilities,omitempty"`
}

// GroupInviteFilter restricts a list of invites.
type GroupInviteFilter struct {
	KeyID        string    `json:",omitempty"` // exact key id
	CreatedSince core.Time `json:",omitzero"`
	Expired      *bool     `json:",omitempty"` // nil means any
}

// Check adds the violations of the conditions.
func (f *GroupInviteFilter) Check(v *core.Violations) { v.CheckFilter("key_id", f.KeyID) }

// maxInviteTTL limits the lifetime of a code.
const maxInviteTTL = 365 * 24 * time.Hour

// GroupInviteKind has the facts about group invites.
var GroupInviteKind = core.Kind[*GroupInvite]{
	Name: "GroupInvite", Plural: "groupInvites", Area: core.AreaIAM, Number: 12, Event: "iam.group_invite", Parent: core.GroupRef,
	Verbs: []string{"created", "deleted"},
	List:  core.CapGroupInvitesList, Create: core.CapGroupInvitesCreate, Delete: core.CapGroupInvitesDelete, HandsOut: true,
	ShowsSecret: true,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "roleUid", Mode: fieldmask.AtCreation},
		{Name: "role", Mode: fieldmask.OutputOnly}, {Name: "email", Mode: fieldmask.AtCreation},
		{Name: "ttl", Mode: fieldmask.AtCreation}, {Name: "expirationTime", Mode: fieldmask.OutputOnly},
		{Name: "singleUse", Mode: fieldmask.AtCreation}, {Name: "code", Mode: fieldmask.OutputOnly},
		{Name: "keyId", Mode: fieldmask.OutputOnly}, {Name: "createTime", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"roleUid", "ttl"},
	Orders: []core.OrderField[*GroupInvite]{
		{Name: "uid", Value: func(i *GroupInvite) any { return string(i.UID) }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(i *GroupInvite) any { return i.CreateTime }},
		{Name: "expiration_time", Spellings: []string{"expirationTime"}, Value: func(i *GroupInvite) any { return i.ExpirationTime }},
		{Name: "email", Spellings: []string{"name"}, Value: func(i *GroupInvite) any { return i.Email }},
		{Name: "role_name", Spellings: roleNameSpellings, Value: func(i *GroupInvite) any { return i.Role.Name }},
	},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          func(i *GroupInvite) core.UID { return i.UID },
	Group:        core.ParentOf(func(i *GroupInvite) core.UID { return i.UID }),
	Stamp: func(i *GroupInvite, uid core.UID, now core.Time) {
		i.UID, i.CreateTime, i.ExpirationTime = uid, now, core.At(now.Add(time.Duration(i.TTL)))
		i.TTL = 0
	},
	Check: func(i *GroupInvite, changed func(string) bool, v *core.Violations) {
		if changed("roleUid") {
			v.CheckRequiredUID("roleUid", i.RoleUID)
		}
		if changed("email") && i.Email != "" {
			if v.CheckLine("email", i.Email); !strings.Contains(i.Email, "@") || len(i.Email) > core.MaxLineBytes {
				v.Add("email", "must be an email address")
			}
		}
		if changed("ttl") {
			switch ttl := time.Duration(i.TTL); {
			case ttl == 0:
				v.Add("ttl", "is required")
			case ttl < time.Second || ttl > maxInviteTTL:
				v.Add("ttl", "must be between 1s and %s", core.Duration(maxInviteTTL))
			}
		}
	},
}

// GroupInvites are the operations on invites.
type GroupInvites struct {
	core.Resources[*GroupInvite, *GroupInviteFilter]
	rows *core.Collection[*GroupInvite, *GroupInviteFilter]
	area *Area
}

// Create makes an invite. Only this response shows its code. The caller must hold
// what the role grants.
func (s GroupInvites) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*GroupInvite]) (*GroupInvite, error) {
	invite, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	var made *GroupInvite
	var code inviteCode
	err = s.area.Store.Write(ctx, func(tx core.Tx) error {
		made = new(*invite) // invite stays unchanged, because the transaction can be retried
		code = made.setCode()
		if err := s.area.Roles.requireMayGrant(ctx, tx, "roleUid", made.RoleUID, parent); err != nil {
			return err
		}
		return s.rows.InsertAllInTx(ctx, tx, []*GroupInvite{made})
	})
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, s.rows.InsertError(ctx, parent, invite, err))
	}
	made.Code = code.String()
	return made, nil
}

// CreateBatch makes several invites: all or none. Only this response shows their codes.
func (s GroupInvites) CreateBatch(ctx context.Context, requests []core.BatchRequest[*GroupInvite]) ([]*GroupInvite, error) {
	codes, roles, groups := make([]inviteCode, len(requests)), make([]core.UID, len(requests)), make([]core.UID, len(requests))
	made, err := s.rows.CreateBatch(ctx, requests, func(tx core.Tx, made []*GroupInvite) (func(int) error, error) {
		for i, invite := range made {
			codes[i], roles[i], groups[i] = invite.setCode(), invite.RoleUID, invite.UID.Parent()
		}
		return s.area.Roles.readGrantable(ctx, tx, "roleUid", roles, groups)
	})
	for i, invite := range made {
		invite.Code = codes[i].String()
	}
	return made, err
}

// setCode gives an invite a new code, of which only the id and a hash are stored.
func (i *GroupInvite) setCode() inviteCode {
	code := newInviteCode()
	i.KeyID, i.Hash = code.keyID, code.hash()
	return code
}

// Delete deletes an invite.
func (s GroupInvites) Delete(ctx context.Context, uid core.UID) error { return s.rows.Remove(ctx, uid) }

// DeleteBatch deletes several invites: all or none.
func (s GroupInvites) DeleteBatch(ctx context.Context, uids []core.UID) error {
	return s.rows.RemoveBatch(ctx, uids)
}

// An inviteCode consists of the id of an invite and a secret. The secret has so
// much entropy that storing a plain hash of it is safe.
type inviteCode struct{ keyID, secret string }

func newInviteCode() inviteCode { return inviteCode{core.RandomHex(8), core.RandomHex(24)} }

func (c inviteCode) String() string { return c.keyID + "." + c.secret }

func (c inviteCode) hash() []byte {
	sum := sha256.Sum256([]byte(c.String()))
	return sum[:]
}

func parseInviteCode(s string) (inviteCode, bool) {
	keyID, secret, _ := strings.Cut(s, ".")
	_, err := hex.DecodeString(keyID + secret)
	return inviteCode{keyID, secret}, err == nil && len(keyID) == 16 && len(secret) == 48
}

// Accept binds the role of an invite to the caller: to its identity that can act
// in the group, or to a new identity there that the token matches. Any valid token
// may accept. If the caller already has the role, the invite is not used up, and nothing
// changes, except that a binding that expires then lasts.
func (s GroupInvites) Accept(ctx context.Context, code string) (*RoleBinding, error) {
	bound, err := s.acceptCode(ctx, code)
	return bound, s.rows.Kind.AddArea(err)
}

func (s GroupInvites) acceptCode(ctx context.Context, text string) (*RoleBinding, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	code, ok := parseInviteCode(text)
	switch {
	case actor.Operator != "":
		return nil, core.NewRefusal("an operator has no identity; accept the invite with a token")
	case text == "":
		return nil, core.Invalid(fieldmask.Violation{Field: "code", Description: "is required"})
	case !ok:
		return nil, core.Invalid(fieldmask.Violation{Field: "code", Description: "is not the code of an invite"})
	}
	invite, err := s.byCode(ctx, s.area.Store, code)
	if err != nil {
		return nil, err
	}
	group := invite.UID.Parent()
	var bound *RoleBinding
	err = s.area.Store.Write(ctx, func(tx core.Tx) error {
		tx.Lock(invite.UID.Root())
		if invite, err = s.byCode(ctx, tx, code); err != nil { // another request may have used it up
			return err
		}
		if err := s.checkMayAccept(actor, invite); err != nil {
			return err
		}
		current := actor
		if actor.Proof != nil { // another request may have made or changed identities of the caller
			if current, err = s.area.identifyIn(ctx, tx, ClaimsOf(actor)); err != nil {
				return err
			}
		}
		bound, err = s.bindInvited(ctx, tx, current, invite)
		return err
	})
	s.area.RoleBindings.hideNotes(ctx, bound) // the caller may have had the role before
	return bound, s.area.RoleBindings.rows.RecordIfDenied(ctx, "created", group, err)
}

// byCode finds the invite of a code.
func (s GroupInvites) byCode(ctx context.Context, r core.Conn, code inviteCode) (*GroupInvite, error) {
	found, err := s.area.Tables.GroupInvites.List(ctx, r, core.Query[*GroupInviteFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Filter: &GroupInviteFilter{KeyID: code.keyID}, Order: s.rows.Kind.DefaultOrder, Limit: 1, Parts: core.PartItems,
	})
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 || subtle.ConstantTimeCompare(found.Items[0].Hash, code.hash()) != 1 {
		return nil, core.NewNotFoundBecause(s.rows.Kind.Ref(), code.keyID, "no invite has this code")
	}
	return found.Items[0], nil
}

func (s GroupInvites) checkMayAccept(actor *core.Actor, invite *GroupInvite) error {
	switch {
	case !invite.ExpirationTime.After(s.area.Now().Time):
		return core.FailedPrecondition("INVITE_EXPIRED", string(invite.UID), "the invite has expired")
	case invite.Email != "" && (!actor.EmailVerified || !isSameEmail(invite.Email, actor.Email)):
		return &core.Error{
			Code: core.CodePermissionDenied, Reason: "PERMISSION_DENIED", Metadata: map[string]string{"resource": string(invite.UID)},
			Message: "Permission denied: the invite is for another email address than the verified one of this token",
		}
	}
	return nil
}

// isSameEmail reports whether two addresses differ at most in case. EqualFold alone would also
// take the Kelvin sign for k and ſ for s, which belong to the addresses of others. Such signs
// are longer than the letters.
func isSameEmail(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// bindInvited creates the identity and the role binding of an accepted invite.
func (s GroupInvites) bindInvited(ctx context.Context, tx core.Tx, actor *core.Actor, invite *GroupInvite) (*RoleBinding, error) {
	group := invite.UID.Parent()
	identity, err := s.findInvitedIdentity(ctx, tx, actor, group)
	if err != nil {
		return nil, err
	}
	had, err := s.area.Tables.RoleBindings.List(ctx, tx, core.Query[*RoleBindingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Children, UID: group}), Filter: &RoleBindingFilter{Identity: identity, Role: invite.RoleUID},
		Order: RoleBindingKind.DefaultOrder, Limit: 1, Parts: core.PartItems,
	})
	if err != nil {
		return nil, err
	}
	if len(had.Items) > 0 {
		if changed, err := s.area.RoleBindings.makeLasting(ctx, tx, had.Items[0]); err != nil || !changed {
			return had.Items[0], err
		}
		return had.Items[0], s.use(ctx, tx, invite)
	}
	bindings := []*RoleBinding{newBinding(group, identity, invite.RoleUID, s.area.Now())}
	switch err := s.area.Tables.RoleBindings.InsertShown(ctx, tx, bindings...); {
	case errors.Is(err, core.ErrNoParent): // the identity was deleted after authentication
		return nil, core.NewNotFound(core.IdentityRef, identity)
	case err != nil:
		return nil, err
	}
	bound, err := s.area.Identities.rows.GetRow(ctx, tx, identity)
	if err != nil {
		return nil, err
	}
	if _, err := s.area.checkBindings(ctx, tx, map[core.UID]RuleKey{identity: bound.ruleKey()}); err != nil {
		return nil, err
	}
	s.area.RoleBindings.recordBound(ctx, tx, bindings, "created")
	return bindings[0], s.use(ctx, tx, invite)
}

// use deletes an invite that has given its role, if it is for one person.
func (s GroupInvites) use(ctx context.Context, tx core.Tx, invite *GroupInvite) error {
	if !invite.SingleUse {
		return nil
	}
	used, err := s.rows.Table.Delete(ctx, tx, invite.UID)
	if err == nil {
		tx.Record(s.area.Event(ctx, s.rows.Kind.Event, "deleted", invite.UID, invite.UID.Parent(), used))
	}
	return err
}

// findInvitedIdentity returns the personal identity of the caller that can act in group. It
// creates one if there is none. An invite is for the caller only, so it must not give the role
// to everybody who shares an identity with the caller.
func (s GroupInvites) findInvitedIdentity(ctx context.Context, tx core.Tx, actor *core.Actor, group core.UID) (core.UID, error) {
	for _, identity := range actor.Personal {
		if group.Within(identity.Parent()) {
			return identity, nil
		}
	}
	own, err := ownRuleOf(actor)
	if err != nil {
		return "", err
	}
	made := &Identity{Name: identityName(actor.Email, actor.Subject), ClaimMatch: own, LastSeenTime: s.area.Now()}
	made.setEmail(actor.Email, actor.EmailVerified)
	err = s.area.Identities.insertRecorded(ctx, tx, group, made)
	return made.UID, err
}
