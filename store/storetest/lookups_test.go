package storetest_test

import (
	"context"
	"errors"
	"fmt"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
	"atrium/store/storetest"
)

// hydratedBuffers is the cost of a binding with its identity, group and role, which are
// read by their keys.
const hydratedBuffers = 14

// addBindings adds role bindings with every filter.
func (r *readList) addBindings() {
	type request = core.ListRequest[*iam.RoleBindingFilter]
	p, all, page := r.p, descendantsOf(r.b.root), pageBuffers+51*hydratedBuffers
	for level, group := range r.b.deep[:4] {
		r.add(fmt.Sprintf("bindings below level %d", level), page, askList(p.RoleBindings.List, request{UIDP: descendantsOf(group)}))
		r.add(fmt.Sprintf("bindings in level %d", level), page, askList(p.RoleBindings.List, request{UIDP: childrenOf(group)}))
	}
	r.add("bindings by uid", page, askList(p.RoleBindings.List, request{UIDP: all, OrderBy: "uid"}))
	r.add("bindings in the root by uid", page, askList(p.RoleBindings.List, request{UIDP: childrenOf(r.b.root), OrderBy: "uid"}))
	effective := r.add("effective bindings", 5*page, func(ctx context.Context) error {
		_, errs := p.RoleBindings.ListEffective(ctx, []core.UID{r.b.deep[4]}, "", request{})
		return errs[0]
	})
	effective.maxTotalBuffers, effective.sorts = 5*totalBuffers, true

	ten := request{PageSize: 10}
	one := func(uids ...core.UID) []core.UID { return uids }
	for name, read := range map[string]func(ctx context.Context) error{
		"bindings of 50 groups": askEach(p.RoleBindings.ListEach, "", r.b.groups[:50]),
		"bindings of 50 identities": func(ctx context.Context) error {
			return checkNotEmpty(p.RoleBindings.ListOfIdentities(ctx, ten, r.b.identities[:50]))
		},
	} {
		hydrated := r.add(name, eachBuffers+50*11*hydratedBuffers, read)
		hydrated.maxTotalBuffers, hydrated.grows = 50*totalBuffers, countsRows
	}
	// A role belongs to all organizations. The bindings in other organizations must not
	// add to the cost. The index counts them.
	ofRoles := r.add("bindings of three roles", page, func(ctx context.Context) error {
		return checkNotEmpty(p.RoleBindings.ListOfRoles(ctx, ten, one(r.b.role, iam.OwnerRole, iam.ViewerRole)))
	})
	ofRoles.maxTotalBuffers, ofRoles.grows = len(r.b.repos)/20, countsRows
	filtered := []struct {
		subject string
		filter  *iam.RoleBindingFilter
	}{
		{"the busiest identity", &iam.RoleBindingFilter{Identity: r.b.identities[0]}},
		{"the owner role", &iam.RoleBindingFilter{Role: iam.OwnerRole}},
	}
	for _, f := range filtered {
		bindings := r.add("bindings of "+f.subject, page, askList(p.RoleBindings.List, request{UIDP: all, Filter: f.filter}))
		bindings.maxTotalBuffers, bindings.grows = 8*totalBuffers, countsRows
	}
	r.add("the removal of the last owner", 4*pageBuffers, func(ctx context.Context) error {
		err := p.RoleBindings.Delete(ctx, r.b.ownerBinding)
		if !errors.Is(err, &core.Error{Code: core.CodeFailedPrecondition}) {
			return fmt.Errorf("it was not refused: %w", err)
		}
		return nil
	}).sorts = true
}

// addFilters adds lists whose filter uses an index.
func (r *readList) addFilters() {
	p, all, names := r.p, descendantsOf(r.b.root), r.b.repoNames
	r.add("repos by name", pageBuffers, askList(p.Repos.List, core.ListRequest[*inventory.RepoFilter]{UIDP: all, Filter: &inventory.RepoFilter{Name: names[5]}}))
	some := r.add("repos by 50 names", 5*pageBuffers, askList(p.Repos.List, core.ListRequest[*inventory.RepoFilter]{UIDP: all, Filter: &inventory.RepoFilter{Names: names[5:55]}}))
	some.maxTotalBuffers, some.sorts = 10*totalBuffers, true
	r.add("identities by name", pageBuffers, askList(p.Identities.List, core.ListRequest[*iam.IdentityFilter]{UIDP: all, Filter: &iam.IdentityFilter{Name: "twenty"}}))
	r.add("tags by name", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(r.b.busyRepo), Filter: &inventory.TagFilter{Name: r.b.tagName}}))
	r.add("tags by digest", pageBuffers, askList(p.Tags.List, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(r.b.busyRepo), Filter: &inventory.TagFilter{Digest: r.b.tagDigest}})).sorts = true
	r.add("advisories by artifact", 2*pageBuffers, askList(p.Advisories.List, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: all, Filter: &inventory.AdvisoryFilter{ArtifactNames: r.b.artifacts[:2]}})).sorts = true
	summary := r.add("a summary of the root", pageBuffers, func(ctx context.Context) error {
		_, err := p.Advisories.Summarize(ctx, r.b.root)
		return err
	})
	summary.maxTotalBuffers, summary.grows = pageBuffers, readsCounters
	r.add("vulnerability by alias", pageBuffers, func(ctx context.Context) error {
		_, err := p.Vulnerabilities.Get(ctx, "CVE-GO-77")
		return err
	}).sorts = true
	r.add("vulnerabilities by 100 aliases", 800, func(ctx context.Context) error {
		ids := make([]string, 100)
		for i := range ids {
			ids[i] = fmt.Sprint("CVE-GO-", i*9)
		}
		_, errs := p.Vulnerabilities.GetMany(ctx, ids)
		return errors.Join(errs...)
	}).sorts = true
}

// addFeeds adds reads of the advisories of all organizations.
func (r *readList) addFeeds() {
	documents := func(f reports.DocumentFilter, least int) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			found, err := r.p.AdvisoryDocuments.List(ctx, core.ListRequest[*reports.DocumentFilter]{Filter: &f, PageSize: 200})
			if err == nil && len(found.Items) < least {
				err = fmt.Errorf("%d documents, want %d", len(found.Items), least)
			}
			return err
		}
	}
	names := make([]string, 100)
	for i := range names {
		names[i] = "CVE-" + r.b.advisoryIDs[i*9]
	}
	r.add("one document", pageBuffers+10, documents(reports.DocumentFilter{ID: r.b.artifacts[0]}, 1)).sorts = true
	byNames := r.add("documents by 100 CVEs", 100*60, documents(reports.DocumentFilter{CVEs: names}, 50))
	byNames.sorts, byNames.maxTotalBuffers = true, 100*13 // The total looks each name up too.
	refs := make([]reports.ImageRef, 50)
	for i := range refs {
		refs[i] = reports.ImageRef{Repo: string(r.b.repos[i]), Tags: []string{"reported"}}
	}
	report := r.add("a report of 50 images", 50*145, func(ctx context.Context) error {
		found, err := r.p.ResolvedVulnerabilities.ListAll(ctx, reports.ResolvedVulnerabilityFilter{
			ImageRefs: refs, StartTime: core.At(epoch.AddDate(0, 0, -300)), EndTime: core.At(epoch.AddDate(0, 0, 60)),
		})
		if err == nil && len(found) == 0 {
			err = errNothing
		}
		return err
	})
	report.sorts, report.scans = true, true // It looks up some hundred advisories.
}

// addSingleReads adds reads by key, and the first statements of every request.
func (r *readList) addSingleReads() {
	p := r.p
	each := func(name string, bar int, errs func(ctx context.Context) []error) {
		r.add(name, bar, func(ctx context.Context) error { return errors.Join(errs(ctx)...) })
	}
	each("one repo", 5, func(ctx context.Context) []error { _, errs := p.Repos.GetMany(ctx, r.b.repos[9:10]); return errs })
	each("200 repos", 200*4, func(ctx context.Context) []error { _, errs := p.Repos.GetMany(ctx, r.b.repos[:200]); return errs })
	each("200 identities", 200*4, func(ctx context.Context) []error {
		_, errs := p.Identities.GetMany(ctx, r.b.identities[:200])
		return errs
	})
	each("50 readmes", 50*4, func(ctx context.Context) []error { _, errs := p.Repos.Readmes(ctx, r.b.repos[:50]); return errs })
	each("100 images", 100*5, func(ctx context.Context) []error { _, errs := p.Images.GetMany(ctx, r.b.digests[:100]); return errs })
	authenticate := func(issuer, subject string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := p.Authenticate(ctx, iam.Claims{Issuer: issuer, Subject: subject})
			return err
		}
	}
	// The caller has twenty bindings with their roles.
	r.add("who a token is", 20*5, authenticate(issuer, "twenty")).sorts = true
	r.add("who a token is, by a pattern", pageBuffers, authenticate("https://100.example.com", "repo:x")).sorts = true
	r.add("who a stranger is", pageBuffers, authenticate("https://nowhere.example.com", "x")).sorts = true
	r.add("whether an issuer is known", 5, func(ctx context.Context) error { _, err := p.KnowsIssuer(ctx, issuer); return err })
	r.add("whose a subject is", 3*4, func(ctx context.Context) error { _, err := p.Identities.Lookup(ctx, issuer, "person-77"); return err }).sorts = true // by its rule, by its own keys, by a provider
	r.add("what an identity may do", 2*pageBuffers, func(ctx context.Context) error {
		_, errs := p.Identities.EffectiveGrants(ctx, r.b.identities[7:8])
		return errs[0]
	})
	r.add("whether something exists", 40, func(ctx context.Context) error { _, err := r.s.Exists(ctx, r.b.repos[0]); return err })
	next := func(roots ...core.UID) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			at, _, err := r.s.EventPosition(ctx, r.b.eventIDs[len(r.b.eventIDs)/2])
			if err == nil {
				_, err = storetest.Tables.Events.EventsAfter(ctx, r.s, roots, at, 100)
			}
			return err
		}
	}
	missed := func(roots ...core.UID) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			at, _, err := r.s.EventPosition(ctx, r.b.eventIDs[len(r.b.eventIDs)/2])
			newest, _, failed := r.s.EventPosition(ctx, r.b.eventIDs[len(r.b.eventIDs)-1])
			if err = errors.Join(err, failed); err == nil {
				_, err = storetest.Tables.Events.EventsUpTo(ctx, r.s, roots, at, newest, 100)
			}
			return err
		}
	}
	r.add("missed events of an organization", 3*pageBuffers, missed(r.b.root))
	r.add("missed events of a quiet organization", 3*pageBuffers, missed(r.b.otherOrg))
	r.add("the next events of an organization", 3*pageBuffers, next(r.b.root))
	r.add("the next events of a quiet organization", 3*pageBuffers, next(r.b.otherOrg))
	no, yes := false, true
	for name, req := range map[string]events.AuditRequest{
		"the log of an organization":            {DescendantsOf: r.b.root},
		"what was done in an organization":      {DescendantsOf: r.b.root, Denied: &no},
		"what was refused in an organization":   {DescendantsOf: r.b.root, Denied: &yes},
		"the log of an actor":                   {DescendantsOf: r.b.root, Actor: string(r.b.identities[0])},
		"the log of a group":                    {DescendantsOf: r.b.deep[1]},
		"the log of a group on the third level": {DescendantsOf: r.b.deep[2]},
		"the log of a group further down":       {DescendantsOf: r.b.deep[3]},
		"the log of an actor in a group":        {DescendantsOf: r.b.deep[1], Actor: string(r.b.identities[0])},
		"a rare type in an organization":        {DescendantsOf: r.b.root, Types: []string{rareEvent}},
		"a rare type in a group":                {DescendantsOf: r.b.deep[1], Types: []string{rareEvent}},
		"a rare type on the third level":        {DescendantsOf: r.b.deep[2], Types: []string{rareEvent}},
		"a frequent and a rare type":            {DescendantsOf: r.b.root, Types: []string{frequentEvent, rareEvent}},
		"several types, some without events":    {DescendantsOf: r.b.root, Types: []string{rareEvent, "iam.roles.created", "iam.roles.updated"}},
		"most types":                            {DescendantsOf: r.b.root, Types: platform.AllEventTypes().All()[:30]},

		"the events of a rare resource":            {DescendantsOf: r.b.root, Subject: r.b.rareTarget()},
		"the events of a rare resource in a group": {DescendantsOf: r.b.deep[1], Subject: r.b.rareTarget()},
		"the events of a busy resource":            {DescendantsOf: r.b.root, Subject: r.b.busyActor()},
		"the events of a rare actor":               {DescendantsOf: r.b.root, Subject: r.b.rareActor()},
		"the events of a busy role":                {DescendantsOf: r.b.root, Target: iam.ViewerRole},
		"the events of a busy role in a group":     {DescendantsOf: r.b.deep[1], Target: iam.ViewerRole},
		"the oldest events of a busy role":         {DescendantsOf: r.b.root, Target: iam.ViewerRole, Backward: true},
		"the later events of a busy role":          {DescendantsOf: r.b.root, Target: iam.ViewerRole, After: r.b.eventIDs[len(r.b.eventIDs)/2]},
		"the events of nothing":                    {DescendantsOf: r.b.root, Subject: r.b.root + "/00000000000000ad"},
		"a rare type of a rare resource":           {DescendantsOf: r.b.root, Subject: r.b.rareTarget(), Types: []string{rareEvent, frequentEvent}},
	} {
		list := r.add(name, 3*pageBuffers, func(ctx context.Context) error { _, err := p.AuditLog.List(ctx, req); return err })
		if req.Subject != "" || req.Target != "" { // The pages of the indexes are merged.
			list.sorts, list.maxBuffers = true, 8*pageBuffers
			if name == "the events of a busy role in a group" {
				list.grows = "It reads in an index which events name the role, until enough of them are in the group."
			}
		} else if n := len(req.Types); n > 1 { // Each type is looked up in each partition, and the pages of the types are merged.
			list.sorts, list.maxBuffers = true, 4*pageBuffers+n*typeBuffers
		}
	}
}

// addImports adds the look-ups of a batch before it writes: each record by its key,
// however many records the group has.
func (r *readList) addImports() {
	const batch = 200
	group := r.b.deep[1]
	operator := func(ctx context.Context) context.Context {
		return core.WithActor(ctx, core.NewOperator("test"))
	}
	known, err := r.p.Advisories.List(operator(r.b.t.Context()), core.ListRequest[*inventory.AdvisoryFilter]{UIDP: childrenOf(group), PageSize: batch})
	if err != nil {
		r.b.t.Fatal(err)
	}
	r.add("an import of known advisories", 12*batch, func(ctx context.Context) error {
		done, err := r.p.Feeds.ImportAdvisories(operator(ctx), group, known.Items)
		if err == nil && (done.Unchanged != len(known.Items) || done.Unchanged == 0) {
			err = fmt.Errorf("imported %+v, want %d unchanged", done, len(known.Items))
		}
		return err
	})
	r.add("an import of known metadata", 12*batch, func(ctx context.Context) error {
		rows := times(batch, func(i int) *inventory.Vulnerability {
			return &inventory.Vulnerability{ID: fmt.Sprint("GO-", i), UpdateTime: core.At(epoch.AddDate(-50, 0, 0))}
		})
		done, err := r.p.Feeds.ImportVulnerabilities(operator(ctx), rows)
		if err == nil && done.Unchanged != batch { // An older record must not replace a newer one.
			err = fmt.Errorf("imported %+v, want %d unchanged", done, batch)
		}
		return err
	})
	r.add("the sources of a group", 20*pageBuffers, func(ctx context.Context) error {
		_, err := r.p.Registry.ListSources(operator(ctx), group, "hub.example.com")
		return err
	}).sorts = true
}
