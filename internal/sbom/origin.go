package sbom

import (
	"cmp"
	"slices"
	"strings"
)

// A Scope says what an image needs a package for.
type Scope string

// The scopes.
const (
	ScopeRequired    Scope = "required"    // the program does not run without it
	ScopeOptional    Scope = "optional"    // the program can run without it
	ScopeDevelopment Scope = "development" // it is there to build or to test
)

// scopes has the scopes of CycloneDX, and those of the relationships of SPDX.
var scopes = map[string]Scope{
	"required": ScopeRequired, "optional": ScopeOptional, "excluded": ScopeDevelopment,
	"runtime": ScopeRequired, "dev": ScopeDevelopment, "development": ScopeDevelopment, "test": ScopeDevelopment, "build": ScopeDevelopment,
}

// mergeScopes returns the scope of a package that a document has twice. One that is needed somewhere is needed, and of
// one whose scope is not known everywhere, nothing is known.
func mergeScopes(a, b Scope) Scope {
	switch {
	case a == b:
		return a
	case a == ScopeRequired || b == ScopeRequired:
		return ScopeRequired
	case a == "" || b == "":
		return ""
	default:
		return ScopeOptional
	}
}

// maxIntroducers is how many of the packages through which one comes are kept: the first ones by name.
const maxIntroducers = 20

// A dependency says that an element of a document needs another one, or only that it holds it.
type dependency struct {
	from, to string // ids
	holds    bool
}

// An origin says where a package comes from. Its zero value says nothing.
type origin struct {
	direct       *bool
	introducedBy []int // entries; nil if nothing is known, also of a package at the beginning
}

// A dependencyGraph has the elements of a document that need others. An element is a package, or something that holds packages
// without being one: the project that the document is about, an image, or a file with a list of packages.
type dependencyGraph struct {
	entries   []int   // by nodes; -1 if it is no package
	needs     [][]int // nodes
	isNeeded  []bool  // by a package
	isListed  []bool  // by an element that does not tell its direct dependencies from others
	isDirect  []bool
	isReached []bool // from a direct dependency
}

// origins finds out where the packages of a document come from, in the order of entries. Only some documents say which
// dependencies are direct: where a project or a file lists those, others come only through them. Documents that list all
// packages, or that have no list, leave it open; there, a package comes through those that no other package needs.
func (r *reader) origins() []origin {
	origins := make([]origin, len(r.entries))
	if len(r.dependencies) == 0 {
		return origins
	}
	g, project := r.newGraph()
	var starts []int
	for node, entry := range g.entries {
		if entry < 0 && !g.isNeeded[node] {
			starts = append(starts, g.directDependencies(node, node == project)...)
		}
	}
	for _, node := range starts {
		g.isDirect[node] = true
	}
	g.markReached(starts)
	for node, entry := range g.entries {
		if entry >= 0 && !g.isReached[node] && !g.isNeeded[node] && len(g.needs[node]) > 0 {
			starts = append(starts, node)
		}
	}
	slices.SortFunc(starts, func(a, b int) int {
		x, y := r.entries[g.entries[a]], r.entries[g.entries[b]]
		return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.version, y.version), a-b)
	})
	for node, through := range g.introducers(slices.Compact(starts)) {
		entry := g.entries[node]
		if entry < 0 {
			continue
		}
		isDirect := g.isDirect[node]
		if isDirect || g.isReached[node] && !g.isListed[node] {
			origins[entry].direct = &isDirect
		}
		if isDirect && through == nil {
			through = []int{}
		}
		origins[entry].introducedBy = through
	}
	return origins
}

// newGraph returns the graph of a document, and the node of its project, or -1.
func (r *reader) newGraph() (g *dependencyGraph, project int) {
	g = &dependencyGraph{}
	nodes := map[string]int{}
	node := func(id string, entry int) int {
		n, known := nodes[id]
		if !known {
			n = len(g.entries)
			nodes[id], g.entries, g.needs = n, append(g.entries, entry), append(g.needs, nil)
		}
		return n
	}
	if project = -1; r.project != "" {
		project = node(r.project, -1)
	}
	for i, e := range r.entries {
		if e.id != "" {
			node(e.id, i)
		}
	}
	for _, d := range r.dependencies {
		from, to := node(d.from, -1), node(d.to, -1)
		if from != to && (!d.holds || g.entries[from] < 0) {
			g.needs[from] = append(g.needs[from], to)
		}
	}
	n := len(g.entries)
	g.isNeeded, g.isListed, g.isDirect, g.isReached = make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n)
	for from, needs := range g.needs {
		slices.Sort(needs)
		g.needs[from] = slices.Compact(needs)
		for _, to := range g.needs[from] {
			g.isNeeded[to] = g.isNeeded[to] || g.entries[from] >= 0
		}
	}
	return g, project
}

// directDependencies returns the packages that an element lists if those are its direct dependencies: if they need others
// that it does not list. One that lists a single package may only name its project.
func (g *dependencyGraph) directDependencies(node int, isProject bool) []int {
	var listed []int
	for _, to := range g.needs[node] {
		if g.entries[to] >= 0 {
			listed = append(listed, to)
		}
	}
	if len(listed) > 1 || isProject {
		for _, from := range listed {
			for _, to := range g.needs[from] {
				if _, isListed := slices.BinarySearch(listed, to); !isListed && g.entries[to] >= 0 {
					return listed
				}
			}
		}
	}
	for _, to := range listed {
		g.isListed[to] = true
	}
	return nil
}

// markReached marks nodes, and all that they need.
func (g *dependencyGraph) markReached(nodes []int) {
	for waiting := slices.Clone(nodes); len(waiting) > 0; {
		node := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if !g.isReached[node] {
			g.isReached[node] = true
			waiting = append(waiting, g.needs[node]...)
		}
	}
}

// introducers returns, for each node, the entries of the first starts through which it comes. What comes through a node that
// has all that are kept has them too, so that no node is followed more often.
func (g *dependencyGraph) introducers(starts []int) [][]int {
	through, seen := make([][]int, len(g.entries)), make([]int, len(g.entries)) // seen has the number of the last start
	for number, start := range starts {
		seen[start] = number + 1
		for waiting := []int{start}; len(waiting) > 0; {
			node := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			for _, to := range g.needs[node] {
				if seen[to] == number+1 || g.entries[to] < 0 || len(through[to]) >= maxIntroducers {
					continue
				}
				seen[to] = number + 1
				through[to], waiting = append(through[to], g.entries[start]), append(waiting, to)
			}
		}
	}
	return through
}

// setWrittenOrigins replaces the origins of the entries of which Atrium has written them.
func (r *reader) setWrittenOrigins(origins []origin) {
	entries := map[string]int{}
	for i, e := range r.entries {
		if e.written != nil {
			entries[e.id] = i
		}
	}
	unknown := 0
	for i, e := range r.entries {
		if e.written == nil {
			continue
		}
		origins[i] = origin{direct: e.written.direct}
		if e.written.introducedBy != nil {
			origins[i].introducedBy = []int{}
		}
		for _, id := range e.written.introducedBy {
			if entry, known := entries[id]; known {
				origins[i].introducedBy = append(origins[i].introducedBy, entry)
			} else {
				unknown++
			}
		}
	}
	if unknown > 0 {
		r.remark("", "names %d packages as dependencies that it does not contain", unknown)
	}
}

// setOrigins says of each package where it comes from.
func (r *reader) setOrigins() {
	origins := r.origins()
	r.setWrittenOrigins(origins)
	places := make([][]int, len(r.entries)) // of the packages that entries are
	for i, p := range r.Packages {
		for _, entry := range p.entries {
			places[entry] = append(places[entry], i)
		}
	}
	for i := range r.Packages {
		p := &r.Packages[i]
		for n, entry := range p.entries {
			of := origins[entry]
			if p.Direct = mergeDirect(p.Direct, of.direct, n == 0); of.introducedBy != nil && p.IntroducedBy == nil {
				p.IntroducedBy = []int{}
			}
			for _, by := range of.introducedBy {
				p.IntroducedBy = append(p.IntroducedBy, places[by]...)
			}
		}
		slices.SortFunc(p.IntroducedBy, func(a, b int) int {
			return cmp.Or(strings.Compare(r.Packages[a].Name, r.Packages[b].Name), strings.Compare(r.Packages[a].Version, r.Packages[b].Version), a-b)
		})
		p.IntroducedBy = slices.Compact(p.IntroducedBy)
		p.IntroducedBy = slices.DeleteFunc(p.IntroducedBy, func(by int) bool { return by == i })
		p.IntroducedBy = p.IntroducedBy[:min(len(p.IntroducedBy), maxIntroducers)]
	}
}

// mergeDirect returns whether a package is direct that a document has several times: yes if it is once, and no if it
// never is.
func mergeDirect(all, of *bool, isFirst bool) *bool {
	switch {
	case isFirst || of != nil && *of:
		return of
	case all != nil && *all:
		return all
	case all == nil || of == nil:
		return nil
	default:
		return all
	}
}
