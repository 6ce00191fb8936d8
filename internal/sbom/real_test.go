package sbom

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// realData has documents of official images and of programs, as other tools wrote them.
const realData = "../../../shared/data/sbom.tar.gz"

// realOrigins has how many packages are direct dependencies of what a document is about, and how many are not. Systems do not say it.
var realOrigins = map[string]string{"laravel-7.12.0-bom.1.4.json": "map[false:61 true:1]", "docker.io-library-debian.json": "map[]", "keycloak-10.0.2-bom.json": "map[]"}

// The numbers of distinct packages were counted in the documents by another program. An application counts too, if it has a package URL.
func TestRealDocumentsAreReadWhole(t *testing.T) {
	t.Parallel()
	file, err := os.Open(realData)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the real data is not beside this clone, in ../shared/data: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		packages  int
		ecosystem string // of most of them
	}{
		"docker.io-library-alpine.json": {14, "Alpine:v3.16"}, "docker.io-library-debian.json": {96, "Debian:11"}, "docker.io-library-ubuntu.json": {101, "Ubuntu:22.04"},
		"docker.io-library-docker.json": {198, "Go"}, "keycloak-10.0.2-bom.json": {904, "Maven"}, "laravel-7.12.0-bom.1.4.json": {63, "Packagist"},
		"cern-lhc-vdm-editor-e564943-bom.json": {44, "npm"}, "kube-apiserver-v1.25.2.json": {143, "Go"}, "spdx-vuln.json": {123, "Debian:11"},
	}
	read := 0
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(entry.Name, ".json") || strings.Contains(entry.Name, "/vex/") {
			continue
		}
		read++
		d, err := Read(entries)
		if err != nil {
			t.Errorf("%s: %v", entry.Name, err)
			continue
		}
		name, counts, origins := path.Base(entry.Name), map[string]int{}, map[string]int{}
		for _, p := range d.Packages {
			counts[p.Ecosystem]++
			if p.Direct != nil {
				origins[fmt.Sprint(*p.Direct)]++
			}
		}
		if want, found := realOrigins[name]; found && fmt.Sprint(origins) != want {
			t.Errorf("%s says that packages are direct: %v, want %s", name, origins, want)
		}
		if w, found := want[name]; found {
			if len(d.Packages) != w.packages || counts[w.ecosystem]*2 < len(d.Packages) {
				t.Errorf("%s has %d packages (%v), want %d of %s", name, len(d.Packages), counts, w.packages, w.ecosystem)
			}
			delete(want, name)
		}
		if strings.HasPrefix(name, "docker.io-library-") && len(d.Subject.Digests) != 1 {
			t.Errorf("%s is about %+v, want one digest", name, d.Subject)
		}
	}
	if read < 24 || len(want) > 0 {
		t.Errorf("%d documents were read; not found: %v", read, want)
	}
}
