package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const (
	root  = "0123456789abcdef0123456789abcdef01234567"
	child = root + "/0123456789abcdef"
	deep  = child + "/fedcba9876543210"
	sha   = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

var reposPlace = groupPaths([]route{
	{name: "get", method: http.MethodGet, pattern: "/registry/v2/repos/{uid=**}"},
	{name: "create", method: http.MethodPost, pattern: "/registry/v2/repos/{parent=**}"},
	{name: "readme", method: http.MethodGet, pattern: "/registry/v2/repos/{uid=**}/readme"},
	{name: "size", method: http.MethodGet, pattern: "/registry/v2/repos/{repo_uid=**}/digests/{digest}/size"},
	{name: "architectures", method: http.MethodGet, pattern: "/registry/v2/repos/{repo_uid=**}/digests/{digest}/architectures"},
})["/registry/v2/repos/*"]

func TestAPathIsSplitIntoItsVariables(t *testing.T) {
	t.Parallel()
	escaped := func(s string) string { return strings.ReplaceAll(s, "/", "%2F") }
	for _, c := range []struct {
		tail, route string
		variables   []string
	}{
		{child, "get", []string{child}},
		{escaped(child), "get", []string{child}},
		{strings.ToLower(escaped(child)), "get", []string{child}},
		{child + "%2ffedcba9876543210", "get", []string{deep}},
		{root + "%2F0123456789abcdef/fedcba9876543210", "get", []string{deep}},
		{child + "/readme", "readme", []string{child}},
		{escaped(child) + "/readme", "readme", []string{child}},
		{deep + "/digests/" + sha + "/size", "size", []string{deep, sha}},
		{escaped(deep) + "/digests/" + url.QueryEscape(sha) + "/architectures", "architectures", []string{deep, sha}},

		// An invalid UID reaches the operation unchanged, and the operation rejects it.
		{"", "get", []string{""}},
		{"readme", "get", []string{"readme"}},
		{"/readme", "readme", []string{""}},
		{child + "/", "get", []string{child + "/"}},
		{root + "//0123456789abcdef", "get", []string{root + "//0123456789abcdef"}},
		{escaped(child + "/readme"), "get", []string{child + "/readme"}},
		{child + "/readme/", "get", []string{child + "/readme/"}},
		{child + "/Readme", "get", []string{child + "/Readme"}},
		{child + "%252F0123456789abcdef", "get", []string{child + "%2F0123456789abcdef"}},
		{child + "/digests//size", "size", []string{child, ""}},
		{child + "/digests/a/b/size", "get", []string{child + "/digests/a/b/size"}},
		{child + "/digests/a%2Fb/size", "size", []string{child, "a/b"}},
		{"%zz", "get", []string{"%zz"}},
	} {
		variables, methods := reposPlace.match("/registry/v2/repos/" + c.tail)
		if got := methods[http.MethodGet].name; got != c.route {
			t.Errorf("%s: route %s, want %s", c.tail, got, c.route)
		}
		if !slices.Equal(variables, c.variables) {
			t.Errorf("%s: variables %q, want %q", c.tail, variables, c.variables)
		}
	}
}

func TestAPathListsItsMethods(t *testing.T) {
	t.Parallel()
	for tail, want := range map[string]string{
		child:             "GET, HEAD, OPTIONS, POST",
		child + "/readme": "GET, HEAD, OPTIONS",
	} {
		if _, methods := reposPlace.match("/registry/v2/repos/" + tail); methods.allow() != want {
			t.Errorf("%s: Allow %q, want %q", tail, methods.allow(), want)
		}
	}
}

func TestAPathWithoutAMatchingSuffixIsNotFound(t *testing.T) {
	t.Parallel()
	const pattern = "/libraries/v2/artifacts/{artifact_id=**}/versions"
	place := groupPaths([]route{{method: http.MethodGet, pattern: pattern}})["/libraries/v2/artifacts/*"]
	if _, methods := place.match("/libraries/v2/artifacts/x"); methods != nil {
		t.Errorf("found %v", methods)
	}
}

// FuzzPaths puts any two texts into a path, with plain or escaped slashes, and expects to
// get them back.
func FuzzPaths(f *testing.F) {
	f.Add(deep, sha, uint64(0))
	f.Add(deep, sha, uint64(1))
	f.Add("", "", uint64(7))
	f.Add("//", "%2F", uint64(2))
	f.Add("readme/readme", "a/b", uint64(1))
	f.Add("\x00 ?#%", "é", uint64(3))
	f.Fuzz(func(t *testing.T, uid, digest string, mask uint64) {
		escaped := escapeSome(uid, mask)
		variables, methods := reposPlace.match("/registry/v2/repos/" + escaped + "/digests/" + url.PathEscape(digest) + "/size")
		if methods[http.MethodGet].name != "size" || !slices.Equal(variables, []string{uid, digest}) {
			t.Errorf("size of %q %q: %s, want size: %q", uid, digest, methods[http.MethodGet].name, variables)
		}
		variables, methods = reposPlace.match("/registry/v2/repos/" + escaped + "/readme")
		if methods[http.MethodGet].name != "readme" || variables[0] != uid {
			t.Errorf("readme of %q: %s, want readme: %q", uid, methods[http.MethodGet].name, variables)
		}
		variables, methods = reposPlace.match("/registry/v2/repos/" + url.PathEscape(uid))
		if methods[http.MethodGet].name != "get" || variables[0] != uid {
			t.Errorf("get of %q: %s, want get: %q", uid, methods[http.MethodGet].name, variables)
		}
		reposPlace.match("/registry/v2/repos/" + uid) // The text is not escaped. This must not panic.
	})
}

// escapeSome escapes s, but only those slashes whose bit in mask is set.
func escapeSome(s string, mask uint64) string {
	var b strings.Builder
	for i, segment := range strings.Split(s, "/") {
		switch {
		case i == 0:
		case mask>>(i%64)&1 == 1:
			b.WriteString("%2F")
		default:
			b.WriteByte('/')
		}
		b.WriteString(url.PathEscape(segment))
	}
	return b.String()
}
