package sqlstore

import (
	"context"

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
		{"t.match_issuer", "claimMatch", func(i *platform.Identity) any { issuer, _ := matchKeys(i); return &issuer }},
		{"t.match_subject", "claimMatch", func(i *platform.Identity) any { _, subject := matchKeys(i); return &subject }},
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

// anyValue stands in match_issuer and match_subject for a pattern. No issuer
// or subject that a rule names holds a control character.
const anyValue = "\x01"

// matchKeys are what tokens find an identity by; "" where its rule matches
// none.
func matchKeys(i *platform.Identity) (issuer, subject string) {
	if i.ClaimMatch == nil {
		return "", ""
	}
	issuer, subject = i.ClaimMatch.Issuer, i.ClaimMatch.Subject
	if issuer == "" {
		issuer = anyValue
	}
	if subject == "" {
		subject = anyValue
	}
	return issuer, subject
}

// Candidates finds the identities whose rule may match, with what is bound to
// them.
func (s tables) Candidates(ctx context.Context, issuer, subject string) ([]platform.Candidate, error) {
	q := s.dialect.statement()
	q.add("SELECT i.uid, i.claim_match, i.last_seen_time, COALESCE(b.parent, ''), COALESCE(b.role, ''), COALESCE(r.capabilities, '')"+
		" FROM identity i LEFT JOIN role_binding b ON b.identity = i.uid LEFT JOIN role r ON r.uid = b.role"+
		" WHERE i.match_issuer IN (?, ?) AND i.match_subject IN (?, ?) ORDER BY i.uid", issuer, anyValue, subject, anyValue)
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
	known := false
	q := s.dialect.statement().add("SELECT 1 FROM identity WHERE match_issuer = ? LIMIT 1", issuer)
	err := s.conn.Run(ctx, q.done(func(func(...any) error) error { known = true; return nil }))
	return known && issuer != anyValue, err
}

// LookupIdentity finds the oldest identity of exactly this issuer and subject.
func (s tables) LookupIdentity(ctx context.Context, issuer, subject string) (uid platform.UID, err error) {
	if issuer == anyValue || subject == anyValue {
		return "", nil
	}
	q := s.dialect.statement()
	q.add("SELECT uid FROM identity WHERE match_issuer = ? AND match_subject = ? ORDER BY create_time, uid LIMIT 1", issuer, subject)
	err = s.conn.Run(ctx, q.done(func(scan func(...any) error) error { return scan((*string)(&uid)) }))
	return uid, err
}

// Seen notes when identities acted.
func (s *Store) Seen(ctx context.Context, uids []platform.UID, at platform.Time) error {
	return s.engine.Write(ctx, func(tx TxConn) error {
		return tx.Run(ctx, s.dialect.statement().add("UPDATE identity SET last_seen_time = ? WHERE uid ?", at, uidList(uids)).done(nil))
	})
}
