package inventory

import (
	"strings"
	"testing"

	"atrium/platform/core"
)

func TestTheNameOfATagDecidesItsClass(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("0a", 32)
	for name, want := range map[string]TagClass{
		"latest": "", "1.26": "", "bookworm": "",
		"sha256-" + hex: TagClassReferrer, "sha256-" + hex + ".sig": TagClassReferrer, "sha256-" + hex + ".att": TagClassReferrer, "sha256-" + hex + ".sbom": TagClassReferrer,
		"sha256-" + hex[2:]: "",
		"bookworm-20260327": TagClassDate, "20260327": "",
		"1.2.3-r4": TagClassEpoch, "1.2.3-r": "", "r4": "",
	} {
		if got := tagClass(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestADigestIsThatOfSHA256(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("0", 64)
	for digest, ok := range map[string]bool{
		"sha256:" + hex: true, "sha256:" + strings.Repeat("f", 64): true,
		"": false, "sha256:": false, "sha256:" + hex[1:]: false, "sha256:0" + hex: false, "sha256:" + strings.Repeat("F", 64): false,
		"SHA256:" + hex: false, "sha512:" + hex + hex: false, hex: false, "sha256:" + hex + "\n": false,
	} {
		var v core.Violations
		if (&Image{Digest: digest}).Check(&v); (len(v) == 0) != ok {
			t.Errorf("%q: %v", digest, v)
		}
	}
}
