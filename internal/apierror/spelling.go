package apierror

import (
	"slices"
	"strings"
)

// AreasWithV1 are the service areas that have a version 1.
var AreasWithV1 = []string{"iam", "registry", "vulnerabilities", "libraries", "advisory"}

// otherAreas are what paths can begin with besides.
var otherAreas = []string{"events", "ping", "operations", "graphql", "export", "import", "check"}

// AreaOf returns the service area of a path, such as registry for /registry/v2/repos and
// for /platform.registry.v2.ReposService/GetRepo, or "" if the path lies in none.
func AreaOf(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if parts := strings.Split(first, "."); len(parts) > 2 && parts[0] == "platform" {
		return parts[1]
	}
	if slices.Contains(otherAreas, first) || slices.Contains(AreasWithV1, first) {
		return first
	}
	return ""
}

// SnakeCase converts updateTime and UpdateTime into update_time, and leaves snake_case unchanged.
// fieldmask.CamelCase does the reverse.
func SnakeCase(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'A' <= c && c <= 'Z' {
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}
