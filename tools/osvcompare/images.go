package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
)

// An osPackage is a package of a distribution in an image, with its source package. Versions have their epochs.
type osPackage struct {
	kind, namespace, arch string // of the package URL
	name, version         string
	source, sourceVersion string
}

// An osImage is an image of a document whose packages name their sources.
type osImage struct {
	document  *document
	id        string // of the distribution, such as debian
	release   string // such as 11
	ecosystem string // such as Debian:11
	packages  []osPackage
}

// minSources is the number of packages with a source at which an image counts as one.
const minSources = 50

// findImages returns the images of syft's documents. They are read here in another way than Atrium does.
func findImages(documents []*document) (images []*osImage) {
	for _, d := range documents {
		var bom struct {
			Components []struct{ PURL string }
		}
		if d.generator() != "syft" || json.Unmarshal(d.text, &bom) != nil {
			continue
		}
		image, releases := &osImage{document: d}, map[string]int{}
		for _, c := range bom.Components {
			if p, release := readOSPackage(c.PURL); p.source != "" {
				image.packages = append(image.packages, p)
				releases[p.namespace+"-"+release]++
			}
		}
		if len(image.packages) < minSources {
			continue
		}
		most := slices.MaxFunc(slices.Collect(maps.Keys(releases)), func(a, b string) int { return cmp.Compare(releases[a], releases[b]) })
		image.id, image.release, _ = strings.Cut(most, "-")
		image.ecosystem = map[string]string{"debian": "Debian:", "ubuntu": "Ubuntu:", "redhat": "Red Hat:enterprise_linux:", "rhel": "Red Hat:enterprise_linux:"}[image.id] + image.release
		images = append(images, image)
	}
	return images
}

var (
	sourceFile  = regexp.MustCompile(`^(.+)-([^-]+-[^-]+)\.src\.rpm$`)
	releaseMark = regexp.MustCompile(`\.el([0-9]+)`)
)

// readOSPackage reads a package URL of syft that names a source. The release is that of the distribution.
func readOSPackage(text string) (p osPackage, release string) {
	u, err := packageurl.FromString(text)
	if err != nil || u.Type != "deb" && u.Type != "rpm" {
		return p, ""
	}
	qualifiers := u.Qualifiers.Map()
	p = osPackage{kind: u.Type, namespace: u.Namespace, arch: qualifiers["arch"], name: u.Name, version: u.Version, source: u.Name, sourceVersion: u.Version}
	_, release, _ = strings.Cut(qualifiers["distro"], "-")
	if u.Type == "deb" {
		if upstream := qualifiers["upstream"]; upstream != "" {
			var version string
			p.source, version, _ = strings.Cut(upstream, "@")
			p.sourceVersion = cmp.Or(version, p.version)
		}
		return p, release
	}
	parts := sourceFile.FindStringSubmatch(qualifiers["upstream"])
	if parts == nil {
		return osPackage{}, ""
	}
	p.source, p.sourceVersion = parts[1], parts[2]
	if epoch := qualifiers["epoch"]; epoch != "" && epoch != "0" {
		p.version, p.sourceVersion = epoch+":"+p.version, epoch+":"+p.sourceVersion
	}
	if mark := releaseMark.FindStringSubmatch(p.version); mark != nil && release == "" {
		release = mark[1]
	}
	release, _, _ = strings.Cut(release, ".el")
	if major, _, found := strings.Cut(release, "."); found {
		release = major
	}
	return p, release
}

// cutEpoch divides a version into its epoch and the rest.
func cutEpoch(version string) (epoch, rest string) {
	if epoch, rest, found := strings.Cut(version, ":"); found {
		return epoch, rest
	}
	return "", version
}

// purl writes a package URL with qualifiers.
func (p osPackage) purl(name, version string, qualifiers map[string]string) string {
	qualifiers["arch"] = p.arch
	return packageurl.NewPackageURL(p.kind, p.namespace, name, version, packageurl.QualifiersFromMap(qualifiers), "").ToString()
}

// A form is how a generator writes an image.
type form struct {
	generator string
	write     func(*osImage) ([]byte, error)
	hides     func(osPackage) bool // whether the form does not say of which source a package is
}

func forms() []form {
	saysAll := func(osPackage) bool { return false }
	return []form{
		{"syft", func(image *osImage) ([]byte, error) { return image.document.text, nil }, saysAll},
		{"Trivy", writeTrivy, saysAll},
		{"BuildKit", writeBuildKit, saysAll},
		{"cdxgen", writeCdxgen, func(p osPackage) bool { return p.source == p.name }},
	}
}

// writeTrivy writes an image as Trivy does: the source is in properties, and the epoch in a qualifier.
func writeTrivy(image *osImage) ([]byte, error) {
	var components []map[string]any
	for _, p := range image.packages {
		epoch, rest := cutEpoch(p.version)
		qualifiers := map[string]string{"distro": image.id + "-" + image.release}
		if epoch != "" {
			qualifiers["epoch"] = epoch
		}
		var properties []map[string]string
		set := func(name, value string) {
			if value != "" {
				properties = append(properties, map[string]string{"name": "aquasecurity:trivy:" + name, "value": value})
			}
		}
		epoch, source := cutEpoch(p.sourceVersion)
		set("PkgID", p.name+"@"+p.version)
		set("SrcEpoch", epoch)
		set("SrcName", p.source)
		if at := strings.LastIndexByte(source, '-'); at >= 0 {
			set("SrcRelease", source[at+1:])
			source = source[:at]
		}
		set("SrcVersion", source)
		components = append(components, map[string]any{"type": "library", "name": p.name, "version": p.version, "purl": p.purl(p.name, rest, qualifiers), "properties": properties})
	}
	components = append(components, map[string]any{"type": "operating-system", "name": image.id, "version": image.release})
	return writeCycloneDX("trivy", components)
}

// writeBuildKit writes an image as BuildKit does: SPDX of syft in a statement of in-toto.
func writeBuildKit(image *osImage) ([]byte, error) {
	packages := []any{map[string]string{"SPDXID": "SPDXRef-DocumentRoot-Directory-sbom", "name": "sbom", "primaryPackagePurpose": "FILE"}}
	for i, p := range image.packages {
		version, upstream := p.version, p.source
		qualifiers := map[string]string{"distro": image.id + "-" + image.release}
		switch {
		case p.kind == "rpm":
			var epoch string
			epoch, version = cutEpoch(version)
			_, rest := cutEpoch(p.sourceVersion)
			if upstream = p.source + "-" + rest + ".src.rpm"; epoch != "" {
				qualifiers["epoch"] = epoch
			}
		case p.sourceVersion != p.version:
			upstream += "@" + p.sourceVersion
		case p.source == p.name:
			upstream = ""
		}
		if upstream != "" {
			qualifiers["upstream"] = upstream
		}
		packages = append(packages, map[string]any{
			"SPDXID": fmt.Sprintf("SPDXRef-Package-%d", i), "name": p.name, "versionInfo": p.version,
			"externalRefs": []map[string]string{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": p.purl(p.name, version, qualifiers)}},
		})
	}
	return json.Marshal(map[string]any{
		"_type": "https://in-toto.io/Statement/v0.1", "predicateType": "https://spdx.dev/Document", "subject": []any{map[string]any{"name": "pkg:docker/image@1", "digest": map[string]string{"sha256": strings.Repeat("ab", 32)}}},
		"predicate": map[string]any{
			"spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "name": "sbom", "documentDescribes": []string{"SPDXRef-DocumentRoot-Directory-sbom"},
			"creationInfo": map[string]any{"creators": []string{"Tool: syft-v1.20.0", "Tool: buildkit-v0.20.0"}}, "packages": packages,
		},
	})
}

// writeCdxgen writes an image as cdxgen does: sources with other names are components of their own.
func writeCdxgen(image *osImage) ([]byte, error) {
	var components []map[string]any
	add := func(p osPackage, name, version string, tags []string) {
		epoch, _ := cutEpoch(version)
		qualifiers := map[string]string{"distro": image.id + "-" + image.release, "distro_name": "code"}
		if epoch != "" {
			qualifiers["epoch"] = epoch
		}
		component := map[string]any{"type": "library", "group": p.namespace, "name": name, "version": version, "purl": p.purl(name, version, qualifiers)}
		if tags != nil {
			component["tags"] = tags
		}
		components = append(components, component)
	}
	for _, p := range image.packages {
		add(p, p.name, p.version, nil)
		if p.source != p.name {
			add(p, p.source, p.sourceVersion, []string{"source"})
		}
	}
	return writeCycloneDX("cdxgen", components)
}

// orders is how many times the images are imported.
const orders = 3

// A result is that a record affects a version of a package.
type result struct{ id, name, version string }

// compareImages imports images in the forms of several generators, in random orders, and compares their findings with
// those that dpkg and rpm expect.
func compareImages(ctx context.Context, o options, w *world, oracle *oracle, documents []*document) error {
	images := findImages(documents)
	if len(images) == 0 {
		return nil
	}
	folder := filepath.Join(o.keep, "images")
	if err := writeMade(folder, "IMAGE", packagesOfImages(images)); err != nil {
		return err
	}
	records, err := readFeeds(ctx, []string{folder})
	if err != nil {
		return err
	}
	expected, hidden := 0, 0
	wanted, written := map[*document]map[result]bool{}, []*document{}
	names := map[*document]string{}
	for _, image := range images {
		for _, f := range forms() {
			text, err := f.write(image)
			if err != nil {
				return err
			}
			d := newDocument(fmt.Sprintf("%s.%s.json", image.document.name, f.generator), text)
			names[d] = f.generator
			written = append(written, d)
			var left int
			if wanted[d], left = image.expect(oracle, records, f); f.generator == "syft" {
				expected += len(wanted[d])
			}
			hidden += left
		}
	}
	var faults []string
	equal, perDocument := counts{}, counts{}
	for order := range orders {
		to, err := w.newOrganization(ctx, fmt.Sprintf("images-%d", order))
		if err != nil {
			return err
		}
		imported, refused, err := to.importAll(ctx, rand.New(rand.NewPCG(o.seed, uint64(order)+2)), []string{folder}, written)
		if err != nil {
			return err
		}
		for _, d := range written {
			if reason := refused[d]; reason != "" {
				faults = append(faults, fmt.Sprintf("order %d: %s: is not imported: %s", order, d.name, reason))
				continue
			}
			findings, err := to.readFindings(ctx, imported[d])
			if err != nil {
				return err
			}
			found := map[result]bool{}
			for _, f := range findings {
				for _, id := range f.Sources {
					found[result{id, f.Package, f.InstalledVersion}] = true
				}
			}
			for r := range wanted[d] {
				if found[r] {
					equal.add(names[d], d.name)
				} else {
					faults = append(faults, fmt.Sprintf("order %d: %s: missing: %v", order, d.name, r))
					perDocument.add(fmt.Sprintf("are missing in order %d of %s", order, d.name), d.name)
				}
			}
			for r := range found {
				if !wanted[d][r] {
					faults = append(faults, fmt.Sprintf("order %d: %s: wrong: %v", order, d.name, r))
					perDocument.add(fmt.Sprintf("are wrong in order %d of %s", order, d.name), d.name)
				}
			}
		}
	}
	fmt.Printf("%d images in the forms of %d generators, in %d orders of imports: dpkg and rpm expect %d results of %d records in them\n", len(images), len(forms()), orders, expected, len(records.byID))
	equal.print(false)
	fmt.Printf("%8d  results are about source packages that a form does not name (cdxgen leaves out a source with the name of its package)\n", hidden)
	fmt.Printf("%8d  are missing or wrong\n", len(faults))
	slices.Sort(faults)
	perDocument.print(false)
	for _, fault := range faults[:min(len(faults), maxPrinted)] {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		return errDifferences
	}
	return nil
}

// expect returns what the oracle expects in an image in a form, and how many results the form hides.
func (image *osImage) expect(oracle *oracle, records *records, f form) (wanted map[result]bool, hidden int) {
	wanted = map[result]bool{}
	add := func(to map[result]bool, name, version string) {
		for _, r := range records.byName[nameOf(image.ecosystem, name)] {
			if is, _ := oracle.affects(r, image.ecosystem, name, version); is {
				to[result{r.id, name, version}] = true
			}
		}
	}
	left := map[result]bool{}
	for _, p := range image.packages {
		if p.name != p.source || f.hides(p) { // of a package with the name of its source, the version of the source counts
			add(wanted, p.name, p.version)
		}
		if f.hides(p) {
			add(left, p.source, p.sourceVersion)
		} else {
			add(wanted, p.source, p.sourceVersion)
		}
	}
	for r := range left {
		if !wanted[r] {
			hidden++
		}
	}
	return wanted, hidden
}

// packagesOfImages returns the packages of images and their sources, with versions close to those that are installed.
func packagesOfImages(images []*osImage) map[packageName]*packageVersions {
	packages := map[packageName]*packageVersions{}
	add := func(ecosystem, name, version string) {
		key := packageName{withoutRelease(ecosystem), name}
		if packages[key] == nil {
			packages[key] = &packageVersions{}
		}
		p := packages[key]
		p.release = ecosystem
		other := "1:" + version
		if epoch, rest := cutEpoch(version); epoch != "" {
			other = rest
		}
		for _, v := range []string{version, version + "~1", version + ".1", other} {
			if !slices.Contains(p.versions, v) {
				p.versions = append(p.versions, v)
			}
		}
	}
	for _, image := range images {
		for _, p := range image.packages {
			add(image.ecosystem, p.name, p.version)
			add(image.ecosystem, p.source, p.sourceVersion)
		}
	}
	return packages
}
