package rpc

import (
	"atrium/platform"
	iamv2 "atrium/rpc/gen/platform/iam/v2"
)

func group(g *platform.Group) *iamv2.Group {
	return &iamv2.Group{
		Uid: string(g.UID), Name: g.Name, Description: g.Description, ResourceLimits: limits(g.ResourceLimits), Verified: g.Verified,
		CreateTime: timestamp(g.CreateTime), UpdateTime: timestamp(g.UpdateTime),
		Kind: enumValue[iamv2.OrgKind](iamv2.OrgKind_value, g.Kind), Status: enumValue[iamv2.OrgStatus](iamv2.OrgStatus_value, g.Status),
	}
}

func limits(all map[string]int) map[string]int32 {
	if len(all) == 0 {
		return nil
	}
	message := make(map[string]int32, len(all))
	for kind, limit := range all {
		message[kind] = int32(limit)
	}
	return message
}

func identity(i *platform.Identity) *iamv2.Identity {
	m := &iamv2.Identity{
		Uid: string(i.UID), Name: i.Name, Description: i.Description, Email: i.Email, EmailUnverified: i.EmailUnverified, Company: i.Company,
		LastSeenTime: timestamp(i.LastSeenTime), CreateTime: timestamp(i.CreateTime), UpdateTime: timestamp(i.UpdateTime),
	}
	switch {
	case i.ClaimMatch != nil:
		m.Relationship = &iamv2.Identity_ClaimMatch_{ClaimMatch: claimMatch(i.ClaimMatch)}
	case i.StaticKeys != nil:
		m.Relationship = &iamv2.Identity_StaticKeys_{StaticKeys: staticKeys(i.StaticKeys)}
	}
	return m
}

func claimMatch(c *platform.ClaimMatch) *iamv2.Identity_ClaimMatch {
	m := &iamv2.Identity_ClaimMatch{Claims: c.Claims, ClaimPatterns: c.ClaimPatterns}
	switch {
	case c.Issuer != "":
		m.Iss = &iamv2.Identity_ClaimMatch_Issuer{Issuer: c.Issuer}
	case c.IssuerPattern != "":
		m.Iss = &iamv2.Identity_ClaimMatch_IssuerPattern{IssuerPattern: c.IssuerPattern}
	}
	switch {
	case c.Subject != "":
		m.Sub = &iamv2.Identity_ClaimMatch_Subject{Subject: c.Subject}
	case c.SubjectPattern != "":
		m.Sub = &iamv2.Identity_ClaimMatch_SubjectPattern{SubjectPattern: c.SubjectPattern}
	}
	switch {
	case c.Audience != "":
		m.Aud = &iamv2.Identity_ClaimMatch_Audience{Audience: c.Audience}
	case c.AudiencePattern != "":
		m.Aud = &iamv2.Identity_ClaimMatch_AudiencePattern{AudiencePattern: c.AudiencePattern}
	}
	return m
}

func staticKeys(k *platform.StaticKeys) *iamv2.Identity_StaticKeys {
	return &iamv2.Identity_StaticKeys{
		Issuer: k.Issuer, Subject: k.Subject, IssuerKeys: k.IssuerKeys, ExpirationTime: timestamp(k.ExpirationTime), Audiences: k.Audiences,
	}
}

// role shows of a built-in role what the specification shows of a role. Who
// makes a role can read all of it back.
func role(r *platform.Role) *iamv2.Role {
	m := &iamv2.Role{Uid: string(r.UID), Name: r.Name, Description: r.Description}
	if platform.IsBuiltInRole(r.UID) {
		return m
	}
	m.Capabilities = capabilities(r.Capabilities)
	m.CreateTime, m.UpdateTime = timestamp(r.CreateTime), timestamp(r.UpdateTime)
	return m
}

func capabilities(all []platform.Capability) []iamv2.Capability {
	messages := make([]iamv2.Capability, len(all))
	for i, c := range all {
		messages[i] = iamv2.Capability(c.Number())
	}
	return messages
}

func roleBinding(b *platform.RoleBinding) *iamv2.RoleBinding {
	return &iamv2.RoleBinding{
		Uid: string(b.UID), CreateTime: timestamp(b.CreateTime), IdentityUid: string(b.IdentityUID), RoleUid: string(b.RoleUID),
		Identity: &iamv2.RoleBindingIdentity{
			Uid: string(b.Identity.UID), Name: b.Identity.Name, Description: b.Identity.Description,
			Subject: b.Identity.Subject, Issuer: b.Identity.Issuer, Email: b.Identity.Email,
		},
		Group: &iamv2.RoleBindingGroup{Uid: string(b.Group.UID), Name: b.Group.Name, Description: b.Group.Description},
		Role:  &iamv2.RoleBindingRole{Uid: string(b.Role.UID), Name: b.Role.Name, Description: b.Role.Description},
	}
}
