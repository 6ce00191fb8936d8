package platform

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// The names of artifacts are compared as their ecosystem compares the names of packages. All
// names of an artifact have one normal form. An image has names of packages without their
// ecosystems, so a name can be that of several artifacts.

// A NameRule says which names an ecosystem takes for the same. "" means that it compares them
// byte by byte.
type NameRule string

const (
	pythonNames  NameRule = "python"  // PEP 503
	anyCaseNames NameRule = "anycase" // case is ignored
)

var nameRules = []NameRule{pythonNames, anyCaseNames}

// ecosystemRules has the rules of ecosystems, by their names in the OSV schema. The rules are
// those of Package URL, and of NuGet.
var ecosystemRules = map[string]NameRule{
	"PyPI": pythonNames,
	"npm":  anyCaseNames, "NuGet": anyCaseNames, "Packagist": anyCaseNames, "Hex": anyCaseNames, "Pub": anyCaseNames,
	"GitHub Actions": anyCaseNames, "VSCode": anyCaseNames, "Bitnami": anyCaseNames,
	"Debian": anyCaseNames, "Ubuntu": anyCaseNames,
	"Alpine": anyCaseNames, "Wolfi": anyCaseNames, "Chainguard": anyCaseNames, "MinimOS": anyCaseNames, "Alpaquita": anyCaseNames,
}

// separators are the parts of names that PEP 503 takes for the same.
var separators = regexp.MustCompile(`[-_.]+`)

// normalizePythonName returns the normal form of a name by PEP 503.
func normalizePythonName(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// normalize returns the normal form of a name. A name that no ecosystem with the rule has stays
// as it is.
func (r NameRule) normalize(name string) string {
	switch {
	case r == pythonNames && !strings.ContainsAny(name, ":/@"):
		return normalizePythonName(name)
	case r == anyCaseNames && !strings.Contains(name, ":"):
		return strings.ToLower(name)
	default:
		return name
	}
}

// NameRule returns the rule for the name of the artifact. The release of an ecosystem
// (Debian:12) does not change the rule.
func (a *Advisory) NameRule() NameRule { return nameRuleOf(a.ArtifactType) }

// nameRuleOf returns the rule of an ecosystem, with or without a release.
func nameRuleOf(ecosystem string) NameRule {
	name, _, _ := strings.Cut(ecosystem, ":")
	return ecosystemRules[name]
}

// NormalName returns the normal form of the name of the artifact.
func (a *Advisory) NormalName() string { return a.NameRule().normalize(a.ArtifactName) }

// An ArtifactKey finds artifacts by their normal name.
type ArtifactKey struct {
	Name string
	Rule NameRule // their rule; "" means any
}

// ArtifactKeys returns the keys that find all artifacts with one of these names. No artifact is
// found by two of them.
func ArtifactKeys(names ...string) []ArtifactKey {
	isGiven := make(map[string]bool, len(names))
	keys := make([]ArtifactKey, len(names))
	for i, name := range names {
		keys[i], isGiven[name] = ArtifactKey{Name: name}, true
	}
	for _, name := range names {
		for _, rule := range nameRules {
			if normal := rule.normalize(name); !isGiven[normal] {
				keys = append(keys, ArtifactKey{normal, rule})
			}
		}
	}
	slices.SortFunc(keys, func(a, b ArtifactKey) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Rule, b.Rule)) })
	return slices.Compact(keys)
}

// finds reports whether the key finds the artifact of an advisory.
func (k ArtifactKey) finds(a *Advisory) bool {
	return k.Name == a.NormalName() && (k.Rule == "" || k.Rule == a.NameRule())
}
