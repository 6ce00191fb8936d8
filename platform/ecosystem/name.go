package ecosystem

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

// nameRulesByName has the rules of ecosystems, by their names in the OSV schema. The rules are
// those of Package URL, and of NuGet. Go itself compares the paths of modules byte by byte, but a
// package URL has them in lower case.
var nameRulesByName = map[string]NameRule{
	"PyPI": pythonNames,
	"npm":  anyCaseNames, "NuGet": anyCaseNames, "Packagist": anyCaseNames, "Hex": anyCaseNames, "Pub": anyCaseNames,
	"GitHub Actions": anyCaseNames, "VSCode": anyCaseNames, "Bitnami": anyCaseNames, "Go": anyCaseNames,
	"Debian": anyCaseNames, "Ubuntu": anyCaseNames,
	"Alpine": anyCaseNames, "Wolfi": anyCaseNames, "Chainguard": anyCaseNames, "MinimOS": anyCaseNames, "Alpaquita": anyCaseNames,
}

// separators are the parts of names that PEP 503 takes for the same.
var separators = regexp.MustCompile(`[-_.]+`)

// NormalizePythonName returns the normal form of a name by PEP 503.
func NormalizePythonName(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// Normalize returns the normal form of a name. A name that no ecosystem with the rule has stays
// as it is.
func (r NameRule) Normalize(name string) string {
	switch {
	case r == pythonNames && !strings.ContainsAny(name, ":/@"):
		return NormalizePythonName(name)
	case r == anyCaseNames && !strings.Contains(name, ":"):
		return strings.ToLower(name)
	default:
		return name
	}
}

// NormalizeAnyName returns the normal form of a name whose ecosystem is not known. All names that
// any ecosystem takes for the same have the same form.
func NormalizeAnyName(name string) string { return pythonNames.Normalize(strings.ToLower(name)) }

// NameRuleOf returns the rule of an ecosystem, by its name in the OSV schema. The release of an
// ecosystem (Debian:12) does not change the rule.
func NameRuleOf(name string) NameRule {
	withoutRelease, _, _ := strings.Cut(name, ":")
	return nameRulesByName[withoutRelease]
}

// A NameKey finds artifacts by their normal name.
type NameKey struct {
	Name string
	Rule NameRule // their rule; "" means any
}

// NameKeys returns the keys that find all artifacts with one of these names. No artifact is
// found by two of them.
func NameKeys(names ...string) []NameKey {
	isGiven := make(map[string]bool, len(names))
	keys := make([]NameKey, len(names))
	for i, name := range names {
		keys[i], isGiven[name] = NameKey{Name: name}, true
	}
	for _, name := range names {
		for _, rule := range nameRules {
			if normal := rule.Normalize(name); !isGiven[normal] {
				keys = append(keys, NameKey{normal, rule})
			}
		}
	}
	slices.SortFunc(keys, func(a, b NameKey) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Rule, b.Rule)) })
	return slices.Compact(keys)
}

// Finds reports whether the key finds an artifact with this name in an ecosystem.
func (k NameKey) Finds(ecosystem, artifact string) bool {
	rule := NameRuleOf(ecosystem)
	return k.Name == rule.Normalize(artifact) && (k.Rule == "" || k.Rule == rule)
}
