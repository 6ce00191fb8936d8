package vex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A csaf is a document of the Common Security Advisory Framework 2.0, or 2.1 (https://docs.oasis-open.org/csaf/csaf/v2.0).
// It has the members that say which products a vulnerability affects. They are decoded here and not by
// github.com/gocsaf/csaf, because that is a downloader and a checker of whole documents, with an HTTP client, OpenPGP and
// an engine for JSON schemas, and refuses a document for what says nothing about products.
type csaf struct {
	Document struct {
		Version  string `json:"csaf_version"`
		Tracking struct {
			Released time.Time `json:"current_release_date"`
		} `json:"tracking"`
	} `json:"document"`
	Tree            csafTree            `json:"product_tree"`
	Vulnerabilities []csafVulnerability `json:"vulnerabilities"`
}

type csafTree struct {
	Branches []csafBranch  `json:"branches"`
	Products []csafProduct `json:"full_product_names"`
	Groups   []struct {
		ID       string   `json:"group_id"`
		Products []string `json:"product_ids"`
	} `json:"product_groups"`
	Relationships []struct {
		Product   csafProduct `json:"full_product_name"`
		Part      string      `json:"product_reference"`
		RelatesTo string      `json:"relates_to_product_reference"`
	} `json:"relationships"`
}

type csafBranch struct {
	Category string       `json:"category"`
	Name     string       `json:"name"`
	Branches []csafBranch `json:"branches"`
	Product  *csafProduct `json:"product"`
}

type csafProduct struct {
	ID     string `json:"product_id"`
	Name   string `json:"name"`
	Helper struct {
		PURL  string   `json:"purl"`
		PURLs []string `json:"purls"` // of version 2.1
		CPE   string   `json:"cpe"`
	} `json:"product_identification_helper"`
}

type csafVulnerability struct {
	CVE string `json:"cve"`
	IDs []struct {
		Text string `json:"text"`
	} `json:"ids"`
	Status       map[string][]string `json:"product_status"`
	Flags        []csafRemark        `json:"flags"`
	Threats      []csafRemark        `json:"threats"`
	Remediations []csafRemark        `json:"remediations"`
}

// A csafRemark is a flag, a threat or a remediation of some products, or of all if it names none.
type csafRemark struct {
	Label    string   `json:"label"`
	Category string   `json:"category"`
	Details  string   `json:"details"`
	Products []string `json:"product_ids"`
	Groups   []string `json:"group_ids"`
}

// csafStatuses are those that say something of a product. Where several are about the same package, the first one counts, so that
// nothing that is affected in one form is taken for harmless. Those without a state say nothing of whether a product is affected.
var csafStatuses = []struct{ name, state string }{
	{"known_affected", Open}, {"first_affected", Open}, {"last_affected", Open}, {"under_investigation", InTriage},
	{"known_not_affected", NotAffected}, {"fixed", NotAffected}, {"first_fixed", NotAffected}, {"recommended", ""}, {"unknown", ""},
}

// A csafReader reads the statements of a document.
type csafReader struct {
	*Document
	products map[string][]Target // by their ids
	unknown  map[string]error    // products that nothing identifies, and why
	groups   map[string][]string // the groups of products
}

func parseCSAF(text []byte) (*Document, error) {
	var read csaf
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("the document is not valid CSAF: %w", err)
	}
	if !strings.HasPrefix(read.Document.Version, "2.") {
		return nil, &Error{"document.csaf_version", fmt.Sprintf("is %.100q, want 2.0", read.Document.Version)}
	}
	r := &csafReader{&Document{}, map[string][]Target{}, map[string]error{}, map[string][]string{}}
	r.readTree(&read.Tree)
	for i := range read.Vulnerabilities {
		r.readVulnerability(&read.Vulnerabilities[i], fmt.Sprintf("vulnerabilities[%d]", i), read.Document.Tracking.Released)
	}
	if len(read.Vulnerabilities) == 0 {
		r.refuse("vulnerabilities", "is empty")
	}
	return r.Document, nil
}

// Limits of what products are made of.
const (
	maxChain   = 10  // products in products
	maxTargets = 100 // package URLs of one product
)

// readTree notes what products are.
func (r *csafReader) readTree(tree *csafTree) {
	r.readBranches(tree.Branches, Package{})
	for i := range tree.Products {
		r.addProduct(&tree.Products[i], Package{})
	}
	for _, g := range tree.Groups {
		for _, id := range g.Products {
			r.groups[id] = append(r.groups[id], groupMark+g.ID)
		}
	}
	for range maxChain { // a relationship can be about the product of another one that comes later
		if !r.readRelationships(tree) {
			return
		}
	}
}

// readBranches notes the products of branches. Without a package URL, a product is known by the names of its branches. Red Hat
// writes the names of packages without a version as versions of nothing.
func (r *csafReader) readBranches(branches []csafBranch, named Package) {
	for i := range branches {
		b, is := &branches[i], named
		switch b.Category {
		case "product_name":
			is.Name = b.Name
		case "product_version", "product_version_range":
			is.Version = b.Name
		}
		if b.Product != nil && is.Name == "" {
			r.addProduct(b.Product, Package{Name: is.Version})
		} else if b.Product != nil {
			r.addProduct(b.Product, is)
		}
		r.readBranches(b.Branches, is)
	}
}

// redHatCPE matches the name of a product of Red Hat. What follows it names a release in OSV too.
var redHatCPE = regexp.MustCompile(`^cpe:/[aoh]:redhat:([^:]+:.+)$`)

// addProduct notes what a product is, by its package URLs or else by its name.
func (r *csafReader) addProduct(p *csafProduct, named Package) {
	var all []Target
	for _, purl := range append(p.Helper.PURLs, p.Helper.PURL) {
		if purl == "" {
			continue
		}
		target, err := targetOf(purl)
		if err != nil {
			r.unknown[p.ID] = err
			return
		}
		all = append(all, target)
	}
	if release := redHatCPE.FindStringSubmatch(p.Helper.CPE); all == nil && release != nil {
		named.Ecosystem = "Red Hat:" + release[1]
	}
	if all == nil && named.Name != "" {
		all = []Target{{Package: named}}
	}
	if all == nil {
		r.unknown[p.ID] = fmt.Errorf("%.100q has neither a package URL nor a branch with its name", cmp.Or(p.Name, p.ID))
		return
	}
	r.products[p.ID] = all
}

// readRelationships notes parts of products, and reports whether it has found some.
func (r *csafReader) readRelationships(tree *csafTree) (found bool) {
	for _, link := range tree.Relationships {
		if r.products[link.Product.ID] != nil || r.products[link.Part] == nil || r.products[link.RelatesTo] == nil {
			continue
		}
		all, err := partsOf(r.products[link.RelatesTo], r.products[link.Part])
		if err != nil {
			r.unknown[link.Product.ID] = err
			continue
		}
		r.products[link.Product.ID], found = all, true
	}
	return found
}

// partsOf returns what parts of products are.
func partsOf(products, parts []Target) (all []Target, err error) {
	if len(products)*len(parts) > maxTargets {
		return nil, fmt.Errorf("it has more than %d package URLs", maxTargets)
	}
	for _, product := range products {
		for _, part := range parts {
			inside, err := part.inProduct(product)
			if err != nil {
				return nil, err
			}
			all = append(all, inside)
		}
	}
	return all, nil
}

// inProduct returns a part of a product. The product can be a distribution, whose packages have its release.
func (t Target) inProduct(product Target) (Target, error) {
	isRelease := strings.HasPrefix(product.Ecosystem, "Red Hat:")
	if isRelease && t.Ecosystem == "Red Hat" || t.Ecosystem == "" && strings.HasPrefix(product.Ecosystem, "Red Hat:enterprise_linux:") && t.Digest+t.Image == "" {
		t.Ecosystem = product.Ecosystem
		return t, nil
	}
	if t.Digest+t.Image != "" { // an image is what it is, in whatever product
		return t, nil
	}
	return t.partOf(product)
}

// vulnerabilityID matches ids of vulnerabilities. Documents also list the numbers of reports of bugs.
var vulnerabilityID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*-\S+$`)

func (r *csafReader) readVulnerability(v *csafVulnerability, place string, released time.Time) {
	names := []string{v.CVE}
	for _, id := range v.IDs {
		if vulnerabilityID.MatchString(id.Text) {
			names = append(names, id.Text)
		}
	}
	if names[0] == "" {
		names = names[1:]
	}
	if len(names) == 0 {
		r.refuse(place, "has neither a cve nor an id of a vulnerability in ids")
		return
	}
	if len(v.Status) == 0 {
		r.refuse(place+".product_status", "is missing or empty")
	}
	said, about := map[Target]bool{}, r.indexRemarks(v)
	for _, status := range csafStatuses {
		at := fmt.Sprintf("%s.product_status.%s", place, status.name)
		var unknown []error
		for _, id := range v.Status[status.name] {
			if status.state == "" {
				break
			}
			targets, err := r.find(id)
			if err != nil {
				unknown = append(unknown, err)
			}
			for _, target := range targets {
				if said[target] {
					continue
				}
				said[target] = true
				s := Statement{Place: at, Vulnerability: names[0], Aliases: names[1:], Target: target, State: status.state, Time: released}
				about(&s, id)
				if strings.HasSuffix(status.name, "fixed") { // what is said is about the versions before the fix
					s.Justification, s.Note = "", isFixed
				}
				r.Statements = append(r.Statements, s)
			}
		}
		if len(unknown) > 0 {
			r.refuse(at, "%d of %d products cannot be identified; the first one: %v", len(unknown), len(v.Status[status.name]), unknown[0])
		}
		delete(v.Status, status.name)
	}
	for name := range v.Status {
		r.refuse(place+".product_status", "%.100q is not known", name)
	}
}

// find returns what a product is.
func (r *csafReader) find(id string) ([]Target, error) {
	if targets := r.products[id]; targets != nil {
		return targets, nil
	}
	if err := r.unknown[id]; err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%.100q is not a product of product_tree that a package URL or a name identifies", id)
}

// indexRemarks returns a function that adds the justification and the note of a statement about a product.
func (r *csafReader) indexRemarks(v *csafVulnerability) (explain func(s *Statement, id string)) {
	type key struct{ state, subject string }
	labels, notes := map[string]string{}, map[key][]string{}
	for _, flag := range v.Flags {
		for _, subject := range flag.subjects() {
			if labels[subject] == "" && slices.Contains(justifications, flag.Label) {
				labels[subject] = flag.Label
			}
		}
	}
	note := func(state string, remark csafRemark) {
		for _, subject := range remark.subjects() {
			if before := notes[key{state, subject}]; len(before) < maxRemarks && !slices.Contains(before, remark.Details) {
				notes[key{state, subject}] = append(before, remark.Details)
			}
		}
	}
	for _, remark := range v.Threats {
		if remark.Category == "impact" {
			note(NotAffected, remark)
		}
	}
	for _, remark := range v.Remediations {
		note(Open, remark)
	}
	return func(s *Statement, id string) {
		var all []string
		for _, subject := range slices.Concat([]string{id}, r.groups[id], []string{everyProduct}) {
			if s.State == NotAffected {
				s.Justification = cmp.Or(s.Justification, labels[subject])
			}
			all = append(all, notes[key{s.State, subject}]...)
		}
		if s.Note = joinTexts(all...); len(s.Note) > maxNote {
			s.Note = strings.ToValidUTF8(s.Note[:maxNote], "") + " [...]"
		}
	}
}

// Limits of the note that remarks become. Some products have a remediation for each of their releases.
const (
	maxRemarks = 5 // about a product, about a group, and about all
	maxNote    = 4 << 10
)

// What remarks are about beside products, whose ids have no such character.
const (
	everyProduct = "\x00"
	groupMark    = "\x00group "
)

// subjects lists what a remark is about.
func (remark *csafRemark) subjects() []string {
	all := remark.Products
	for _, group := range remark.Groups {
		all = append(all, groupMark+group)
	}
	if len(all) == 0 {
		return []string{everyProduct}
	}
	return all
}
