package sqlstore

import (
	"context"

	"atrium/platform"
)

// Candidates reads, by one statement of three parts, the identities whose rule
// may match a bearer, the identity providers of its issuer with whom they let
// in, and what these map the bearer's external groups to.
func (s tables) Candidates(ctx context.Context, b platform.Bearer) ([]platform.Candidate, []platform.Entrance, error) {
	q := s.dialect.statement()
	q.add("SELECT 0, '', '', '', '', i.uid, i.claim_match, i.static_keys, '', i.last_seen_time, " + boundColumns + " FROM identity i" + boundJoins)
	if len(b.Static) > 0 {
		q.add(" WHERE i.uid ?", uidList(b.Static))
	} else {
		q.add(" WHERE i.match_rule IN (?, ?, ?, ?)",
			rule(b.Issuer, b.Subject), rule(b.Issuer, anyValue), rule(anyValue, b.Subject), rule(anyValue, anyValue))
		entrances(q, b)
	}
	q.add(" ORDER BY 1, 2, 6")
	var found signIns
	err := s.conn.Run(ctx, q.done(found.add))
	return found.candidates, found.entrances, err
}

// What is bound to an identity i: one row for each role, or one of empty texts.
const (
	boundColumns = "COALESCE(b.parent, ''), COALESCE(b.role, ''), COALESCE(r.capabilities, '')"
	boundJoins   = " LEFT JOIN role_binding b ON b.identity = i.uid LEFT JOIN role r ON r.uid = b.role"
)

func entrances(q *statement, b platform.Bearer) {
	external := make(among, len(b.ExternalIDs))
	for i, id := range b.ExternalIDs {
		external[i] = rule(b.Issuer, id)
	}
	q.add(" UNION ALL SELECT 1, p.uid, p.default_role, p.oidc, '', COALESCE(i.uid, ''), '', '', COALESCE(i.external_id, ''), i.last_seen_time, "+boundColumns+
		" FROM identity_provider p LEFT JOIN identity i ON i.provider = p.uid AND i.external_id ?"+boundJoins+" WHERE p.issuer = ?", external, b.Issuer)
	if len(b.Groups) == 0 {
		return
	}
	q.add(" UNION ALL SELECT 2, p.uid, '', '', m.external_group_id, '', '', '', '', NULL, m.scope, m.role, r.capabilities"+
		" FROM identity_provider p JOIN external_group_role_mapping m ON m.parent = p.uid AND m.external_group_id ?"+
		" JOIN role r ON r.uid = m.role WHERE p.issuer = ?", among(b.Groups), b.Issuer)
}

// signIns collects the rows, whose parts come one after the other.
type signIns struct {
	candidates []platform.Candidate
	entrances  []platform.Entrance
}

func (found *signIns) add(scan func(...any) error) error {
	var part int64
	var provider platform.IdentityProvider
	var i platform.Identity
	var g platform.Grant
	var group, external string
	if err := scan(&part, (*string)(&provider.UID), (*string)(&provider.DefaultRole), jsonColumn{&provider.OIDC}, &group,
		(*string)(&i.UID), jsonColumn{&i.ClaimMatch}, jsonColumn{&i.StaticKeys}, &external, timeColumn{&i.LastSeenTime},
		(*string)(&g.Group), (*string)(&g.Role), jsonColumn{&g.Capabilities}); err != nil {
		return err
	}
	switch part {
	case 0:
		if n := len(found.candidates); n == 0 || found.candidates[n-1].Identity.UID != i.UID {
			found.candidates = append(found.candidates, platform.Candidate{Identity: &i})
		}
		bind(&found.candidates[len(found.candidates)-1], g)
	case 1:
		if n := len(found.entrances); n == 0 || found.entrances[n-1].Provider.UID != provider.UID {
			found.entrances = append(found.entrances, platform.Entrance{Provider: &provider})
		}
		found.person(&i, external, g)
	case 2:
		for n := range found.entrances {
			if e := &found.entrances[n]; e.Provider.UID == provider.UID {
				g.Identity = provider.UID
				e.Mapped = append(e.Mapped, platform.MappedGrant{Grant: g, ExternalGroupID: group})
			}
		}
	}
	return nil
}

// person adds somebody whom the last provider let in, if there is one.
func (found *signIns) person(i *platform.Identity, external string, g platform.Grant) {
	if i.UID == "" {
		return
	}
	e := &found.entrances[len(found.entrances)-1]
	if n := len(e.People); n == 0 || e.People[n-1].Identity.UID != i.UID {
		_, id := ruleParts(external)
		e.People = append(e.People, platform.Person{Candidate: platform.Candidate{Identity: i}, ExternalID: id})
	}
	bind(&e.People[len(e.People)-1].Candidate, g)
}

func bind(c *platform.Candidate, g platform.Grant) {
	if g.Identity = c.Identity.UID; g.Role != "" {
		c.Grants = append(c.Grants, g)
	}
}
