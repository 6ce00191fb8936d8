package cases

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A kind describes one kind of resources. The rows that all kinds share are derived from
// it.
type kind struct {
	name   string // This is Repo, as in GetRepo.
	plural string // This is Repos, as in ListRepos.
	ref    string // If this is repo, {repo} creates a resource of the kind.
	area   string // The errors of the kind name this area.
	parent string // Errors name this type of its parent.
	in     string // {repo} is created in this resource.

	sharesUID bool // A resource of the kind has the UID of its group.

	// put creates a resource of a kind that has no operation for that.
	put func(e *env, parent string, given fields) fields

	minimal, full  fields                      // A new resource must have the fields in minimal; full has all fields.
	needs          map[string]string           // Fields that are only valid together with another one.
	requiredFields string                      // A request without fields must be rejected with these names.
	shown          fields                      // An answer shows these fields besides the given ones.
	shownOnce      fields                      // Only the answer to the creation shows these fields.
	hidden         []string                    // No answer shows these fields.
	derived        map[string]func(any) fields // An answer shows the result of these functions instead of the given values.

	badInputs  []badInput // Each of these makes a creation fail.
	manyErrors badInput   // This has many errors at once.
	twin       fields     // These fields conflict with {repo}; nil means that nothing can conflict.
	unique     string     // These fields together are unique; "" means that the fields of twin are.
	misplaced  []string   // These resources cannot be a parent of the kind.

	changes       []change // There is one change for each field that an update can change.
	readOnlyField string   // No update changes this field.

	extra   []call // These are valid calls of the operations besides create, get, list, update and delete.
	library library
	rows    []row // Only this kind has these rows.

	// ownRights means that rights do not follow from the UID: the matrix has only the calls in extra.
	ownRights bool
}

// uniqueFields returns the fields that a conflict with another resource names.
func (k *kind) uniqueFields() string {
	return cmp.Or(k.unique, strings.Join(slices.Sorted(maps.Keys(k.twin)), " "))
}

// A badInput is a change that makes minimal invalid.
type badInput struct {
	name       string
	fields     fields
	violations string
	typeErrors typeErrors
}

// typeErrors says which operations the types of GraphQL prevent.
type typeErrors int

const (
	noTypeError typeErrors = iota
	typeErrorInCreate
	typeError
)

// A change is a change of one field.
type change struct {
	field string
	to    any
	// A required field cannot be cleared.
	required bool
	// After the field was cleared, an answer shows the fields in cleared and lacks those
	// in removed.
	cleared fields
	removed []string
}

// kinds has all kinds of the table. newKind adds them.
var kinds []*kind

func newKind(k kind) *kind {
	kinds = append(kinds, &k)
	return &k
}

func findKind(name string) *kind {
	if i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return nil
}

func kindOf(ref string) *kind {
	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.ref == ref })
	if i < 0 {
		return nil
	}
	return kinds[i]
}

// has reports whether the reference has an operation of the kind.
func (k *kind) has(w *world, verb string) bool {
	_, has := w.ledger[verb+k.name]
	return has
}

// resource returns the type of the kind as errors name it.
func (k *kind) resource() string { return k.area + "/" + k.name }

// existing names an existing resource, and missing one that does not exist.
func (k *kind) existing() string { return "{" + k.ref + "}" }
func (k *kind) missing() string  { return k.in + "/00000000000000ff" }

// list returns the call that lists the kind. If the list belongs to a resource, it names
// that resource.
func (k *kind) list(params fields) call {
	c := call{rpc: "List" + k.plural, params: k.library.params.with(params)}
	if k.library.parent != "" {
		c.target = k.in
	}
	return c
}

// with returns f with others added. They replace fields of the same name.
func (f fields) with(others fields) fields {
	all := fields{}
	for name, value := range f {
		all[name] = value
	}
	for name, value := range others {
		all[name] = value
	}
	return all
}

func (f fields) without(names ...string) fields {
	rest := f.with(nil)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}
