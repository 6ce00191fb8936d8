package rest

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A pattern describes a path in the notation of internal/wiretest/wire.txt. It begins with a fixed
// prefix. A variable {name=**}, which may contain slashes, and a suffix may follow. A
// suffix consists of fixed segments and of variables {name}, which contain no slashes.
//
//	/iam/v2/roleBindings:batchCreate
//	/iam/v2/groups/{uid=**}
//	/registry/v2/repos/{repo_uid=**}/digests/{digest}/size

// cutPattern returns the fixed prefix of a pattern, in the form of the router, and the
// suffix after the variable.
func cutPattern(pattern string) (prefix string, suffix []string) {
	prefix, rest, found := strings.Cut(pattern, "{")
	if !found {
		return pattern, nil
	}
	_, rest, _ = strings.Cut(rest, "}")
	if rest != "" {
		suffix = strings.Split(rest[1:], "/")
	}
	return prefix + "*", suffix
}

// A pathGroup holds the routes whose paths have the same fixed prefix.
type pathGroup struct {
	prefix   string // start of the path, which ends in * if a variable follows
	suffixes []suffixRoutes
}

// A suffixRoutes holds the routes of a group with the same suffix.
type suffixRoutes struct {
	suffix  []string
	methods methods
}

// methods maps HTTP methods to the routes of one path.
type methods map[string]*route

// allow returns the Allow header for OPTIONS and for 405.
func (m methods) allow() string {
	allowed := []string{http.MethodOptions}
	for method := range m {
		allowed = append(allowed, method)
		if method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	return strings.Join(allowed, ", ")
}

// groupPaths groups the table by prefix. The longest suffix of a group comes first,
// because the variable before it would match anything.
func groupPaths(table []route) map[string]*pathGroup {
	groups := map[string]*pathGroup{}
	for i := range table {
		prefix, suffix := cutPattern(table[i].pattern)
		if groups[prefix] == nil {
			groups[prefix] = &pathGroup{prefix: prefix}
		}
		groups[prefix].add(suffix, &table[i])
	}
	return groups
}

func (p *pathGroup) add(suffix []string, r *route) {
	at := slices.IndexFunc(p.suffixes, func(s suffixRoutes) bool { return slices.Equal(s.suffix, suffix) })
	if at < 0 {
		p.suffixes = append(p.suffixes, suffixRoutes{suffix, methods{}})
		at = len(p.suffixes) - 1
	}
	p.suffixes[at].methods[r.method] = r
	slices.SortFunc(p.suffixes, func(a, b suffixRoutes) int { return cmp.Compare(len(b.suffix), len(a.suffix)) })
}

// match finds the routes of an escaped path and the values of its variables, or nil.
func (p *pathGroup) match(escaped string) (variables []string, found methods) {
	fixed, open := strings.CutSuffix(p.prefix, "*")
	if !open {
		return nil, p.suffixes[0].methods
	}
	tail := strings.TrimPrefix(escaped, fixed)
	for _, s := range p.suffixes {
		if variables, ok := split(tail, s.suffix); ok {
			return variables, s.methods
		}
	}
	return nil, nil
}

// split removes suffix from the end of an escaped path and returns the variables in the
// order of the pattern. The variable before the suffix may contain slashes, escaped or not.
// split separates it from the suffix before anything is unescaped. It does not clean the
// path: the operation rejects a UID with an extra slash.
func split(escaped string, suffix []string) (variables []string, ok bool) {
	variables = make([]string, 1, 2)
	for i := len(suffix) - 1; i >= 0; i-- {
		slash := strings.LastIndexByte(escaped, '/')
		if slash < 0 {
			return nil, false
		}
		segment := escaped[slash+1:]
		switch {
		case strings.HasPrefix(suffix[i], "{"):
			variables = slices.Insert(variables, 1, unescape(segment))
		case segment != suffix[i]:
			return nil, false
		}
		escaped = escaped[:slash]
	}
	variables[0] = unescape(escaped)
	return variables, true
}

// unescape decodes escapes. It leaves invalid ones unchanged; net/http rejects them,
// and no operation accepts them in a UID.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}
