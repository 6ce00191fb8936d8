package affected

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// A constraint of a range in the form of VERS compares with one version.
type constraint struct{ comparator, version string }

// comparators are those of VERS; "" is "=". Longer ones come first.
var comparators = []string{"<=", ">=", "!=", "<", ">", "=", ""}

// maxConstraints limits the constraints of a range.
const maxConstraints = 100

// InVersions reports whether a version is one that a text names: the version itself, or one in a
// range of VERS (https://github.com/package-url/vers-spec), such as vers:npm/>=1.0.0|<2.0.0. A
// version without a place in the order of the ecosystem is only in a range that lists it.
func InVersions(ecosystem, versions, version string) bool {
	if !strings.HasPrefix(versions, "vers:") {
		return sameVersion(ecosystem, versions, version)
	}
	all, err := parseVers(versions)
	return err == nil && version != "" && inConstraints(ecosystem, all, version)
}

// CheckVersions fails if a text begins as a range of VERS and is none.
func CheckVersions(versions string) error {
	if !strings.HasPrefix(versions, "vers:") {
		return nil
	}
	_, err := parseVers(versions)
	return err
}

// parseVers reads the constraints of a range. None means that it contains every version.
func parseVers(text string) (all []constraint, err error) {
	_, list, found := strings.Cut(text, "/")
	if !found || list == "" {
		return nil, errors.New("must be a range such as vers:npm/>=1.0.0|<2.0.0")
	}
	if list == "*" {
		return nil, nil
	}
	parts := strings.Split(strings.Trim(list, "|"), "|")
	if len(parts) > maxConstraints {
		return nil, errors.New("has more than 100 constraints")
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		at := slices.IndexFunc(comparators, func(c string) bool { return strings.HasPrefix(part, c) })
		version, err := url.PathUnescape(strings.TrimSpace(strings.TrimPrefix(part, comparators[at])))
		if err != nil || version == "" || version == "*" {
			return nil, errors.New("has a constraint without a version")
		}
		all = append(all, constraint{cmp.Or(comparators[at], "="), version})
	}
	return all, nil
}

// inConstraints decides as the specification of VERS says: by the versions that are listed, and
// otherwise by the ranges between neighbors in the order of the ecosystem.
func inConstraints(ecosystem string, all []constraint, version string) bool {
	var bounds []constraint
	for _, c := range all {
		switch {
		case c.comparator != "=" && c.comparator != "!=":
			bounds = append(bounds, c)
		case sameVersion(ecosystem, c.version, version):
			return c.comparator == "="
		}
	}
	if len(bounds) == 0 { // only versions that are left out make a range
		return len(all) == 0 || !slices.ContainsFunc(all, func(c constraint) bool { return c.comparator == "=" })
	}
	failed := false
	order := func(a, b string) int {
		result, err := Compare(ecosystem, a, b)
		failed = failed || err != nil
		return result
	}
	slices.SortStableFunc(bounds, func(a, b constraint) int { return order(a.version, b.version) })
	fits := func(c constraint) bool {
		result := order(version, c.version)
		return result == 0 && len(c.comparator) == 2 || result < 0 && c.comparator[0] == '<' || result > 0 && c.comparator[0] == '>'
	}
	in := bounds[0].comparator[0] == '<' && fits(bounds[0]) || bounds[len(bounds)-1].comparator[0] == '>' && fits(bounds[len(bounds)-1])
	for i := range len(bounds) - 1 {
		in = in || bounds[i].comparator[0] == '>' && bounds[i+1].comparator[0] == '<' && fits(bounds[i]) && fits(bounds[i+1])
	}
	return in && !failed
}

// sameVersion reports whether two versions are equal in the order of the ecosystem.
func sameVersion(ecosystem, a, b string) bool {
	if a == b {
		return true
	}
	result, err := Compare(ecosystem, a, b)
	return err == nil && result == 0
}
