package affected

import (
	"regexp"
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
	"Azure Linux": "Red Hat", "Photon OS": "Red Hat", "CleanStart": "Alpine", "Echo": "Debian", "opam": "Debian",
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

// SameEcosystem reports whether an advisory of one ecosystem is for packages of the other. The
// releases of a distribution must be the same, unless one of the two names none: such an advisory is
// for every release, and such a package may be of any. This is the rule of
// osv-scanner.
//
// Two differences are kept out of it. OSV writes Ubuntu:22.04:LTS where a package has
// Ubuntu:22.04; osv-scanner adds the LTS by a list of releases, and this function does not compare it.
// Variants of a release with packages of their own, such as Ubuntu:Pro:22.04:LTS, are other releases,
// as in osv-scanner's offline matching; the service osv.dev takes Pro for the release itself,
// and so finds fixes that the release never gets.
func SameEcosystem(advisory, installed string) bool {
	name, release, _ := strings.Cut(advisory, ":")
	otherName, otherRelease, _ := strings.Cut(installed, ":")
	if name != otherName {
		return false
	}
	return release == "" || otherRelease == "" || withoutSupport(name, release) == withoutSupport(name, otherRelease)
}

// withoutSupport returns a release without the mark for long-term support, which does not tell
// releases of Ubuntu apart.
func withoutSupport(name, release string) string {
	if name != "Ubuntu" {
		return release
	}
	return strings.TrimSuffix(release, ":LTS")
}
