package sbom

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describeOrigin describes what a document says of a package beside its name.
func (d *Document) describeOrigin(p Package) string {
	text := p.Name + " "
	switch {
	case p.Direct == nil:
		text += "?"
	case *p.Direct:
		text += "direct"
	default:
		text += "transitive"
	}
	if p.IntroducedBy != nil {
		var names []string
		for _, by := range p.IntroducedBy {
			names = append(names, d.Packages[by].Name)
		}
		text += " by [" + strings.Join(names, " ") + "]"
	}
	for _, part := range []struct{ name, value string }{{"scope", string(p.Scope)}, {"supplier", p.Supplier}, {"layer", p.Layer}} {
		if part.value != "" {
			text += " " + part.name + " " + part.value
		}
	}
	return text
}

// npmComponents are packages of npm as a document of CycloneDX lists them.
func npmComponents(names ...string) string {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf(`{"type": "library", "bom-ref": %[1]q, "name": %[1]q, "version": "1", "purl": "pkg:npm/%[1]s@1"}`, name))
	}
	return strings.Join(all, ", ")
}

// cdxNeeds are the dependencies of a document of CycloneDX, such as shop: a b.
func cdxNeeds(lines ...string) string {
	var all []string
	for _, line := range lines {
		ref, needs, _ := strings.Cut(line, ": ")
		all = append(all, fmt.Sprintf(`{"ref": %q, "dependsOn": ["%s"]}`, ref, strings.Join(strings.Fields(needs), `", "`)))
	}
	return strings.Join(all, ", ")
}

// cdxDocumentOf returns a document of CycloneDX about a component of a type, with the bom-ref shop.
func cdxDocumentOf(kind, components string, needs ...string) string {
	return fmt.Sprintf(`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": %q, "bom-ref": "shop", "name": "shop"}}, "components": [%s], "dependencies": [%s]}`,
		kind, components, cdxNeeds(needs...))
}

// What a document does not say is not known: no list of dependencies makes a package a direct one.
func TestOriginsOfPackagesAreThoseThatDocumentsSay(t *testing.T) {
	t.Parallel()
	targets := `{"type": "operating-system", "bom-ref": "os", "name": "debian", "version": "12"},
		{"type": "application", "bom-ref": "lock", "name": "package-lock.json", "properties": [{"name": "aquasecurity:trivy:Class", "value": "lang-pkgs"}]}, `
	for name, c := range map[string]struct{ text, packages string }{
		"direct and transitive": {cdxDocumentOf("application", npmComponents("a", "b", "c", "d"), "shop: a b", "a: c", "b: c", "c: d"),
			"a direct by []; b direct by []; c transitive by [a b]; d transitive by [a b]"},
		"a direct one that another needs too": {cdxDocumentOf("application", npmComponents("a", "b", "c"), "shop: a b", "a: b c"),
			"a direct by []; b direct by [a]; c transitive by [a]"},
		"a single direct one":               {cdxDocumentOf("application", npmComponents("a", "b"), "shop: a", "a: b"), "a direct by []; b transitive by [a]"},
		"a circle":                          {cdxDocumentOf("application", npmComponents("a", "b", "c"), "shop: a", "a: b", "b: c", "c: a b"), "a direct by []; b transitive by [a]; c transitive by [a]"},
		"no dependencies":                   {cdxDocumentOf("application", npmComponents("a", "b")), "a ?; b ?"},
		"a list of all":                     {cdxDocumentOf("application", npmComponents("a", "b"), "shop: a b"), "a ?; b ?"},
		"a list of all, and what they need": {cdxDocumentOf("application", npmComponents("a", "b"), "shop: a b", "a: b"), "a ?; b ? by [a]"},
		"no beginning":                      {cdxDocumentOf("container", npmComponents("a", "b", "c"), "a: b", "b: c"), "a ?; b ? by [a]; c ? by [a]"},
		"only a circle":                     {cdxDocumentOf("application", npmComponents("a", "b"), "a: b", "b: a"), "a ?; b ?"},
		"not listed":                        {cdxDocumentOf("application", npmComponents("a", "b", "c"), "shop: a", "a: b"), "a direct by []; b transitive by [a]; c ?"},
		"ids that are not there":            {cdxDocumentOf("application", npmComponents("a"), "shop: a nothing", "a: gone", "gone: a"), "a ?"},
		"Trivy": {cdxDocumentOf("container", targets+npmComponents("libc", "curl", "express", "qs", "ms", "flat"), "shop: os lock flat", "os: libc curl", "curl: libc", "lock: express ms", "express: qs"),
			"curl ?; express direct by []; flat ?; libc ? by [curl]; ms direct by []; qs transitive by [express]"},
		"Trivy, a file that names its project": {cdxDocumentOf("container", targets+npmComponents("main", "a", "b"), "shop: lock", "lock: main", "main: a b"), "a ? by [main]; b ? by [main]; main ?"},
		"the project as a package": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "application", "bom-ref": "shop", "name": "shop", "purl": "pkg:npm/shop@1"}},
			"components": [` + npmComponents("a", "b") + `], "dependencies": [` + cdxNeeds("shop: a", "a: b") + `]}`, "a direct by []; b transitive by [a]; shop ?"},
		"one package twice": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "application", "bom-ref": "shop", "name": "shop"}}, "components": [` +
			npmComponents("a", "b") + `, {"type": "library", "bom-ref": "b2", "name": "b", "version": "1", "purl": "pkg:npm/b@1"}], "dependencies": [` + cdxNeeds("shop: a", "a: b") + `]}`,
			"a direct by []; b ? by [a]"},
		"scopes, suppliers and layers": {`{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [
			{"type": "library", "name": "a", "scope": "optional", "publisher": " Acme ", "supplier": {"name": ""}},
			{"type": "library", "name": "b", "scope": "excluded", "publisher": "Acme", "supplier": {"name": "Shop"}},
			{"type": "library", "name": "c", "scope": "optional", "properties": [{"name": "cdx:npm:package:development", "value": "true"}]},
			{"type": "library", "name": "d", "scope": "required"}, {"type": "library", "name": "d", "scope": "optional"},
			{"type": "library", "name": "e", "scope": "new", "properties": [{"name": "syft:location:0:layerID", "value": "sha256:1"}, {"name": "syft:location:1:layerID", "value": "sha256:2"}]},
			{"type": "library", "name": "f", "properties": [{"name": "aquasecurity:trivy:LayerDiffID", "value": "sha256:3"}, {"name": "aquasecurity:trivy:LayerDigest", "value": "sha256:4"}]},
			{"type": "library", "name": "g", "scope": "excluded"}, {"type": "library", "name": "g"}]}`,
			"a ? scope optional supplier Acme; b ? scope development supplier Shop; c ? scope development; d ? scope required; e ? layer sha256:1; f ? layer sha256:3; g ?"},
		"SPDX of npm": {`{"spdxVersion": "SPDX-2.3", "documentDescribes": ["SPDXRef-shop"], "packages": [
			{"SPDXID": "SPDXRef-shop", "name": "shop", "versionInfo": "1", "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:npm/shop@1"}]},
			{"SPDXID": "SPDXRef-a", "name": "a", "supplier": "Organization: Acme (info@acme.example)"}, {"SPDXID": "SPDXRef-b", "name": "b", "supplier": "NOASSERTION"}, {"SPDXID": "SPDXRef-c", "name": "c"}, {"SPDXID": "SPDXRef-d", "name": "d"}],
			"relationships": [{"spdxElementId": "SPDXRef-a", "relationshipType": "DEPENDENCY_OF", "relatedSpdxElement": "SPDXRef-shop"},
				{"spdxElementId": "SPDXRef-b", "relationshipType": "DEV_DEPENDENCY_OF", "relatedSpdxElement": "SPDXRef-shop"},
				{"spdxElementId": "SPDXRef-c", "relationshipType": "OPTIONAL_DEPENDENCY_OF", "relatedSpdxElement": "SPDXRef-a"},
				{"spdxElementId": "SPDXRef-d", "relationshipType": "PREREQUISITE_FOR", "relatedSpdxElement": "SPDXRef-b"}]}`,
			"a direct by [] supplier Acme; b direct by [] scope development; c transitive by [a] scope optional; d transitive by [b]; shop ?"},
		"SPDX of Trivy": {`{"spdxVersion": "SPDX-2.3", "packages": [{"SPDXID": "SPDXRef-ContainerImage-1", "name": "shop", "primaryPackagePurpose": "CONTAINER"},
			{"SPDXID": "SPDXRef-Application-1", "name": "package-lock.json"}, {"SPDXID": "SPDXRef-Package-a", "name": "a", "versionInfo": "1", "annotations": [{"comment": "LayerDiffID: sha256:1"}]},
			{"SPDXID": "SPDXRef-Package-b", "name": "b", "versionInfo": "1", "attributionTexts": ["LayerDigest: sha256:2"]}, {"SPDXID": "SPDXRef-Package-c", "name": "c", "versionInfo": "1"}],
			"relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-ContainerImage-1"},
				{"spdxElementId": "SPDXRef-ContainerImage-1", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-Application-1"},
				{"spdxElementId": "SPDXRef-Application-1", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-Package-a"},
				{"spdxElementId": "SPDXRef-Package-c", "relationshipType": "CONTAINED_BY", "relatedSpdxElement": "SPDXRef-Application-1"},
				{"spdxElementId": "SPDXRef-Package-a", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-Package-b"}]}`,
			"a direct by [] layer sha256:1; b transitive by [a] layer sha256:2; c direct by []"},
		"SPDX 3": {`{"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [
			{"type": "SpdxDocument", "spdxId": "urn:doc", "rootElement": ["urn:shop"]},
			{"type": "software_Package", "spdxId": "urn:shop", "name": "shop", "software_packageUrl": "pkg:npm/shop@1"},
			{"type": "software_Package", "spdxId": "urn:a", "name": "a", "suppliedBy": "urn:acme"}, {"type": "software_Package", "spdxId": "urn:b", "name": "b"}, {"type": "software_Package", "spdxId": "urn:c", "name": "c"},
			{"type": "Organization", "spdxId": "urn:acme", "name": "Acme"},
			{"type": "Annotation", "spdxId": "urn:note", "subject": "urn:a", "statement": "LayerDiffID: sha256:1"},
			{"type": "LifecycleScopedRelationship", "from": "urn:shop", "relationshipType": "dependsOn", "to": ["urn:a"], "scope": "runtime"},
			{"type": "LifecycleScopedRelationship", "from": "urn:shop", "relationshipType": "dependsOn", "to": ["urn:b"], "scope": "test"},
			{"type": "Relationship", "from": "urn:a", "relationshipType": "hasOptionalDependency", "to": ["urn:c"]}]}`,
			"a direct by [] scope required supplier Acme layer sha256:1; b direct by [] scope development; c transitive by [a] scope optional; shop ?"},
	} {
		d, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, p := range d.Packages {
			got = append(got, d.describeOrigin(p))
		}
		if slices.Sort(got); strings.Join(got, "; ") != c.packages {
			t.Errorf("%s:\n %s, want\n %s", name, strings.Join(got, "; "), c.packages)
		}
	}
}

// A long document whose packages all need each other is read in no time, and keeps little.
func TestOriginsAreBounded(t *testing.T) {
	t.Parallel()
	const layers, width = 40, 60
	var names, needs []string
	name := func(layer, i int) string { return fmt.Sprintf("p%02d-%02d", layer, i) }
	for layer := range layers {
		var below []string
		for i := range width {
			names, below = append(names, name(layer, i)), append(below, name(layer+1, i))
		}
		for i := range width {
			if layer+1 < layers {
				needs = append(needs, name(layer, i)+": "+strings.Join(below, " "))
			}
		}
	}
	d, err := Parse([]byte(cdxDocumentOf("application", npmComponents(names...), append(needs, "shop: "+strings.Join(names[:width], " "))...)))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Packages) != layers*width {
		t.Fatalf("%d packages, want %d", len(d.Packages), layers*width)
	}
	for i, p := range d.Packages {
		isDirect := i < width
		if p.Direct == nil || *p.Direct != isDirect {
			t.Fatalf("%s is %v", p.Name, p.Direct)
		}
		if isDirect && len(p.IntroducedBy) != 0 || !isDirect && (len(p.IntroducedBy) != maxIntroducers || p.IntroducedBy[0] != 0 || p.IntroducedBy[maxIntroducers-1] != maxIntroducers-1) {
			t.Fatalf("%s comes through %v, want the first %d", p.Name, p.IntroducedBy, maxIntroducers)
		}
	}
}
