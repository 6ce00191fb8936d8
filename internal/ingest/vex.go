package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"atrium/internal/vex"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// ImportVEX imports statements of VEX documents (OpenVEX, CycloneDX and CSAF) from JSON files, folders and archives, as
// decisions of the group about findings, also about those that appear later. Statements can be about components of other
// documents of the same import. When it ends, the findings have the states that follow.
func ImportVEX(ctx context.Context, p *platform.Platform, paths []string, o Options) (Summary, error) {
	c := &vexImport{reporter: &reporter{options: o}}
	remove, err := c.reporter.readPipe(paths...)
	if err != nil {
		return Summary{}, err
	}
	defer remove()
	c.rules = newBatch("decisions", c.reporter, func(ctx context.Context, rows []*inventory.TriageRule) (core.Imported, error) {
		done, err := p.Findings.ImportRules(ctx, o.Group, rows)
		for i := range done.Rejected {
			rows[i].UID = ""
		}
		return done, err
	}, func(r *inventory.TriageRule) string {
		return strings.Join([]string{r.VulnerabilityID, r.Package, r.Ecosystem, r.Version, r.Digest, r.Image, r.Product.Package, r.Product.Ecosystem, r.Product.Version}, "\x00")
	})
	reader := documentReader{reporter: c.reporter, handle: func(at Place, document []byte) error { return c.read(ctx, at, document) }}
	err = reader.measure(paths)
	if err == nil {
		err = reader.read(ctx, paths)
	}
	if err == nil {
		err = c.resolve(ctx)
	}
	if err == nil {
		err = c.rules.flush(ctx)
	}
	err = c.reporter.finish(err)
	sum := Summary{Kinds: []KindCounts{c.rules.kind}, Unreadable: c.reporter.unreadable}
	if err == nil {
		err = p.Findings.SettleIn(ctx, o.Group.Root())
	}
	if err == nil {
		sum.Waiting, err = c.countWaiting(ctx, p, o.Group)
	}
	return sum, err
}

// maxNamesAtOnce limits the vulnerabilities that one statement looks for.
const maxNamesAtOnce = 500

// countWaiting counts the statements that decide about no finding.
func (c *vexImport) countWaiting(ctx context.Context, p *platform.Platform, group core.UID) (waiting int, err error) {
	var names []string
	for _, rules := range c.stated {
		for _, r := range rules {
			names = append(names, r.VulnerabilityID)
		}
	}
	slices.Sort(names)
	decides := map[core.UID]bool{}
	for some := range slices.Chunk(slices.Compact(names), maxNamesAtOnce) {
		deciding, err := p.Findings.Deciding(ctx, group, some)
		if err != nil {
			return 0, err
		}
		for _, uid := range deciding {
			decides[uid] = true
		}
	}
	for _, rules := range c.stated {
		isStored := slices.ContainsFunc(rules, func(r *inventory.TriageRule) bool { return r.UID != "" })
		if isStored && !slices.ContainsFunc(rules, func(r *inventory.TriageRule) bool { return decides[r.UID] }) {
			waiting++
		}
	}
	return waiting, nil
}

// A vexImport is one import of VEX documents.
type vexImport struct {
	reporter *reporter
	rules    *batch[inventory.TriageRule, string]
	library  vex.Library
	waiting  []placedDocument          // those that may be about components of others, and those with such components
	stated   [][]*inventory.TriageRule // the rules of each statement
}

type placedDocument struct {
	at       Place
	document *vex.Document
}

// The reasons why a document cannot be used.
var (
	errManyComponents = errors.New("has more components than an import can follow, beside those of the documents before it")
	errNoStatements   = errors.New("states nothing about vulnerabilities, and no other document refers to its components; import it with `atrium import sbom`")
)

// read imports the statements of a document, except those about components of others.
func (c *vexImport) read(ctx context.Context, at Place, text []byte) error {
	d, err := vex.Parse(text)
	if err != nil {
		c.reporter.reportUnreadable(at, err)
		return nil
	}
	if !c.library.Add(d) {
		c.reporter.reportUnreadable(at, errManyComponents)
		return nil
	}
	if d.IsBOM || d.Refers() {
		c.waiting = append(c.waiting, placedDocument{at, d})
	}
	return c.add(ctx, at, d, len(text))
}

// resolve imports the statements about components of other documents.
func (c *vexImport) resolve(ctx context.Context) error {
	for _, w := range c.waiting {
		if err := c.add(ctx, w.at, c.library.Resolve(w.document), 0); err != nil {
			return err
		}
	}
	for _, w := range c.waiting {
		if w.document.IsBOM && !c.library.Uses(w.document) {
			c.reporter.reportUnreadable(w.at, errNoStatements)
		}
	}
	return nil
}

// add imports the statements of a document.
func (c *vexImport) add(ctx context.Context, at Place, d *vex.Document, bytes int) error {
	for _, problem := range d.Problems {
		c.rules.fail(at, problem)
	}
	for _, s := range d.Statements {
		var rules []*inventory.TriageRule // one for each name, of which the advisory that comes may have any
		for _, name := range s.Names() {
			rules = append(rules, &inventory.TriageRule{
				VulnerabilityID: name, Package: s.Target.Name, Ecosystem: s.Target.Ecosystem, Version: s.Target.Version, Digest: s.Target.Digest,
				Image: s.Target.Image, Product: inventory.Product{Package: s.Target.Product.Name, Ecosystem: s.Target.Product.Ecosystem, Version: s.Target.Product.Version},
				State: inventory.FindingState("FINDING_STATE_" + s.State), Justification: s.Justification, Note: s.Note,
				CreateTime: core.At(s.Time), ExpireTime: core.At(s.ExpireTime),
			})
		}
		c.stated = append(c.stated, rules)
		for _, rule := range rules {
			if err := c.rules.add(ctx, rule, at, bytes/len(d.Statements)); err != nil {
				return err
			}
		}
	}
	return nil
}
