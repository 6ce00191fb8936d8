package demo

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"atrium/internal/auth"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// This file tells what has happened, and who did it. Each step is done with the operations of the core, by somebody who may.

// pipeline is who the pipeline signs in as.
var pipeline = iam.Claims{Issuer: "https://ci.example.com", Subject: "pipeline:engineering", ServiceAudience: true}

// developer returns the claims of a person whom the server itself signs in.
func developer(name string) iam.Claims {
	return iam.Claims{Issuer: auth.DevelopmentIssuer, Subject: name, ServiceAudience: true}
}

// employee returns the claims of a person whom the identity provider of the organization signs in.
func employee(name string) iam.Claims {
	return iam.Claims{
		Issuer: loginIssuer, Subject: name, Name: name, Email: name + "@example.com", EmailVerified: true, Audience: []string{Name},
		Values: map[string]any{"groups": []any{"developers"}},
	}
}

// history lists what has happened, in its order.
func (d *seeder) history(issuer string) []moment {
	c := &calendar{clock: d.clock}
	c.add(historyDays, 8, d.peopleAndTeams)
	c.add(historyDays, 9, d.provider)
	c.add(175, 10, d.artifacts)
	for i, wave := range waves() {
		c.add(181-i, 9, func() { d.begin(wave) })
		c.add(150-4*i, 11, func() { d.publish(wave, func(s service) string { return s.supported }, 14) })
		c.add(112-6*i, 14, func() { d.publish(wave, func(s service) string { return s.previous }, 9) })
		c.add(releasedDaysAgo(i), 10, func() { d.release(wave) })
	}
	d.addAdvisories(c)
	d.addPeople(c)
	d.addDecisions(c)
	c.add(27, 9, d.subscribe)
	if issuer != "" {
		c.add(1, 9, func() { d.welcome(issuer) })
	}
	slices.SortStableFunc(c.moments, compareMoments)
	return c.moments
}

// waves returns pairs of services of a team, which are released on the same days.
func waves() (all [][]service) {
	byTeam := map[string][]service{}
	for _, s := range services {
		byTeam[s.team] = append(byTeam[s.team], s)
	}
	for from := range slices.Max([]int{len(byTeam["payments"]), len(byTeam["shop"]), len(byTeam["platform"])}) {
		for _, team := range []string{"payments", "shop", "platform"} {
			if from%2 == 0 && from < len(byTeam[team]) {
				all = append(all, byTeam[team][from:min(from+2, len(byTeam[team]))])
			}
		}
	}
	return all
}

// releasedDaysAgo returns how many days ago the versions of today of a wave were released.
func releasedDaysAgo(wave int) int { return 60 - 8*wave }

// addAdvisories notes when advisories became known, and what was said of them later.
func (d *seeder) addAdvisories(c *calendar) {
	advisories, vulnerabilities := newAdvisories(d.clock)
	for i, a := range advisories {
		for n, e := range a.Events {
			c.addAt(e.CreateTime, func() {
				known, about := *a, *vulnerabilities[i]
				known.Events, known.UpdateTime, about.UpdateTime = a.Events[:n+1], e.CreateTime, e.CreateTime
				d.try(func() error {
					_, err := d.p.Feeds.ImportAdvisories(d.ctx, d.root, []*inventory.Advisory{&known})
					return err
				})
				d.try(func() error {
					_, err := d.p.Feeds.ImportVulnerabilities(d.ctx, []*inventory.Vulnerability{&about})
					return err
				})
			})
		}
	}
}

// addPeople notes who came and went, which rights ended, and what was refused.
func (d *seeder) addPeople(c *calendar) {
	c.add(160, 9, func() {
		d.identity("contractor", "engineering", "Helps with the migration", loginIssuer, "contractor@example.com")
		d.bind("contractor", iam.EditorRole, "payments", 60)
	})
	c.add(100, 9, func() { d.try(func() error { return d.p.RoleBindings.DeleteExpired(d.ctx) }) })
	for days, name := range map[int]string{152: "dana", 140: "maria", 45: "lee"} {
		c.add(days, 8, func() { d.join(name) })
	}
	c.add(98, 16, func() { d.leave("contractor") })
	c.add(50, 16, func() { d.leave("maria") })
	c.add(92, 11, func() { d.confirm("Still on call", "editor", "viewer") })
	c.add(12, 11, func() { d.confirm("The pipeline needs it", "ci") })
	c.add(14, 10, func() { d.bind("lee", iam.ViewerRole, "security", 34) })
	for _, days := range []int{110, 75, 30, 6} {
		c.add(days, 17, func() { d.refuse() })
	}
	for days, name := range map[int]string{9: "dana", 3: "lee"} {
		c.add(days, 8, func() { d.signIn(employee(name)) })
	}
	onCall := []string{"shop", "payments", "platform"}
	for week := range 25 {
		c.add(historyDays-5-7*week, 7, func() {
			d.describeTeam("engineering", "Everything that customers use. On call this week: "+onCall[week%len(onCall)])
		})
	}
	c.add(2, 8, func() { d.signIn(developer("editor")) })
	c.add(2, 9, d.invite)
	c.add(1, 8, func() { d.signIn(developer("owner")) })
}

// visitors are those whom the provider of deploy/demo signs in, by the names before the @ of their addresses.
var visitors = map[string]core.UID{"ada": iam.OwnerRole, "ben": iam.EditorRole, "cleo": iam.ViewerRole}

// welcome lets visitors in. Their subjects are not known, so their verified addresses decide who they are.
func (d *seeder) welcome(issuer string) {
	for _, name := range slices.Sorted(maps.Keys(visitors)) {
		d.try(func() error {
			identity, err := d.p.Identities.Create(d.ctx, d.root, fieldmask.TypedInput(&iam.Identity{
				Name: name, Description: "Looks around", ClaimMatch: &iam.ClaimMatch{Issuer: issuer, SubjectPattern: ".+", Claims: map[string]string{"email": name + "@example.com", "email_verified": "true"}},
			}, "name", "description", "claimMatch"))
			if err == nil {
				d.people[name] = identity.UID
			}
			return err
		})
		d.bind(name, visitors[name], "", 0)
	}
}

// signIn signs somebody in, and returns a context in which they act.
func (d *seeder) signIn(claims iam.Claims) context.Context {
	var actor *core.Actor
	d.try(func() (err error) {
		if actor, err = d.p.Authenticate(d.ctx, claims); err == nil {
			err = d.p.NoteSeen(d.ctx)
		}
		return err
	})
	return core.WithActor(d.ctx, actor)
}

// join signs somebody in for the first time, which makes an identity.
func (d *seeder) join(name string) {
	ctx := d.signIn(employee(name))
	d.try(func() error {
		d.people[name] = core.ActorOf(ctx).IdentityOn(d.root)
		return nil
	})
}

// leave takes the roles of somebody away, if they have any left, and deletes their identity.
func (d *seeder) leave(name string) {
	owner := d.signIn(developer("owner"))
	d.try(func() error {
		had, err := d.p.RoleBindings.List(owner, core.ListRequest[*iam.RoleBindingFilter]{UIDP: core.UIDFilter{DescendantsOf: d.root}, Filter: &iam.RoleBindingFilter{Identity: d.people[name]}})
		if err != nil {
			return err
		}
		for _, b := range had.Items {
			if err := d.p.RoleBindings.DeleteBatch(owner, []core.UID{b.UID}, "Has left"); err != nil {
				return err
			}
		}
		return d.p.Identities.Delete(owner, d.people[name])
	})
}

// confirm reviews the roles of people, who keep them.
func (d *seeder) confirm(note string, names ...string) {
	owner := d.signIn(developer("owner"))
	d.try(func() error {
		requests := make([]core.BatchRequest[*iam.RoleBinding], len(names))
		for i, name := range names {
			b := d.bindings[name]
			seen := iam.RoleBinding{IdentityUID: b.Identity.UID, RoleUID: b.Role.UID}
			requests[i] = core.BatchRequest[*iam.RoleBinding]{UID: b.UID, Input: fieldmask.TypedInput(&seen, "identityUid", "roleUid")}
		}
		_, err := d.p.RoleBindings.Confirm(owner, requests, note)
		return err
	})
}

func (d *seeder) describeTeam(name, description string) {
	owner := d.signIn(developer("owner"))
	d.try(func() error {
		_, err := d.p.Groups.Update(owner, d.teams[name], fieldmask.TypedInput(&iam.Group{Description: description}, "description"))
		return err
	})
}

// refuse lets somebody try what they may not do.
func (d *seeder) refuse() {
	viewer := d.signIn(developer("viewer"))
	d.try(func() error {
		err := d.p.Repos.Delete(viewer, d.repos["ledger"])
		if errors.Is(err, &core.Error{Code: core.CodePermissionDenied}) {
			return nil
		}
		return errors.Join(errors.New("the viewer could delete a repo"), err)
	})
}

// addDecisions notes what was decided about findings. One risk is accepted for a year from today.
func (d *seeder) addDecisions(c *calendar) {
	yearFromNow := core.At(d.clock.started.UTC().Truncate(core.Day).AddDate(1, 0, 0))
	c.add(128, 15, func() {
		d.decide(employee("dana"), "shop", noFix, inventory.Finding{State: inventory.FindingAccepted, Note: "We load only models that we have trained ourselves", ExpireTime: yearFromNow})
	})
	c.add(96, 10, func() {
		d.decide(employee("maria"), "payments", "ACME-2026-0103", inventory.Finding{State: inventory.FindingAccepted, Note: "Behind the gateway until the next release", ExpireTime: core.At(d.clock.daysAgo(66, 10))})
	})
	c.add(66, 11, func() {
		d.try(func() error {
			_, err := d.p.Findings.EndExpired(d.ctx)
			return err
		})
	})
	c.add(84, 15, func() {
		d.decide(developer("editor"), "platform", "ACME-2026-0104", inventory.Finding{State: inventory.FindingNotAffected, Justification: "vulnerable_code_not_in_execute_path", Note: "No service sends cookies"})
	})
}

// decide decides about the findings of a vulnerability in the repos of a team.
func (d *seeder) decide(who iam.Claims, team, vulnerability string, decision inventory.Finding) {
	ctx := d.signIn(who)
	d.try(func() error {
		fields := []string{"state", "note"}
		if decision.Justification != "" {
			fields = append(fields, "justification")
		}
		if !decision.ExpireTime.IsZero() {
			fields = append(fields, "expireTime")
		}
		_, err := d.p.Findings.Update(ctx, inventory.FindingUpdate{
			Within: d.teams[team], Where: &inventory.FindingFilter{VulnerabilityIDs: []string{vulnerability}}, Change: fieldmask.TypedInput(&decision, fields...),
		})
		return err
	})
}

// settle lets what follows from a moment follow: findings, and deliveries of events.
func (d *seeder) settle() {
	d.try(func() error { return d.p.Findings.Settle(d.ctx) })
	if d.hears {
		d.deliver()
	}
}

// subscribe creates a subscription, to which everything is sent that happens from then on.
func (d *seeder) subscribe() {
	d.try(func() error { return d.relay() })
	d.try(func() error {
		sink := webhooks.Subscription{Sink: "https://hooks.example.com/atrium"}
		_, err := d.p.Subscriptions.Create(d.ctx, d.root, fieldmask.TypedInput(&sink, "sink"))
		d.hears = true
		return err
	})
}

func (d *seeder) relay() error {
	for {
		if n, err := d.p.Webhooks.Relay(d.ctx); n == 0 || err != nil {
			return err
		}
	}
}

// deliver ends the deliveries of the events that there are, as if the sink had answered. On one day it first had no answer.
func (d *seeder) deliver() {
	d.try(d.relay)
	for d.err == nil {
		due, err := d.queue.Due(d.ctx)
		if d.err = err; err != nil || len(due.UIDs) == 0 && due.Next == 0 {
			return
		}
		if len(due.UIDs) == 0 {
			d.clock.set(d.clock.now().Add(due.Next))
			continue
		}
		tickets, err := d.queue.Claim(d.ctx, due.UIDs)
		d.err = err
		for _, ticket := range tickets {
			d.try(func() error { return d.attempt(ticket) })
		}
	}
}

func (d *seeder) attempt(ticket webhooks.Ticket) error {
	dispatch, err := d.p.Webhooks.BeginAttempt(d.ctx, ticket)
	if err != nil || dispatch == nil {
		return err
	}
	answer := webhooks.Attempt{Status: http.StatusNoContent}
	outage := d.clock.daysAgo(20, 0)
	if since := d.clock.now().Sub(outage); since > 0 && since < core.Day && dispatch.Delivery.Attempts < 2 {
		answer = webhooks.Attempt{Status: http.StatusServiceUnavailable, Answer: "upgrading", RetryAfter: time.Minute}
	}
	_, err = d.p.Webhooks.EndAttempt(d.ctx, dispatch, answer)
	return err
}
