package sqlstore

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"atrium/platform"
)

var identities = table[platform.Identity, platform.IdentityFilter]{
	name: "identity", number: 2,
	uid:      func(i *platform.Identity) platform.UID { return i.UID },
	enclosed: parent,
	columns: []column[platform.Identity]{
		{"t.uid", "", func(i *platform.Identity) any { return (*string)(&i.UID) }},
		{"t.name", "name", func(i *platform.Identity) any { return &i.Name }},
		{"t.description", "description", func(i *platform.Identity) any { return &i.Description }},
		{"t.email", "", func(i *platform.Identity) any { return &i.Email }},
		{"t.email_unverified", "", func(i *platform.Identity) any { return &i.EmailUnverified }},
		{"t.company", "company", func(i *platform.Identity) any { return &i.Company }},
		{"t.claim_match", "claimMatch", func(i *platform.Identity) any { return jsonColumn{&i.ClaimMatch} }},
		{"t.static_keys", "staticKeys", func(i *platform.Identity) any { return jsonColumn{&i.StaticKeys} }},
		{"t.last_seen_time", "", func(i *platform.Identity) any { return timeColumn{&i.LastSeenTime} }},
		{"t.create_time", "", func(i *platform.Identity) any { return timeColumn{&i.CreateTime} }},
		{"t.update_time", "", func(i *platform.Identity) any { return timeColumn{&i.UpdateTime} }},
	},
	writeOnly: []column[platform.Identity]{
		{"t.match_rule", "claimMatch", func(i *platform.Identity) any { rule := ruleOf(i); return &rule }},
	},
	where: func(f platform.IdentityFilter, s *statement) {
		s.name(f.Name)
		switch f.RelationshipType {
		case platform.RelationshipTypeClaimMatch:
			s.add(" AND t.claim_match <> ''")
		case platform.RelationshipTypeStatic:
			s.add(" AND t.static_keys <> ''")
		}
		if !f.LastSeenBefore.IsZero() {
			s.add(" AND t.last_seen_time < ?", f.LastSeenBefore)
		}
	},
}

// A rule is kept as one text, so that planners know how many identities have
// it. anyValue stands in it for a pattern. Issuers and subjects that rules name
// hold no control character.
const (
	anyValue  = "\x01"
	ruleBreak = "\x02" // between issuer and subject
	ruleEnd   = "\x03" // follows ruleBreak
)

// rule is what identities that name an issuer and a subject are found by.
func rule(issuer, subject string) string { return issuer + ruleBreak + subject }

// ruleOf is what tokens find an identity by; "" where its rule matches none.
func ruleOf(i *platform.Identity) string {
	if i.ClaimMatch == nil {
		return ""
	}
	return rule(cmp.Or(i.ClaimMatch.Issuer, anyValue), cmp.Or(i.ClaimMatch.Subject, anyValue))
}

// Candidates finds the identities whose rule may match, with what is bound to
// them.
func (s tables) Candidates(ctx context.Context, issuer, subject string) ([]platform.Candidate, error) {
	q := s.dialect.statement()
	q.add("SELECT i.uid, i.claim_match, i.last_seen_time, COALESCE(b.parent, ''), COALESCE(b.role, ''), COALESCE(r.capabilities, '')"+
		" FROM identity i LEFT JOIN role_binding b ON b.identity = i.uid LEFT JOIN role r ON r.uid = b.role"+
		" WHERE i.match_rule IN (?, ?, ?, ?) ORDER BY i.uid",
		rule(issuer, subject), rule(issuer, anyValue), rule(anyValue, subject), rule(anyValue, anyValue))
	var found []platform.Candidate
	err := s.conn.Run(ctx, q.done(func(scan func(...any) error) error {
		i, g := new(platform.Identity), platform.Grant{}
		err := scan((*string)(&i.UID), jsonColumn{&i.ClaimMatch}, timeColumn{&i.LastSeenTime}, (*string)(&g.Group), (*string)(&g.Role), jsonColumn{&g.Capabilities})
		if n := len(found); n == 0 || found[n-1].Identity.UID != i.UID {
			found = append(found, platform.Candidate{Identity: i})
		}
		if g.Identity = i.UID; g.Role != "" {
			c := &found[len(found)-1]
			c.Grants = append(c.Grants, g)
		}
		return err
	}))
	return found, err
}

// Grants reads what is bound to identities.
func (s tables) Grants(ctx context.Context, uids []platform.UID) ([]platform.Grant, error) {
	q := s.dialect.statement()
	q.add("SELECT b.identity, b.parent, b.role, r.capabilities FROM role_binding b JOIN role r ON r.uid = b.role WHERE b.identity ?", uidList(uids))
	var grants []platform.Grant
	err := s.conn.Run(ctx, q.done(func(scan func(...any) error) error {
		var g platform.Grant
		err := scan((*string)(&g.Identity), (*string)(&g.Group), (*string)(&g.Role), jsonColumn{&g.Capabilities})
		grants = append(grants, g)
		return err
	}))
	return grants, err
}

// KnowsIssuer looks for an identity that names an issuer.
func (s tables) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
	if strings.ContainsFunc(issuer, unicode.IsControl) {
		return false, nil
	}
	known := false
	q := s.dialect.statement().add("SELECT 1 FROM identity WHERE match_rule >= ? AND match_rule < ? LIMIT 1", issuer+ruleBreak, issuer+ruleEnd)
	err := s.conn.Run(ctx, q.done(func(func(...any) error) error { known = true; return nil }))
	return known, err
}

// LookupIdentity finds the oldest identity of exactly this issuer and subject.
func (s tables) LookupIdentity(ctx context.Context, issuer, subject string) (uid platform.UID, err error) {
	if strings.ContainsFunc(issuer+subject, unicode.IsControl) {
		return "", nil
	}
	q := s.dialect.statement()
	q.add("SELECT uid FROM identity WHERE match_rule = ? ORDER BY create_time, uid LIMIT 1", rule(issuer, subject))
	err = s.conn.Run(ctx, q.done(func(scan func(...any) error) error { return scan((*string)(&uid)) }))
	return uid, err
}

// Seen notes when identities acted.
func (s *Store) Seen(ctx context.Context, uids []platform.UID, at platform.Time) error {
	return s.engine.Write(ctx, func(tx TxConn) error {
		return tx.Run(ctx, s.dialect.statement().add("UPDATE identity SET last_seen_time = ? WHERE uid ?", at, uidList(uids)).done(nil))
	})
}
