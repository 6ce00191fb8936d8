package ecosystem

import (
	"regexp"
	"strings"
)

// hardwareNames maps other names of architectures to the one that OCI has: those of uname, of
// distributions and of official images.
var hardwareNames = map[string]string{
	"x86_64": "amd64", "x64": "amd64",
	"x86": "386", "i386": "386", "i486": "386", "i586": "386", "i686": "386",
	"aarch64": "arm64", "arm64v8": "arm64",
	"arm32": "arm", "armhf": "armv7", "armv7l": "armv7", "armv7hl": "armv7", "armel": "armv6", "armv6l": "armv6", "armv6hl": "armv6", "armv5tel": "armv5",
	"arm32v5": "armv5", "arm32v6": "armv6", "arm32v7": "armv7", "arm32v8": "armv8",
	"ppc64el": "ppc64le", "powerpc64le": "ppc64le", "mips64el": "mips64le", "mipsel": "mipsle", "loongarch64": "loong64",
}

// hyphenated replaces the only architecture whose name has a hyphen, which otherwise follows an
// operating system.
var hyphenated = strings.NewReplacer("x86-64-v", "amd64/v", "x86-64", "amd64")

// defaultVariants maps names that contain the default variant, or lack one, to the documented
// name.
var defaultVariants = map[string]string{"amd64v1": "amd64", "arm64v8": "arm64", "arm": "armv7"}

// variantPattern matches a variant of an architecture, such as v7 or 7.
var variantPattern = regexp.MustCompile(`^v?[0-9]{1,2}$`)

// ArchitectureName converts the name of an architecture into the one that the API
// documents: the OCI architecture with its variant if it has one (amd64, arm64,
// armv7, 386), after the operating system if that is not Linux (windows-amd64). It
// reads the names that are usual elsewhere (x86_64, aarch64, armhf, arm32v7, i686),
// platforms such as linux/arm/v7, and capital letters. A name that is not known
// stays as it is, in lower case.
func ArchitectureName(name string) string {
	system, hardware, variant := splitPlatform(hyphenated.Replace(strings.ToLower(name)))
	if known, ok := hardwareNames[hardware]; ok {
		hardware = known
	}
	if variant != "" && strings.HasPrefix(hardware, "armv") { // the variant is more exact
		hardware = "arm"
	}
	hardware += variant
	if known, ok := defaultVariants[hardware]; ok {
		hardware = known
	}
	if system == "" || system == "linux" {
		return hardware
	}
	return system + "-" + hardware
}

// ArchitectureNames converts names as ArchitectureName does.
func ArchitectureNames(names []string) []string {
	converted := make([]string, len(names))
	for i, name := range names {
		converted[i] = ArchitectureName(name)
	}
	return converted
}

// splitPlatform splits the name of an architecture into its parts: os/architecture/variant,
// architecture/variant or os-architecture. The operating system and the variant may be absent.
func splitPlatform(name string) (system, hardware, variant string) {
	parts := strings.Split(name, "/")
	if last := parts[len(parts)-1]; len(parts) == 3 || len(parts) == 2 && variantPattern.MatchString(last) {
		parts, variant = parts[:len(parts)-1], last
		if variantPattern.MatchString(variant) {
			variant = "v" + strings.TrimPrefix(variant, "v")
		}
	}
	if len(parts) > 1 {
		return parts[0], strings.Join(parts[1:], "/"), variant
	}
	if at := strings.LastIndexByte(parts[0], '-'); at >= 0 {
		return parts[0][:at], parts[0][at+1:], variant
	}
	return "", parts[0], variant
}
