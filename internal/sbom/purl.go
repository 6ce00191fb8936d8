package sbom

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
)

// A purl is a package URL.
type purl struct {
	kind, namespace, name, version string
	qualifiers                     map[string]string
	subpath                        string
	module                         string // path of a module of Go as the document spells it, which is not in lower case in all
}

// parsePURL reads a package URL.
func parsePURL(text string) (purl, error) {
	if text == "" {
		return purl{}, errors.New("is empty")
	}
	if len(text) > 4*maxText {
		return purl{}, fmt.Errorf("is longer than %d bytes", 4*maxText)
	}
	parsed, err := packageurl.FromString(text)
	if err != nil {
		return purl{}, fmt.Errorf("%q is no package URL: %w", text[:min(len(text), 100)], err)
	}
	p := purl{parsed.Type, parsed.Namespace, parsed.Name, parsed.Version, parsed.Qualifiers.Map(), parsed.Subpath, ""}
	if p.kind == packageurl.TypeGolang {
		p.module = p.spelledIn(text)
	}
	if p.kind == "alpine" { // older versions of syft
		p.kind, p.namespace = packageurl.TypeApk, "alpine"
	}
	return p, nil
}

// spelledIn returns namespace and name as the text of a package URL spells them, or in their normal form if
// they are not found there.
func (p purl) spelledIn(text string) string {
	normal := strings.TrimPrefix(p.namespace+"/"+p.name, "/")
	_, path, _ := strings.Cut(text, "/")
	if end := strings.IndexAny(path, "@?#"); end >= 0 {
		path = path[:end]
	}
	if path, err := url.PathUnescape(path); err == nil && strings.EqualFold(path, normal) {
		return path
	}
	return normal
}

// isImage reports whether a package URL names an image.
func (p purl) isImage() bool { return p.kind == packageurl.TypeOCI || p.kind == packageurl.TypeDocker }

// kept lists the qualifiers that tell packages apart. Others say only where a package was found.
var kept = []string{"arch", "distro", "epoch", "upstream", "classifier", "type", "repository_url"}

// String returns the canonical form, without qualifiers that say only where a package was found.
func (p purl) String() string {
	qualifiers := map[string]string{}
	for _, name := range kept {
		if value := p.qualifiers[name]; value != "" {
			qualifiers[name] = value
		}
	}
	return packageurl.NewPackageURL(p.kind, p.namespace, p.name, p.version, packageurl.QualifiersFromMap(qualifiers), p.subpath).ToString()
}

// applyPURL takes name, version, ecosystem and architecture from a package URL.
// distribution is that of the image, for package URLs that do not name one.
func (p *Package) applyPURL(u purl, distribution string) {
	p.PURL, p.Name, p.Architecture = u.String(), u.packageName(), u.qualifiers["arch"]
	if u.version != "" {
		p.Version = u.version
	}
	if p.Architecture == "all" || p.Architecture == "noarch" || p.Architecture == "any" {
		p.Architecture = ""
	}
	p.Version = u.withEpoch(p.Version)
	if u.kind == packageurl.TypeGolang && (p.Name == "std" || p.Name == "go" || p.Name == "stdlib") { // as cyclonedx-gomod and others write the standard library
		p.Name, p.Version = "stdlib", strings.TrimPrefix(p.Version, "go")
	}
	if named := u.qualifiers["distro"]; named != "" {
		distribution = named
	}
	p.Ecosystem = u.ecosystem(distribution)
	p.SourceName, p.SourceVersion = u.source(p.Version)
}

// packageName returns the name of a package as its ecosystem spells it.
func (p purl) packageName() string {
	switch {
	case p.module != "":
		return p.module
	case p.namespace == "":
		return p.name
	case p.kind == packageurl.TypeMaven:
		return p.namespace + ":" + p.name
	case p.kind == packageurl.TypeDebian, p.kind == packageurl.TypeApk, p.kind == packageurl.TypeRPM, p.kind == packageurl.TypeAlpm:
		return p.name
	default:
		return p.namespace + "/" + p.name
	}
}

// source returns the name and the version of the source package, as syft and others write
// them: upstream=openssl@1.1.1n-0+deb11u3, or a file of RPM.
func (p purl) source(version string) (name, sourceVersion string) {
	name, sourceVersion, _ = strings.Cut(p.qualifiers["upstream"], "@")
	if p.kind == packageurl.TypeRPM {
		if parts := sourceRPM.FindStringSubmatch(name); parts != nil {
			name, sourceVersion = parts[1], p.withEpoch(parts[2])
		}
	}
	if name == p.name && (sourceVersion == "" || sourceVersion == version) {
		return "", ""
	}
	if name != "" && sourceVersion == "" {
		sourceVersion = version
	}
	return name, sourceVersion
}

// withEpoch adds the epoch of a package of RPM to a version. Its source package has the same.
func (p purl) withEpoch(version string) string {
	epoch := p.qualifiers["epoch"]
	if epoch == "" || epoch == "0" || p.kind != packageurl.TypeRPM || strings.Contains(version, ":") {
		return version
	}
	return epoch + ":" + version
}

// sourceRPM matches the name of a file such as openssl-3.0.7-24.el9.src.rpm.
var sourceRPM = regexp.MustCompile(`^(.+)-([^-]+-[^-]+)\.(?:no)?src\.rpm$`)

// ecosystems has the names of OSV for the types of package URLs that stand for one.
var ecosystems = map[string]string{
	packageurl.TypeBitnami: "Bitnami", packageurl.TypeCargo: "crates.io", packageurl.TypeComposer: "Packagist", packageurl.TypeConan: "ConanCenter",
	packageurl.TypeCran: "CRAN", packageurl.TypeGem: "RubyGems", packageurl.TypeGithub: "GitHub Actions", "githubactions": "GitHub Actions",
	packageurl.TypeGolang: "Go", packageurl.TypeHackage: "Hackage", packageurl.TypeHex: "Hex", packageurl.TypeJulia: "Julia",
	packageurl.TypeMaven: "Maven", packageurl.TypeNPM: "npm", packageurl.TypeNuget: "NuGet", packageurl.TypeOpam: "opam",
	packageurl.TypePub: "Pub", packageurl.TypePyPi: "PyPI", packageurl.TypeSwift: "SwiftURL", packageurl.TypeVSCodeExtension: "VSCode",
}

// distributions has the names of OSV for the namespaces of Linux distributions, and how many
// parts of the version name a release. 0 means that OSV has one ecosystem for all releases,
// or names them in a way that no version gives.
var distributions = map[string]struct {
	name  string
	parts int
}{
	"debian": {"Debian", 1}, "ubuntu": {"Ubuntu", 2}, "alpine": {"Alpine", 2}, "wolfi": {"Wolfi", 0}, "chainguard": {"Chainguard", 0},
	"rhel": {"Red Hat", 0}, "redhat": {"Red Hat", 0}, "rocky": {"Rocky Linux", 1}, "rocky-linux": {"Rocky Linux", 1}, "almalinux": {"AlmaLinux", 1},
	"opensuse": {"openSUSE", 0}, "sles": {"SUSE", 0}, "suse": {"SUSE", 0}, "mageia": {"Mageia", 1}, "openeuler": {"openEuler", 0},
	"photon": {"Photon OS", 2}, "azurelinux": {"Azure Linux", 1}, "minimos": {"MinimOS", 0},
}

// ecosystem returns the ecosystem of a package as OSV names it, such as Debian:12 or npm, or "".
func (p purl) ecosystem(distribution string) string {
	switch p.kind {
	case packageurl.TypeDebian, packageurl.TypeApk, packageurl.TypeRPM:
	default:
		return ecosystems[p.kind]
	}
	id, version, _ := strings.Cut(distribution, "-")
	if number := codeNames[strings.ToLower(distribution[strings.LastIndexByte(distribution, '-')+1:])]; number != "" {
		version = number
	}
	known, found := distributions[strings.ToLower(p.namespace)]
	if !found {
		if known, found = distributions[strings.ToLower(id)]; !found {
			return ""
		}
	}
	if known.parts == 0 || version == "" {
		return known.name
	}
	return known.name + ":" + release(known.name, version, known.parts)
}

// codeNames has the numbers of releases of Debian and Ubuntu that are named in words.
var codeNames = map[string]string{
	"jessie": "8", "stretch": "9", "buster": "10", "bullseye": "11", "bookworm": "12", "trixie": "13", "forky": "14", "duke": "15",
	"trusty": "14.04", "xenial": "16.04", "bionic": "18.04", "focal": "20.04", "groovy": "20.10", "hirsute": "21.04", "impish": "21.10", "jammy": "22.04",
	"kinetic": "22.10", "lunar": "23.04", "mantic": "23.10", "noble": "24.04", "oracular": "24.10", "plucky": "25.04", "questing": "25.10", "resolute": "26.04",
}

// release returns the release of a distribution: v3.18 of Alpine 3.18.4, and 12 of Debian 12.5.
func release(name, version string, parts int) string {
	all := strings.SplitN(version, ".", parts+1)
	text := strings.Join(all[:min(parts, len(all))], ".")
	if name == "Alpine" && text != "edge" {
		return "v" + strings.TrimPrefix(text, "v")
	}
	return text
}

// digestPattern matches the digest of an image.
var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func isDigest(text string) bool { return digestPattern.MatchString(text) }

// ParsePURLs reads a list that has package URLs beside names of packages. names has the name of each. d is the
// document that the package URLs are, with a package for each name; it is nil if none of them has a
// version.
func ParsePURLs(list []string) (d *Document, names []string, err error) {
	all, hasVersion, seen := &Document{Format: "purls"}, false, map[string]bool{}
	for i, text := range list {
		place := fmt.Sprintf("packages[%d]", i)
		p := Package{Name: text}
		if strings.HasPrefix(text, "pkg:") {
			u, err := parsePURL(text)
			if err != nil {
				return nil, nil, invalid(place, "%v", err)
			}
			p.applyPURL(u, "")
			hasVersion = hasVersion || p.Version != ""
		}
		if fault := p.check(place); fault != nil {
			return nil, nil, fault
		}
		all.Packages = append(all.Packages, p)
		if !seen[p.Name] {
			seen[p.Name], names = true, append(names, p.Name)
		}
	}
	if !hasVersion {
		return nil, names, nil
	}
	all.Packages = sortPackages(all.Packages)
	return all, names, nil
}

// ReadPURL reads a package URL. It returns the package that it names, with a range of VERS as its version
// if it has one, or the digest of an image.
func ReadPURL(text string) (p Package, digest string, err error) {
	u, err := parsePURL(text)
	switch {
	case err != nil:
		return p, "", err
	case u.isImage() && isDigest(u.version):
		return p, u.version, nil
	case u.isImage():
		return p, "", fmt.Errorf("%q names an image without its digest", text)
	}
	p.applyPURL(u, "")
	p.Version = cmp.Or(p.Version, u.qualifiers["vers"])
	if fault := p.check("package"); fault != nil {
		return p, "", fault
	}
	return p, "", nil
}

// WritePURL returns the package URL of a package by its name, its ecosystem as OSV names it, and a
// version or a range of VERS, which may be empty. Without an ecosystem, it is a generic one.
func WritePURL(name, ecosystem, version string) string {
	kind, namespace, qualifiers := packageurl.TypeGeneric, "", map[string]string{}
	id, release, _ := strings.Cut(ecosystem, ":")
	for candidate, of := range ecosystems {
		if of == ecosystem && (kind == packageurl.TypeGeneric || candidate < kind) {
			kind = candidate
		}
	}
	for candidate, of := range distributions {
		if of.name == id && (namespace == "" || candidate < namespace) {
			namespace = candidate
		}
	}
	switch {
	case namespace != "":
		kind = distributionType(id)
		if release = strings.TrimSuffix(strings.TrimPrefix(release, "v"), ":LTS"); release != "" {
			qualifiers["distro"] = namespace + "-" + release
		}
	case kind == packageurl.TypeMaven:
		if group, artifact, found := strings.Cut(name, ":"); found {
			namespace, name = group, artifact
		}
	default:
		if at := strings.LastIndex(name, "/"); at > 0 {
			namespace, name = name[:at], name[at+1:]
		}
	}
	if strings.HasPrefix(version, "vers:") {
		qualifiers["vers"], version = version, ""
	}
	return packageurl.NewPackageURL(kind, namespace, name, version, packageurl.QualifiersFromMap(qualifiers), "").ToString()
}

// distributionType returns the type of package URLs of a distribution.
func distributionType(name string) string {
	switch name {
	case "Debian", "Ubuntu":
		return packageurl.TypeDebian
	case "Alpine", "Wolfi", "Chainguard", "MinimOS":
		return packageurl.TypeApk
	default:
		return packageurl.TypeRPM
	}
}

// WriteImagePURL returns the package URL of an image.
func WriteImagePURL(name, digest string) string {
	return packageurl.NewPackageURL(packageurl.TypeOCI, "", name, digest, nil, "").ToString()
}
