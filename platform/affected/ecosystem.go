package affected

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Orders that this package names itself.
const (
	semver  order = "Go" // of semantic versioning
	bitnami order = "Bitnami"
	nuGet   order = "NuGet" // of semantic versioning with four numbers
)

// bitnamiRevision matches a version of Bitnami with the revision of its package, such as 2.4.58-1. A revision is later than the
// version without one; semantic reads it as a pre-release, which would be affected by what 2.4.58 fixed.
var bitnamiRevision = regexp.MustCompile(`^(v?[0-9]+\.[0-9]+\.[0-9]+)-([0-9]+)$`)

// likeOthers has the orders of ecosystems of OSV that semantic does not know: distributions
// have the one of their package manager, opam has Debian's, and the others number
// their releases as semantic versioning does. Ecosystems without a documented order, such as
// Android, are not here.
var likeOthers = map[string]order{
	"Azure Linux": "Red Hat", "Photon OS": "Red Hat", "Amazon Linux": "Red Hat", "CentOS": "Red Hat", "Fedora": "Red Hat", "Oracle Linux": "Red Hat", "CleanStart": "Alpine", "Echo": "Debian", "opam": "Debian",
	"GitHub Actions": semver, "Kubernetes": semver, "VSCode": semver,
}

// orderOf returns the order of an ecosystem.
func orderOf(ecosystem string) order {
	ecosystem = strings.TrimPrefix(ecosystem, "Root:") // patched packages of other ecosystems, such as Root:Debian:12
	name, _, _ := strings.Cut(ecosystem, ":")
	if other, found := likeOthers[name]; found {
		return other
	}
	return order(name)
}

// withoutRecords has the distributions that OSV has no records of.
var withoutRecords = []string{"Amazon Linux", "CentOS", "Fedora", "Oracle Linux"}

// HasRecords reports whether OSV can have records about packages of an ecosystem. Of others it is not known what affects them.
func HasRecords(ecosystem string) bool {
	name, _, _ := strings.Cut(ecosystem, ":")
	return name != "" && !slices.Contains(withoutRecords, name)
}

// SameEcosystem reports whether an advisory of one ecosystem is for packages of the other. The
// releases of a distribution must be the same, unless one of the two names none: such an advisory is
// for every release, and such a package may be of any. This is the rule of
// osv-scanner.
//
// Some differences are kept out of it. OSV writes Ubuntu:22.04:LTS where a package has
// Ubuntu:22.04; osv-scanner adds the LTS by a list of releases, and this function does not compare it.
// Variants of a release with packages of their own, such as Ubuntu:Pro:22.04:LTS, are other releases,
// as in osv-scanner's offline matching; the service osv.dev takes Pro for the release itself,
// and so finds fixes that the release never gets. Red Hat and SUSE name products; those of one release are the same.
func SameEcosystem(advisory, installed string) bool {
	name, release, _ := strings.Cut(advisory, ":")
	otherName, otherRelease, _ := strings.Cut(installed, ":")
	if name != otherName {
		return false
	}
	a, b := releaseOf(name, release), releaseOf(name, otherRelease)
	return a == "" || b == "" || a == b || name == "SUSE" && (isForAny(a, b) || isForAny(b, a))
}

// isForAny reports whether one release of SUSE stands for every service pack, and so for the other.
func isForAny(one, other string) bool { return one == suseAny && strings.HasPrefix(other, suseAny+".") }

// suseAny stands for every service pack of SUSE Linux Enterprise 12, whose modules are not made for one.
const suseAny = "12"

var (
	redHatPlatform = regexp.MustCompile(`::el([0-9]+)`)
	redHatProduct  = regexp.MustCompile(`^(?:enterprise_linux|rhel_[a-z0-9_]+):([0-9]+)`)
	suseMicro      = regexp.MustCompile(`^Linux (?:Enterprise )?Micro ([0-9.]+)`)
	suseEnterprise = regexp.MustCompile(`^Linux Enterprise .*?([0-9]+)(?: SP([0-9]+))?[-A-Za-z ]*$`)
)

// releaseOf returns what tells the releases of a distribution apart, or "" if nothing does. For Ubuntu it is the release
// without the mark of long-term support; for Red Hat, the 9 of enterprise_linux:9::appstream and of openshift:4.14::el9; for SUSE,
// the 15.4 of Linux Enterprise Module for Basesystem 15 SP4.
func releaseOf(name, release string) string {
	switch name {
	case "Ubuntu":
		return strings.TrimSuffix(release, ":LTS")
	case "Red Hat":
		for _, form := range []*regexp.Regexp{redHatPlatform, redHatProduct} {
			if parts := form.FindStringSubmatch(release); parts != nil {
				return parts[1]
			}
		}
		return ""
	case "SUSE":
		if parts := suseMicro.FindStringSubmatch(release); parts != nil {
			return "Micro " + parts[1]
		}
		parts := suseEnterprise.FindStringSubmatch(release)
		switch {
		case parts == nil:
			return ""
		case parts[1] == suseAny && parts[2] == "" && strings.Contains(release, "Module"):
			return suseAny
		default:
			return parts[1] + "." + cmp.Or(parts[2], "0")
		}
	default:
		return release
	}
}
