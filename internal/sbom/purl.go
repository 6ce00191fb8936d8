package sbom

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
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
		return purl{}, fmt.Errorf("%q is not a package URL: %w", text[:min(len(text), 100)], err)
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

// isOfDistribution reports whether a package URL names a package of a Linux distribution.
func (p purl) isOfDistribution() bool {
	return p.kind == packageurl.TypeDebian || p.kind == packageurl.TypeApk || p.kind == packageurl.TypeRPM
}

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
	if name, found := strings.CutSuffix(u.name, "@"+p.Version); found && u.version == "" && p.Version != "" { // older versions of Microsoft's sbom-tool write %40
		u.name, u.version = name, p.Version
	}
	p.PURL, p.Name, p.Architecture = u.String(), u.packageName(p.Name), u.qualifiers["arch"]
	if u.version != "" {
		p.Version = u.version
	}
	if p.Architecture == "all" || p.Architecture == "noarch" || p.Architecture == "any" {
		p.Architecture = ""
	}
	if p.Version = u.withEpoch(p.Version); u.kind == packageurl.TypeGem {
		p.Version = gemPlatform.ReplaceAllString(p.Version, "")
	}
	if u.kind == packageurl.TypeGolang && (p.Name == "std" || p.Name == "go" || p.Name == "stdlib") { // as cyclonedx-gomod and others write the standard library
		p.Name, p.Version = "stdlib", strings.TrimPrefix(p.Version, "go")
	}
	p.Ecosystem = u.ecosystem(cmp.Or(u.distribution(), distribution))
	p.setSource(u, u.qualifiers["upstream"], "")
}

// packageName returns the name of a package as its ecosystem spells it. named is the name that the document has beside
// the package URL.
func (p purl) packageName(named string) string {
	switch {
	case p.module != "" && p.subpath != "" && p.qualifiers["type"] != "package" && (majorVersion.MatchString(p.subpath) || strings.EqualFold(named, p.module+"/"+p.subpath)):
		return p.module + "/" + p.subpath // syft before 2025, and others
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

// setSource sets the source package, by what a package URL or the document beside it says: openssl@1.1.1n-0+deb11u3, or
// a file of RPM, or name and version. A source with the name and the version of the package says nothing more.
func (p *Package) setSource(u purl, text, version string) {
	name, inText, _ := strings.Cut(text, "@")
	if version = cmp.Or(version, inText, p.Version); u.kind == packageurl.TypeRPM {
		if parts := sourceRPM.FindStringSubmatch(name); parts != nil {
			name, version = parts[1], u.withEpoch(parts[2])
		}
	}
	if name != "" && (name != p.Name || version != p.Version) {
		p.SourceName, p.SourceVersion = name, version
	}
}

// majorVersion matches the end of the path of a module of Go, such as v5.
var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// gemPlatform matches the platform at the end of the version of a gem, such as -x86_64-linux.
var gemPlatform = regexp.MustCompile(`-(?:x86|x64|i[3-6]86|aarch64|arm|universal|powerpc|ppc|riscv64|s390|java|jruby|mswin|mingw|wasm|ruby)[\w.-]*$`)

// withEpoch adds the epoch of a package of RPM or Debian to a version. Its source package has the same.
func (p purl) withEpoch(version string) string {
	epoch := p.qualifiers["epoch"]
	if epoch == "" || epoch == "0" || p.kind != packageurl.TypeRPM && p.kind != packageurl.TypeDebian || strings.Contains(version, ":") {
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

// distributions has the names of OSV for the namespaces of Linux distributions, and how they name a release. Those that
// OSV does not have are here too: an advisory of another distribution is not about them.
var distributions = map[string]struct {
	name    string
	release func(version string) string // nil if OSV has one ecosystem for all releases
}{
	"debian": {"Debian", firstParts(1)}, "ubuntu": {"Ubuntu", firstParts(2)}, "alpine": {"Alpine", alpineRelease},
	"wolfi": {"Wolfi", nil}, "chainguard": {"Chainguard", nil}, "minimos": {"MinimOS", nil}, "echo": {"Echo", nil},
	"rhel": {"Red Hat", redHatRelease}, "redhat": {"Red Hat", redHatRelease}, "rocky": {"Rocky Linux", firstParts(1)}, "rocky-linux": {"Rocky Linux", firstParts(1)},
	"almalinux": {"AlmaLinux", firstParts(1)}, "alma": {"AlmaLinux", firstParts(1)}, "opensuse": {"openSUSE", openSUSERelease}, "sles": {"SUSE", suseRelease},
	"sled": {"SUSE", suseRelease}, "suse": {"SUSE", suseRelease}, "slem": {"SUSE", microRelease}, "sle-micro": {"SUSE", microRelease}, "sl-micro": {"SUSE", microRelease},
	"mageia": {"Mageia", firstParts(1)}, "openeuler": {"openEuler", nil}, "photon": {"Photon OS", firstParts(2)},
	"azurelinux": {"Azure Linux", firstParts(1)}, "mariner": {"Azure Linux", firstParts(1)}, "cbl-mariner": {"Azure Linux", firstParts(1)},
	"amzn": {amazonLinux, firstParts(1)}, "amazon": {amazonLinux, firstParts(1)}, "fedora": {fedora, firstParts(1)}, "centos": {centOS, firstParts(1)},
	"ol": {oracleLinux, firstParts(1)}, "oracle": {oracleLinux, firstParts(1)}, "oraclelinux": {oracleLinux, firstParts(1)},
}

// These distributions are not in OSV.
const (
	amazonLinux = "Amazon Linux"
	centOS      = "CentOS"
	fedora      = "Fedora"
	oracleLinux = "Oracle Linux"
)

// distribution returns the distribution that a package URL names, such as debian-12.5, or "".
func (p purl) distribution() string {
	if p.qualifiers["distro"] == "" && p.qualifiers["os_version"] != "" { // Docker Scout
		return p.qualifiers["os_name"] + "-" + p.qualifiers["os_version"]
	}
	return p.qualifiers["distro"]
}

// ecosystem returns the ecosystem of a package as OSV names it, such as Debian:12 or npm, or "".
func (p purl) ecosystem(distribution string) string {
	if !p.isOfDistribution() {
		return ecosystems[p.kind]
	}
	id, version := splitDistribution(distribution)
	known, found := distributions[strings.ToLower(p.namespace)]
	switch other, isKnown := distributions[id]; {
	case !found && !isKnown:
		return ""
	case !found:
		known = other
	case isKnown && other.name != known.name: // the image has packages of another distribution
		version = ""
	}
	if version == "" && p.kind == packageurl.TypeRPM {
		version = p.distTag()
	}
	if known.release == nil || version == "" {
		return known.name
	}
	if release := known.release(version); release != "" {
		return known.name + ":" + release
	}
	return known.name
}

// distTag returns the number of the release that the version of a package of RPM ends with, such as 9 for 3.0.7-18.el9_2, or
// "". Red Hat names it nowhere else in its documents.
func (p purl) distTag() string {
	if parts := distTag.FindStringSubmatch(p.version); parts != nil {
		return parts[1]
	}
	return ""
}

// distTag matches the tags of RHEL and what is built of it, Fedora, Amazon Linux, Azure Linux and Mageia.
var distTag = regexp.MustCompile(`[.+](?:el|fc|amzn|azl|cm|mga)([0-9]+)`)

// codeNames has the numbers of releases of Debian and Ubuntu that are named in words.
var codeNames = map[string]string{
	"jessie": "8", "stretch": "9", "buster": "10", "bullseye": "11", "bookworm": "12", "trixie": "13", "forky": "14", "duke": "15",
	"trusty": "14.04", "xenial": "16.04", "bionic": "18.04", "focal": "20.04", "groovy": "20.10", "hirsute": "21.04", "impish": "21.10", "jammy": "22.04",
	"kinetic": "22.10", "lunar": "23.04", "mantic": "23.10", "noble": "24.04", "oracular": "24.10", "plucky": "25.04", "questing": "25.10", "resolute": "26.04",
}

// splitDistribution returns the name and the version of a distribution such as debian-12.5, in lower case. Trivy writes
// no name with that of Alpine, and others write a name of the release.
func splitDistribution(text string) (id, version string) {
	text = strings.ToLower(text)
	if startsWithDigit.MatchString(text) {
		return "", text
	}
	for id = range distributions {
		if rest, found := strings.CutPrefix(text, id); found && strings.Contains(id, "-") && strings.HasPrefix(rest, "-") {
			return id, rest[1:]
		}
	}
	id, version, _ = strings.Cut(strings.Replace(text, "opensuse.", "opensuse-", 1), "-")
	if number := codeNames[text[strings.LastIndexByte(text, '-')+1:]]; number != "" {
		version = number
	}
	return id, version
}

var (
	startsWithDigit = regexp.MustCompile(`^v?[0-9]`)
	firstNumber     = regexp.MustCompile(`[0-9]+`)
	servicePack     = regexp.MustCompile(`([0-9]+)(?:(?:\.|[ -]?sp)([0-9]+))?`)
	decimal         = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// firstParts returns a function that returns so many parts of a version: 12 of Debian 12.5, and 2 of Amazon Linux 2 (Karoo).
func firstParts(count int) func(string) string {
	return func(version string) string {
		version, _, _ = strings.Cut(version, " ")
		all := strings.SplitN(version, ".", count+1)
		return strings.Join(all[:min(count, len(all))], ".")
	}
}

// alpineRelease returns v3.18 of Alpine 3.18.4. What comes before a release, such as 3.17_alpha20220715, is edge.
func alpineRelease(version string) string {
	if version == "edge" || strings.Contains(version, "_alpha") {
		return "edge"
	}
	version, _, _ = strings.Cut(version, "_")
	return "v" + strings.TrimPrefix(firstParts(2)(version), "v")
}

// redHatRelease returns enterprise_linux:9 of RHEL 9.4. The minor releases share their advisories.
func redHatRelease(version string) string {
	if major := firstNumber.FindString(version); major != "" {
		return "enterprise_linux:" + major
	}
	return ""
}

// suseRelease returns Linux Enterprise Server 15 SP4 of SLES 15.4.
func suseRelease(version string) string {
	if strings.Contains(version, "micro") {
		return microRelease(version)
	}
	switch parts := servicePack.FindStringSubmatch(version); {
	case parts == nil:
		return ""
	case parts[2] == "" || parts[2] == "0":
		return "Linux Enterprise Server " + parts[1]
	default:
		return "Linux Enterprise Server " + parts[1] + " SP" + parts[2]
	}
}

// microRelease returns Linux Enterprise Micro 5.3 of SLE Micro 5.3. Since version 6 it has a shorter name.
func microRelease(version string) string {
	switch number := decimal.FindString(version); {
	case number == "":
		return ""
	case number[0] < '6':
		return "Linux Enterprise Micro " + number
	default:
		return "Linux Micro " + number
	}
}

// openSUSERelease returns Leap 15.5 of opensuse-leap-15.5, and Tumbleweed of its snapshots.
func openSUSERelease(version string) string {
	number := decimal.FindString(version)
	switch {
	case strings.Contains(version, "tumbleweed"):
		return "Tumbleweed"
	case number == "":
		return ""
	case strings.Contains(version, "micro"):
		return "Leap Micro " + number
	default:
		return "Leap " + number
	}
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
// if it has one, or an image.
func ReadPURL(text string) (p Package, image Image, err error) {
	u, err := parsePURL(text)
	switch {
	case err != nil:
		return p, image, err
	case u.isImage() && isDigest(u.version):
		return p, Image{Digest: u.version}, nil
	case u.isImage() && cmp.Or(u.version, u.qualifiers["tag"]) != "":
		return p, image, fmt.Errorf("%q names an image by a tag, which can move: give its digest, or no tag for all images of that name", text)
	case u.isImage():
		return p, Image{Name: u.imageName()}, nil
	}
	p.applyPURL(u, "")
	p.Version, p.Ecosystem = cmp.Or(p.Version, u.qualifiers["vers"]), cmp.Or(u.qualifiers[ecosystemQualifier], p.Ecosystem)
	if fault := p.check("package"); fault != nil {
		return p, image, fault
	}
	return p, image, nil
}

// An Image is what a package URL says of an image: its digest, or else its name, such as ghcr.io/acme/shop.
type Image struct{ Digest, Name string }

// imageName returns the name of an image with the registry, if the package URL has it. Some write only the folder of the
// image as its repository_url.
func (p purl) imageName() string {
	name := strings.TrimPrefix(p.namespace+"/"+p.name, "/")
	from := strings.Trim(p.qualifiers["repository_url"], "/")
	if _, rest, hasScheme := strings.Cut(from, "://"); hasScheme {
		from = rest
	}
	if from == "" || strings.HasSuffix("/"+from, "/"+name) {
		return cmp.Or(from, name)
	}
	return from + "/" + name
}

// ecosystemQualifier has the ecosystem as OSV names it where nothing else in a package URL says it, such as a release of
// Red Hat Enterprise Linux. Without it, what is written about one release would be read as being about all.
const ecosystemQualifier = "osv_ecosystem"

// WritePURL returns the package URL of a package by its name, its ecosystem as OSV names it, and a
// version or a range of VERS, which may be empty. Without an ecosystem, it is a generic one.
func WritePURL(name, ecosystem, version string) string {
	kind, qualifiers := packageurl.TypeGeneric, map[string]string{}
	id, release, _ := strings.Cut(ecosystem, ":")
	for candidate, of := range ecosystems {
		if of == ecosystem && (kind == packageurl.TypeGeneric || candidate < kind) {
			kind = candidate
		}
	}
	namespace := namespaceOf(id)
	switch {
	case namespace != "":
		kind = distributionType(id)
		if release != "" {
			qualifiers["distro"] = namespace + "-" + versionOfRelease(id, release)
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
	if (purl{kind: kind, namespace: namespace, qualifiers: qualifiers}).ecosystem(qualifiers["distro"]) != ecosystem {
		delete(qualifiers, "distro")
		qualifiers[ecosystemQualifier] = ecosystem
	}
	return packageurl.NewPackageURL(kind, namespace, name, version, packageurl.QualifiersFromMap(qualifiers), "").ToString()
}

// namespaceOf returns the namespace of the packages of a distribution, or "".
func namespaceOf(distribution string) (namespace string) {
	for candidate, of := range distributions {
		if of.name == distribution && (namespace == "" || candidate < namespace) {
			namespace = candidate
		}
	}
	return cmp.Or(writtenNamespaces[distribution], namespace)
}

// distributionOf returns the distribution that an ecosystem is of, and its version, as package URLs have them. Both are empty if it is
// of none.
func distributionOf(ecosystem string) (name, version string) {
	id, release, _ := strings.Cut(ecosystem, ":")
	if name = namespaceOf(id); name == "" || release == "" {
		return name, ""
	}
	return name, versionOfRelease(id, release)
}

// writtenNamespaces has the namespaces of the distributions that have several.
var writtenNamespaces = map[string]string{amazonLinux: "amzn", "AlmaLinux": "almalinux", "SUSE": "suse"}

// versionOfRelease returns the version of a distribution by what OSV calls the release.
func versionOfRelease(distribution, release string) string {
	switch distribution {
	case "Red Hat":
		return strings.TrimPrefix(release, "enterprise_linux:")
	case "SUSE", "openSUSE":
		release = strings.ToLower(release)
		if parts := servicePack.FindStringSubmatch(release); distribution == "SUSE" && parts != nil && !strings.Contains(release, "micro") {
			return strings.TrimSuffix(parts[1]+"."+parts[2], ".")
		}
		return strings.ReplaceAll(release, " ", "-")
	default:
		return strings.TrimSuffix(strings.TrimPrefix(release, "v"), ":LTS")
	}
}

// distributionType returns the type of package URLs of a distribution.
func distributionType(name string) string {
	switch name {
	case "Debian", "Ubuntu", "Echo":
		return packageurl.TypeDebian
	case "Alpine", "Wolfi", "Chainguard", "MinimOS":
		return packageurl.TypeApk
	default:
		return packageurl.TypeRPM
	}
}

// WriteImagePURL returns the package URL of an image.
func WriteImagePURL(image Image) string {
	if image.Name == "" {
		return packageurl.NewPackageURL(packageurl.TypeOCI, "", "image", image.Digest, nil, "").ToString()
	}
	from := packageurl.QualifiersFromMap(map[string]string{"repository_url": image.Name})
	return packageurl.NewPackageURL(packageurl.TypeOCI, "", path.Base(image.Name), image.Digest, from, "").ToString()
}
