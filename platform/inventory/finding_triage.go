package inventory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/platform/affected"
	"atrium/platform/core"
)

// A TriageRule decides about the findings of a vulnerability in a group, or in a repo, and about those
// that appear there later. VEX documents become rules.
type TriageRule struct {
	UID             core.UID `json:"uid"`
	Scope           core.UID `json:"scope"`                     // group or repo
	VulnerabilityID string   `json:"vulnerabilityId,omitempty"` // id of the advisory, or another name of it; "" with a pattern
	Package         string   `json:"package,omitempty"`         // as its ecosystem spells it; "" means any
	Ecosystem       string   `json:"ecosystem,omitempty"`       // as OSV names it, with or without the release; "" means any
	Version         string   `json:"version,omitempty"`         // installed version, or a range such as vers:npm/>=1.0.0|<2.0.0; "" means any
	Digest          string   `json:"digest,omitempty"`          // "" means any image
	Image           string   `json:"image,omitempty"`           // name of images, such as ghcr.io/acme/shop, with or without what is before the last slashes; "" means any
	Product         Product  `json:"product,omitzero"`          // the image holds this package, of which Package is a part

	Pattern *FindingPattern `json:"pattern,omitempty"` // which findings it is for, in place of all of the above but Scope

	State         FindingState `json:"state"`
	Justification string       `json:"justification,omitempty"`
	Note          string       `json:"note,omitempty"`
	ExpireTime    core.Time    `json:"expireTime,omitzero"`
	CreateTime    core.Time    `json:"createTime,omitzero"` // when it was decided
	Author        string       `json:"author,omitempty"`    // the UID of an identity, or the name of an operator's command

	repos  map[core.UID]bool      // those of Image, or with the labels of Pattern, among the repos for which the rule was read
	images map[core.ImageKey]bool // those that hold Product
}

// A Product is a package that images hold, or any if it has no name.
type Product struct {
	Package   string `json:"package"`
	Ecosystem string `json:"ecosystem,omitempty"` // with or without the release; "" means any
	Version   string `json:"version,omitempty"`   // as that of a rule
}

// A triageTarget is what a rule is about. There is one rule for each.
type triageTarget struct {
	scope                                                         core.UID
	vulnerability, packageName, ecosystem, version, digest, image string
	product                                                       Product
}

func (r *TriageRule) target() triageTarget {
	return triageTarget{r.Scope, r.VulnerabilityID, r.Package, r.Ecosystem, r.Version, r.Digest, r.Image, r.Product}
}

// setUID sets the UID, which follows from what the rule is about.
func (r *TriageRule) setUID() {
	r.UID = r.Scope + "/" + core.UID(hashTexts("rule", r.VulnerabilityID, r.Package, r.Ecosystem, r.Version, r.Digest, r.Image, r.Product.Package, r.Product.Ecosystem, r.Product.Version, r.Pattern.text()))
}

// A decision is what callers and rules decide about a finding.
type decision struct {
	state               FindingState
	justification, note string
	expireTime          core.Time
	author              string // who decided; "" if that is not known
}

func (r *TriageRule) decision() decision {
	return decision{r.State, r.Justification, r.Note, r.ExpireTime, r.Author}
}

func (f *Finding) decision() decision {
	return decision{f.State, f.Justification, f.Note, f.ExpireTime, f.DecidedBy}
}

// decide sets what was decided, and by what.
func (f *Finding) decide(d decision, by string) {
	f.State, f.Justification, f.Note, f.ExpireTime, f.Decision = d.state, d.justification, d.note, d.expireTime, by
	f.DecidedBy = d.author
}

// equals reports whether two decisions say the same, whoever says it.
func (d decision) equals(other decision) bool {
	return d.state == other.state && d.justification == other.justification && d.note == other.note && d.expireTime.Equal(other.expireTime.Time)
}

// hasEnded reports whether the time of the decision is over.
func (d decision) hasEnded(now core.Time) bool {
	return !d.expireTime.IsZero() && !d.expireTime.After(now.Time)
}

// triageRules are the rules for repos, those that count more first.
type triageRules struct {
	naming   map[core.UID][]namingRule // by the advisories that represent those that they name
	patterns []*TriageRule
	policies []*DuePolicy
}

// A namingRule is a rule with the groups of the advisories that it names.
type namingRule struct {
	*TriageRule
	groups []core.UID
}

// decide sets what the rules decide about a finding. Of several rules, that of the closest group
// counts, of those the one that says most about the image and the package, and of those the
// newest. What was decided about the finding itself counts more, and a rule with a pattern less than any that names the
// vulnerability. Decisions about binary packages count for the finding of their source once they say the same of all that the
// image holds.
func (r triageRules) decide(f *Finding, now core.Time) {
	if f.Decision == DecisionOfFinding {
		return
	}
	covered := map[FindingState][]string{} // binary packages that are decided about one by one
	for _, rule := range r.naming[f.Representative] {
		if !slices.ContainsFunc(rule.groups, func(group core.UID) bool { return IsAbove(group, f.Repo) }) || !rule.isFor(f) || rule.decision().hasEnded(now) {
			continue
		}
		if !rule.isAbout(f.Ecosystem, f.installedPackage()) {
			covered[rule.State] = append(covered[rule.State], rule.Package)
			if !coversBinaries(f, covered[rule.State]) {
				continue
			}
		}
		f.decide(rule.decision(), string(rule.UID))
		return
	}
	r.accept(f, now)
}

// isFor reports whether the rule is for a finding of a vulnerability that it names: about its package, or about one
// that was built of that.
func (r *TriageRule) isFor(f *Finding) bool {
	return f.Repo.Within(r.Scope) && (r.Digest == "" || r.Digest == f.Digest) && (r.Image == "" || r.repos[f.Repo]) && (r.Product.Package == "" || r.images[f.Image()]) &&
		(f.Ecosystem == "" || coversEcosystem(r.Ecosystem, f.Ecosystem)) &&
		(r.isAbout(f.Ecosystem, f.installedPackage()) || slices.ContainsFunc(f.BinaryPackages, func(p BinaryPackage) bool { return r.isAbout(f.Ecosystem, p) }))
}

// installedPackage returns the package and the version that the finding is about.
func (f *Finding) installedPackage() BinaryPackage {
	return BinaryPackage{f.Package, f.InstalledVersion}
}

// isAbout reports whether the rule names a package and its version, or none.
func (r *TriageRule) isAbout(ecosystem string, p BinaryPackage) bool {
	return (r.Package == "" || isSamePackage(ecosystem, r.Package, p.Name)) && (r.Version == "" || affected.InVersions(ecosystem, r.Version, p.Version))
}

// coversBinaries reports whether all that the image holds of a source package is among names.
func coversBinaries(f *Finding, names []string) bool {
	return !slices.ContainsFunc(f.BinaryPackages, func(p BinaryPackage) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return isSamePackage(f.Ecosystem, name, p.Name) })
	})
}

// isSamePackage compares names of packages as their ecosystem does.
func isSamePackage(ecosystem, a, b string) bool {
	return a == b || (&Package{Name: a, Ecosystem: ecosystem}).NormalName() == (&Package{Name: b, Ecosystem: ecosystem}).NormalName()
}

// is reports whether a version of a package is the product.
func (p Product) is(v *PackageVersion) bool {
	return isSamePackage(v.Package.Ecosystem, p.Package, v.Package.Name) &&
		coversEcosystem(p.Ecosystem, v.Package.Ecosystem) && (p.Version == "" || affected.InVersions(v.Package.Ecosystem, p.Version, v.Version))
}

// coversEcosystem reports whether what is decided for an ecosystem, or for any, holds for an installed package. What holds for a
// release does not for a package of which the release is not known.
func coversEcosystem(decided, installed string) bool {
	return decided == "" || affected.SameEcosystem(decided, installed) && (strings.Contains(installed, ":") || !strings.Contains(decided, ":"))
}

// isNameOf reports whether a name of images, which may lack its registry, is that of a repo. Where its tags came from says
// it best; otherwise the name of the repo is the end of the name.
func isNameOf(image string, repo *Repo, sources []string) bool {
	isSource := func(source string) bool { return strings.HasSuffix("/"+source, "/"+image) }
	return slices.ContainsFunc(sources, isSource) || len(sources) == 0 && strings.HasSuffix("/"+image, "/"+repo.Name)
}

// detail counts what the rule says about the findings that it is for; an image says most.
func (r *TriageRule) detail() int {
	return 16*bit(r.Digest != "") + 8*bit(r.Image != "") + 4*bit(r.Product.Package != "") + 2*bit(r.Package != "") + bit(r.Version != "")
}

// locate finds the repos and the images that rules name. contents are images whose packages may not be stored yet.
func (s Findings) locate(ctx context.Context, on core.Conn, rules []*TriageRule, repos []*Repo, contents []*content) error {
	var names []string
	hasImages := false
	for _, r := range rules {
		r.repos, r.images, hasImages = map[core.UID]bool{}, map[core.ImageKey]bool{}, hasImages || r.Image != ""
		if r.Product.Package != "" {
			names = append(names, (&Package{Name: r.Product.Package, Ecosystem: r.Product.Ecosystem}).NormalName())
		}
	}
	for _, repo := range repos {
		for _, r := range rules {
			r.repos[repo.UID] = r.Pattern != nil && r.Pattern.isLabeled(repo)
		}
		if hasImages {
			sources, err := s.area.tables.TagSources(ctx, on, repo.UID)
			if err != nil {
				return err
			}
			for _, r := range rules {
				r.repos[repo.UID] = r.repos[repo.UID] || r.Image != "" && isNameOf(r.Image, repo, sources)
			}
		}
		if names == nil {
			continue
		}
		held, err := s.holding(ctx, on, repo.UID, names, contents)
		if err != nil {
			return err
		}
		for digest, versions := range held {
			for _, r := range rules {
				r.images[core.ImageKey{Repo: repo.UID, Digest: digest}] = slices.ContainsFunc(versions, r.Product.is)
			}
		}
	}
	return nil
}

// holding reads which versions of packages with normal names the live images of a repo hold, by their digests.
func (s Findings) holding(ctx context.Context, on core.Conn, repo core.UID, names []string, contents []*content) (map[string][]*PackageVersion, error) {
	holders, err := s.area.tables.Holders(ctx, on, repo, names)
	if err != nil {
		return nil, err
	}
	uids, held := make([]core.UID, len(holders)), map[string][]*PackageVersion{}
	for i, h := range holders {
		uids[i] = h.Version
	}
	versions, err := s.versionsByUID(ctx, on, uids)
	for _, h := range holders {
		if v := versions[h.Version]; v != nil {
			held[h.Digest] = append(held[h.Digest], v)
		}
	}
	for _, c := range contents {
		for _, v := range c.candidates {
			held[c.status.Digest] = append(held[c.status.Digest], v.PackageVersion)
		}
	}
	return held, err
}

// readRules reads the rules for findings of advisories in repos.
func (s Findings) readRules(ctx context.Context, on core.Conn, repos []*Repo, advisories []*Advisory, contents []*content) (triageRules, error) {
	var names []string
	for _, a := range advisories {
		names = append(names, a.AllNames()...)
	}
	if len(names) == 0 {
		return triageRules{}, nil
	}
	names = append(names, anyVulnerability)
	slices.Sort(names)
	uids := make([]core.UID, len(repos))
	for i, repo := range repos {
		uids[i] = repo.UID
	}
	found, policies, err := s.area.tables.RulesAndPolicies(ctx, on, scopesAround(uids), slices.Compact(names))
	if err == nil {
		err = s.locate(ctx, on, found, repos, contents)
	}
	rules := triageRules{naming: map[core.UID][]namingRule{}, policies: policies}
	if err != nil || len(found) == 0 {
		return rules, err
	}
	slices.SortFunc(found, compareRules)
	for _, rule := range found {
		if rule.Pattern != nil {
			rules.patterns = append(rules.patterns, rule)
		}
	}
	byName := map[string][]int{}
	for i, rule := range found {
		byName[rule.VulnerabilityID] = append(byName[rule.VulnerabilityID], i)
	}
	type key struct {
		representative core.UID
		rule           int
	}
	groups := map[key][]core.UID{}
	for _, a := range advisories {
		for _, name := range a.AllNames() {
			for _, i := range byName[name] {
				groups[key{a.Representative, i}] = append(groups[key{a.Representative, i}], a.UID.Parent())
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b key) int { return a.rule - b.rule }) {
		rules.naming[k.representative] = append(rules.naming[k.representative], namingRule{found[k.rule], groups[k]})
	}
	return rules, nil
}

// AllNames lists the names by which the advisory is known, and by which a rule can be about it: its own, and those of what it
// comes from, as DEBIAN-CVE-2021-44228 comes from CVE-2021-44228.
func (a *Advisory) AllNames() []string { return append(a.Names(), a.Upstream...) }

// compareRules sorts rules: those that count more come first.
func compareRules(a, b *TriageRule) int {
	return cmp.Or(cmp.Compare(len(b.Scope), len(a.Scope)), cmp.Compare(b.detail(), a.detail()),
		b.CreateTime.Compare(a.CreateTime.Time), core.CompareTexts(b.UID, a.UID))
}

// scopesAround lists repos, or groups, and the groups around them.
func scopesAround(uids []core.UID) (scopes []core.UID) {
	for _, uid := range uids {
		scopes = append(append(scopes, uid.Ancestors()...), uid)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
