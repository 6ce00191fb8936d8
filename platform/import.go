package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Imports bring many records at once: new ones are added, changed ones
// updated, equal ones left alone, so that importing twice changes nothing. A
// batch is one transaction. They are an operator's commands (Operator).

// ImportBatch is a good number of records for one import call.
const ImportBatch = 1000

// Imported counts what an import did.
type Imported struct {
	Added, Updated, Unchanged int
	Rejected                  map[int]error // by place in the batch: why a record was left out
}

// ImportOptions are what the operator decides about an import.
type ImportOptions struct{ NoEvents bool }

var errNotOperator = errors.New("imports are an operator's commands")

// importing demands an operator and a target that exists.
func (p *Platform) importing(ctx context.Context, kind string, target UID) error {
	actor, err := caller(ctx)
	switch {
	case err != nil:
		return err
	case actor.operator == "":
		return errNotOperator
	case !target.Valid():
		return invalidUID(lowerFirst(kind), target)
	}
	found, err := p.store.Exists(ctx, target)
	if err == nil && !found {
		return missing(kind, target)
	}
	return err
}

// reject checks a record as a creation would.
func (d *Imported) reject(i int, v violations) bool {
	if len(v) == 0 {
		return false
	}
	if d.Rejected == nil {
		d.Rejected = map[int]error{}
	}
	d.Rejected[i] = v.err()
	return true
}

func (d *Imported) rejectTwice(i int) {
	d.reject(i, violations{{Field: "name", Description: "is in this batch already"}})
}

func anything(string) bool { return true }

// An ImportedRepo is a repo with its readme.
type ImportedRepo struct {
	Repo
	Readme string
}

// Import puts repos into a group by their names and sets the UID of each.
func (s Repos) Import(ctx context.Context, group UID, repos []*ImportedRepo, o ImportOptions) (Imported, error) {
	var done Imported
	if err := s.p.importing(ctx, "Group", group); err != nil {
		return done, err
	}
	good := map[string]*ImportedRepo{}
	var names []string
	for i, r := range repos {
		var v violations
		s.kind.Check(&r.Repo, anything, &v)
		v.text("readme", r.Readme, maxReadmeBytes)
		if done.reject(i, v) {
			continue
		}
		if good[r.Name] != nil {
			done.rejectTwice(i)
			continue
		}
		good[r.Name], names = r, append(names, r.Name)
	}
	if len(names) == 0 {
		return done, nil
	}
	before := done
	err := s.p.store.Write(ctx, func(tx Tx) error {
		done = before
		there, err := tx.Repos().List(ctx, Query[RepoFilter]{
			Scope: scopeOf(Branch{Relation: Children, UID: group}), Filter: RepoFilter{Names: names},
			Order: s.kind.DefaultOrder, Limit: len(names), Parts: PartItems,
		})
		if err != nil {
			return err
		}
		known := map[string]*Repo{}
		for _, r := range there.Items {
			known[r.Name] = r
		}
		var added []*Repo
		for _, name := range names {
			r := good[name]
			if known[name] == nil {
				s.kind.Stamp(&r.Repo, group.newChild(), s.p.now())
				added = append(added, &r.Repo)
				continue
			}
			if err := s.importOver(ctx, tx, known[name], r, &done, o); err != nil {
				return err
			}
		}
		done.Added = len(added)
		if err := insertImported(ctx, tx, s.resources, added, o); err != nil {
			return err
		}
		for _, r := range added {
			if text := good[r.Name].Readme; text != "" {
				if err := tx.SetReadme(ctx, r.UID, text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return done, err
}

func (s Repos) importOver(ctx context.Context, tx Tx, known *Repo, r *ImportedRepo, done *Imported, o ImportOptions) error {
	readmes, err := tx.Readmes(ctx, Keys{[]UID{known.UID}})
	if err != nil {
		return err
	}
	r.UID = known.UID
	if known.Description == r.Description && len(readmes) > 0 && readmes[0].Content == r.Readme {
		done.Unchanged++
		return nil
	}
	done.Updated++
	changed := &Repo{UID: known.UID, Description: r.Description, UpdateTime: s.p.now()}
	if err := tx.RepoRows().Update(ctx, changed, "description"); err != nil {
		return err
	}
	if !o.NoEvents {
		tx.Record(s.p.event(ctx, s.kind.Event, "updated", changed.UID, changed.UID.Parent(), changed))
	}
	return tx.SetReadme(ctx, known.UID, r.Readme)
}

// insertImported adds rows and records that they were created.
func insertImported[T any, F filter](ctx context.Context, tx Tx, r resources[T, F], rows []*T, o ImportOptions) error {
	if len(rows) == 0 {
		return nil
	}
	if err := r.rows(tx).Insert(ctx, rows...); err != nil {
		return err
	}
	if !o.NoEvents {
		for _, row := range rows {
			tx.Record(r.p.event(ctx, r.kind.Event, "created", r.kind.UID(row), r.kind.Group(row), row))
		}
	}
	return nil
}

// An ImportedTag is a tag and the repo it belongs to.
type ImportedTag struct {
	Repo UID
	Tag
}

// Import puts tags into repos by their names; one that points elsewhere moves.
func (s Tags) Import(ctx context.Context, tags []*ImportedTag, o ImportOptions) (Imported, error) {
	var done Imported
	if _, err := caller(ctx); err != nil {
		return done, err
	}
	type key struct {
		repo UID
		name string
	}
	good := map[key]*ImportedTag{}
	var order []key
	var scope Scope
	var names []string
	repos := map[UID]bool{}
	for i, t := range tags {
		var v violations
		v.uid("repo", t.Repo)
		s.kind.Check(&t.Tag, anything, &v)
		if done.reject(i, v) {
			continue
		}
		k := key{t.Repo, t.Name}
		if good[k] != nil {
			done.rejectTwice(i)
			continue
		}
		good[k], order, names = t, append(order, k), append(names, t.Name)
		if !repos[t.Repo] {
			repos[t.Repo] = true
			scope.branches = append(scope.branches, Branch{Relation: Children, UID: t.Repo})
		}
	}
	if len(order) == 0 {
		return done, nil
	}
	before := done
	err := s.p.store.Write(ctx, func(tx Tx) error {
		done = before
		there, err := tx.Tags().List(ctx, Query[TagFilter]{
			Scope: scope, Filter: TagFilter{Names: names}, Order: Order{Field: "uid"}, Limit: len(order) * len(repos), Parts: PartItems,
		})
		if err != nil {
			return err
		}
		known := map[key]*Tag{}
		for _, t := range there.Items {
			known[key{t.UID.Parent(), t.Name}] = t
		}
		var added []*Tag
		for _, k := range order {
			t := &good[k].Tag
			if known[k] == nil {
				s.kind.Stamp(t, k.repo.newChild(), s.p.now())
				added = append(added, t)
				continue
			}
			if err := s.importOver(ctx, tx, known[k], t, &done, o); err != nil {
				return err
			}
		}
		done.Added = len(added)
		return insertImported(ctx, tx, s.resources, added, o)
	})
	return done, err
}

func (s Tags) importOver(ctx context.Context, tx Tx, known, t *Tag, done *Imported, o ImportOptions) error {
	if known.Digest == t.Digest && known.Deprecated == t.Deprecated {
		done.Unchanged++
		return nil
	}
	done.Updated++
	s.kind.Stamp(t, known.UID, s.p.now())
	if err := tx.TagRows().Update(ctx, t, "digest", "deprecated"); err != nil {
		return err
	}
	if !o.NoEvents {
		tx.Record(s.p.event(ctx, s.kind.Event, "created", t.UID, s.kind.Group(t), t))
	}
	return nil
}

// Import stores images by repo and digest.
func (s Images) Import(ctx context.Context, images []*Image) (Imported, error) {
	var done Imported
	if _, err := caller(ctx); err != nil {
		return done, err
	}
	good := map[ImageKey]*Image{}
	var keys []ImageKey
	for i, image := range images {
		var v violations
		v.uid("repo", image.Repo)
		if !digestPattern.MatchString(image.Digest) {
			v.add("digest", "must match %s", digestPattern)
		}
		if done.reject(i, v) {
			continue
		}
		k := ImageKey{image.Repo, image.Digest}
		if good[k] != nil {
			done.rejectTwice(i)
			continue
		}
		good[k], keys = image, append(keys, k)
	}
	there, err := s.p.store.Images(ctx, ImageKeys{keys})
	if err != nil {
		return done, err
	}
	var changed []*Image
	done.Added = len(keys) - len(there)
	for _, known := range there {
		k := ImageKey{known.Repo, known.Digest}
		if equalJSON(known, good[k]) {
			done.Unchanged++
			delete(good, k)
			continue
		}
		done.Updated++
	}
	for _, k := range keys {
		if good[k] != nil {
			changed = append(changed, good[k])
		}
	}
	if len(changed) == 0 {
		return done, nil
	}
	return done, s.p.store.Write(ctx, func(tx Tx) error { return tx.PutImages(ctx, changed) })
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Import puts advisories into a group by advisory id and artifact name. One
// that is there is replaced, unless its update time is later. A record
// without times is as old as the import.
func (s Advisories) Import(ctx context.Context, group UID, advisories []*Advisory) (Imported, error) {
	var done Imported
	if err := s.p.importing(ctx, "Group", group); err != nil {
		return done, err
	}
	type key struct{ id, artifact string }
	good := map[key]*Advisory{}
	var order []key
	var ids []string
	for i, a := range advisories {
		var v violations
		a.checkImported(&v)
		if done.reject(i, v) {
			continue
		}
		k := key{a.AdvisoryID, a.ArtifactName}
		if good[k] != nil {
			done.rejectTwice(i)
			continue
		}
		good[k], order, ids = a, append(order, k), append(ids, a.AdvisoryID)
	}
	if len(order) == 0 {
		return done, nil
	}
	before := done
	err := s.p.store.Write(ctx, func(tx Tx) error {
		done = before
		there, err := tx.Advisories().List(ctx, Query[AdvisoryFilter]{
			Scope: scopeOf(Branch{Relation: Children, UID: group}), Filter: AdvisoryFilter{AdvisoryIDs: ids},
			Order: s.kind.DefaultOrder, Limit: 1 << 20, Parts: PartItems,
		})
		if err != nil {
			return err
		}
		known := map[key]*Advisory{}
		for _, a := range there.Items {
			known[key{a.AdvisoryID, a.ArtifactName}] = a
		}
		var added []*Advisory
		for _, k := range order {
			switch a, old := good[k], known[k]; {
			case old == nil:
				a.stampImported(group.newChild(), s.p.now())
				added = append(added, a)
			case a.sameContent(old), !a.UpdateTime.IsZero() && a.UpdateTime.Before(old.UpdateTime.Time):
				done.Unchanged++
			default:
				done.Updated++
				a.stampImported(old.UID, s.p.now())
				if err := tx.AdvisoryRows().Update(ctx, a, advisoryContent...); err != nil {
					return err
				}
			}
		}
		done.Added = len(added)
		if len(added) == 0 {
			return nil
		}
		return tx.AdvisoryRows().Insert(ctx, added...)
	})
	return done, err
}

// advisoryContent are the fields that an import replaces.
var advisoryContent = []string{"deleteTime", "author", "artifactType", "aliases", "events", "severities", "origin"}

func (a *Advisory) checkImported(v *violations) {
	for _, x := range []struct{ field, s string }{{"advisoryId", a.AdvisoryID}, {"artifactName", a.ArtifactName}} {
		switch {
		case x.s == "":
			v.add(x.field, "is required")
		case len(x.s) > maxNameBytes:
			v.add(x.field, "must be at most %d bytes", maxNameBytes)
		default:
			v.line(x.field, x.s)
		}
	}
}

func (a *Advisory) stampImported(uid UID, now Time) {
	a.UID = uid
	if a.CreateTime.IsZero() {
		a.CreateTime = now
	}
	if a.UpdateTime.IsZero() {
		a.UpdateTime = now
	}
	for i := range a.Events {
		a.Events[i].UID = uid.newChild()
	}
}

// sameContent compares what a source says, leaving out what Atrium added.
func (a *Advisory) sameContent(b *Advisory) bool {
	bare := func(a *Advisory) Advisory {
		c := *a
		c.UID, c.CreateTime, c.UpdateTime = "", Time{}, Time{}
		c.Events = append([]AdvisoryEvent(nil), a.Events...)
		for i := range c.Events {
			c.Events[i].UID = ""
		}
		return c
	}
	return a.Origin == b.Origin && equalJSON(bare(a), bare(b))
}

// Import stores vulnerability metadata by id, as Advisories.Import does.
func (s Vulnerabilities) Import(ctx context.Context, vulnerabilities []*Vulnerability) (Imported, error) {
	var done Imported
	if actor, err := caller(ctx); err != nil || actor.operator == "" {
		return done, errors.Join(err, errNotOperator)
	}
	good := map[string]*Vulnerability{}
	var ids []string
	for i, vuln := range vulnerabilities {
		var v violations
		if vuln.ID == "" || len(vuln.ID) > maxNameBytes {
			v.add("id", "must be 1 to %d bytes", maxNameBytes)
		}
		if done.reject(i, v) {
			continue
		}
		if good[vuln.ID] != nil {
			done.rejectTwice(i)
			continue
		}
		good[vuln.ID], ids = vuln, append(ids, vuln.ID)
	}
	if len(ids) == 0 {
		return done, nil
	}
	before := done
	err := s.p.store.Write(ctx, func(tx Tx) error {
		done = before
		there, err := tx.Vulnerabilities().List(ctx, Query[VulnerabilityFilter]{
			Scope: scopeOf(Branch{Relation: Everything}), Filter: VulnerabilityFilter{IDs: ids},
			Order: s.kind.DefaultOrder, Limit: 1 << 20, Parts: PartItems,
		})
		if err != nil {
			return err
		}
		known := map[string]*Vulnerability{}
		for _, vuln := range there.Items {
			known[vuln.ID] = vuln
		}
		var added []*Vulnerability
		for _, id := range ids {
			switch vuln, old := good[id], known[id]; {
			case old == nil:
				added = append(added, vuln)
			case vuln.sameContent(old), !vuln.UpdateTime.IsZero() && vuln.UpdateTime.Before(old.UpdateTime.Time):
				done.Unchanged++
			default:
				done.Updated++
				if err := tx.VulnerabilityRows().Update(ctx, vuln, "summary", "details", "references", "severities", "aliases"); err != nil {
					return fmt.Errorf("%s: %w", id, err)
				}
			}
		}
		done.Added = len(added)
		if len(added) == 0 {
			return nil
		}
		return tx.VulnerabilityRows().Insert(ctx, added...)
	})
	return done, err
}

func (v *Vulnerability) sameContent(w *Vulnerability) bool {
	return equalJSON(v, w) && equalJSON(v.Aliases, w.Aliases)
}
