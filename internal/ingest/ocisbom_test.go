package ingest

import (
	"encoding/base64"
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"strings"
	"testing"

	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// artifact makes a manifest with one layer.
func (h *hub) artifact(mediaType, content string, annotations map[string]string) v1.Image {
	h.Helper()
	made, err := mutate.Append(empty.Image, mutate.Addendum{Layer: static.NewLayer([]byte(content), types.MediaType(mediaType)), Annotations: annotations})
	h.check(err)
	return mutate.ConfigMediaType(mutate.MediaType(made, types.OCIManifestSchema1), "application/vnd.oci.empty.v1+json")
}

func (h *hub) digest(of interface{ Digest() (v1.Hash, error) }) v1.Hash {
	h.Helper()
	digest, err := of.Digest()
	h.check(err)
	return digest
}

// refer pushes an artifact that refers to a manifest.
func (h *hub) refer(repo string, to v1.Image, mediaType, content string) v1.Hash {
	h.Helper()
	size, err := to.Size()
	h.check(err)
	artifact, isImage := mutate.Subject(mutate.ConfigMediaType(h.artifact(mediaType, content, nil), types.MediaType(mediaType)), v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: h.digest(to), Size: size}).(v1.Image)
	if !isImage {
		h.Fatal("an artifact is no image")
	}
	h.push(repo+"@"+h.digest(artifact).String(), artifact)
	return h.digest(artifact)
}

// statement returns an in-toto statement with an SBOM.
func statement(document string) string {
	return `{"_type": "https://in-toto.io/Statement/v0.1", "predicateType": "https://cyclonedx.org/bom", "subject": [], "predicate": ` + document + `}`
}

const (
	inToto    = "application/vnd.in-toto+json"
	cycloneDX = "application/vnd.cyclonedx+json"
)

// heldOf describes the SBOMs of an image by their architectures.
func heldOf(c *fakeCore, repo, digest string) string {
	return strings.ReplaceAll(c.held(), "uid of "+repo+"@"+digest, "")
}

func TestTheSBOMsOfARegistryAreImported(t *testing.T) {
	t.Parallel()
	for name, hasReferrers := range map[string]bool{"with the API of referrers": true, "with tags of referrers": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, c := newHub(t), newFakeCore()
			h.inner = ociregistry.New(ociregistry.Logger(stdlog.New(io.Discard, "", 0)), ociregistry.WithReferrersSupport(hasReferrers))
			amd, arm, single := h.image("linux/amd64"), h.image("linux/arm64"), h.image("linux/amd64")
			// BuildKit: an attestation of amd64 in the index; provenance does not count.
			attest := func(of v1.Image, annotations map[string]string, content string) mutate.IndexAddendum {
				return mutate.IndexAddendum{Add: h.artifact(inToto, content, annotations), Descriptor: v1.Descriptor{
					Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"},
					Annotations: map[string]string{
						"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": h.digest(of).String(),
					},
				}}
			}
			index := mutate.AppendManifests(h.index(part{amd, "linux/amd64"}, part{arm, "linux/arm64"}),
				attest(amd, map[string]string{"in-toto.io/predicate-type": "https://cyclonedx.org/bom"}, statement(bom("x", 1, "a@1", "b@1"))),
				attest(arm, map[string]string{"in-toto.io/predicate-type": "https://slsa.dev/provenance/v1"}, "no JSON"))
			h.push("multi:1", index)
			// arm64 has documents that refer to it, of which the largest counts.
			small := h.refer("multi", arm, cycloneDX, bom("x", 1, "c@1"))
			large := h.refer("multi", arm, "application/spdx+json", `{"spdxVersion": "SPDX-2.3", "packages": [{"name": "d", "SPDXID": "SPDXRef-d"}, {"name": "e", "SPDXID": "SPDXRef-e"}]}`)
			h.refer("multi", arm, "application/vnd.cncf.notary.signature", "{}")
			// cosign: an attestation and an SBOM, as tags.
			h.push("single:1", single)
			tag := strings.Replace(h.digest(single).String(), ":", "-", 1)
			h.push("single:"+tag+".att", h.artifact("application/vnd.dsse.envelope.v1+json",
				fmt.Sprintf(`{"payloadType": %q, "payload": %q, "signatures": []}`, inToto, base64.StdEncoding.EncodeToString([]byte(statement(bom("x", 1, "f@1"))))), map[string]string{"predicateType": "https://cyclonedx.org/bom"}))
			h.push("single:"+tag+".sbom", h.artifact(cycloneDX, bom("x", 1), nil))

			o := h.pull(c, nil, "multi")
			if o.err != nil {
				t.Fatal(o.err)
			}
			o.checkReports(t, [2]string{"HUB/multi:1: the SBOM ", ": 2 of its 2 packages have no package URL"}, [2]string{"HUB/multi:1: the SBOM ", "is left out: it has 1 packages, and sha256:"})
			if got, want := heldOf(c, "multi", h.digest(index).String()), " amd64: a@1 b@1;  arm64: d@ e@"; got != want {
				t.Errorf("multi holds %q, want %q (%s, %s)", got, want, small, large)
			}
			checkKinds(t, o.Summary, KindCounts{Name: "repos", Added: 1}, KindCounts{Name: "tags", Added: len(c.tags)}, KindCounts{Name: "images", Added: len(c.images)}, KindCounts{Name: "SBOMs", Added: 2})
			clear(c.sboms)
			o = h.pull(c, nil, "single")
			o.checkReports(t, [2]string{"HUB/single:1: the SBOM ", "is left out: it has 0 packages"})
			if got, want := heldOf(c, "single", h.digest(single).String()), " amd64: f@1"; got != want || o.err != nil {
				t.Errorf("single holds %q (%v), want %q", got, o.err, want)
			}
			// The image is stored now, and nothing is read again unless all are asked for.
			clear(c.sboms)
			for choice, want := range map[SBOMChoice]int{NewSBOMs: 0, NoSBOMs: 0, AllSBOMs: 1} {
				clear(c.sboms)
				if o = h.pull(c, func(from *OCISource) { from.SBOMs = choice }, "single"); o.err != nil || len(c.sboms) != want {
					t.Errorf("%q: %d SBOMs (%v), want %d", choice, len(c.sboms), o.err, want)
				}
			}
		})
	}
}

// What cannot be read is named, and the image is imported without it.
func TestBadSBOMsOfARegistryAreNamed(t *testing.T) {
	t.Parallel()
	h, c := newHub(t), newFakeCore()
	image := h.image("linux/amd64")
	h.push("r:1", image)
	tag := strings.Replace(h.digest(image).String(), ":", "-", 1)
	h.push("r:"+tag+".sbom", h.artifact(cycloneDX, `{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": [{"type": "library", "name": "x", "purl": "x"}]}`, nil))
	h.putManifest("r:"+tag+".att", string(types.OCIManifestSchema1), `{"layers": [{"mediaType": "`+inToto+`", "size": 99999999, "digest": "`+digestOf(1)+`"}]}`)
	o := h.pull(c, nil, "r")
	o.checkReports(t, [2]string{"HUB/r:1: ", "components[0].purl: "}, [2]string{"HUB/r:1: ", "is larger than 16 MiB"})
	if got := describeImage(t, c, "r", "1"); !strings.HasPrefix(got, "amd64=") || o.Failed() != 2 || len(c.sboms) != 0 {
		t.Errorf("the image runs on %q, and %d records failed", got, o.Failed())
	}
	// A registry that refuses to say what refers to an image has nothing.
	other := newFakeCore()
	h.remove("r:" + tag + ".sbom")
	h.remove("r:" + tag + ".att")
	h.setHandler(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/referrers/") {
			return false
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		return true
	})
	if o = h.pull(other, nil, "r"); o.err != nil || o.Failed() != 0 {
		t.Errorf("%v, %+v, %q", o.err, o.Summary, o.reports)
	}
}
