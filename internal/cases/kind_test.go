package cases

import "slices"

// A kind has the data of one kind of resources. The rows that all kinds share are derived
// from it.
type kind struct {
	name   string // Repo, as in GetRepo
	plural string // Repos, as in ListRepos
	ref    string // repo: what {repo} makes one of
	area   string // that its errors come from
	parent string // the type of what it lives in, as errors name it
	in     string // where {repo} is made

	sharesUID bool // one has the UID of the group that it lives in

	// put creates a resource of a kind without an operation for that.
	put func(e *env, parent string, given fields) fields

	minimal, full fields                      // what a new one must have, and all it can have
	needs         string                      // the fields that are missing where nothing is given
	shown         fields                      // what an answer holds beside what was given
	once          fields                      // what only the answer to the creation holds
	hidden        []string                    // what is given and never shown
	derived       map[string]func(any) fields // what an answer shows for what was given, by field

	bad       []bad    // each field as it must not be
	several   bad      // many of them at once
	twin      fields   // of a second one, equal to {repo} where no two may be; nil: any two may
	misplaced []string // what cannot hold it

	changes []change // of each field that an update can change
	fixed   string   // a field that no update changes

	extra   []call // a good call of each operation beside create, get, list, update, delete
	library library
	rows    []row // that this kind has alone
}

// A bad is a change that makes minimal invalid.
type bad struct {
	name       string
	fields     fields
	violations string
	types      types
}

// types says when the types of GraphQL rule something out.
type types int

const (
	never types = iota
	atCreation
	always
)

// A change is a change of one field.
type change struct {
	field string
	to    any
	// required: it cannot be cleared.
	required bool
	// cleared has the fields that an answer shows after the field was cleared, and gone
	// those that it then lacks.
	cleared fields
	gone    []string
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

// one names an existing resource, and missing one that does not exist.
func (k *kind) one() string     { return "{" + k.ref + "}" }
func (k *kind) missing() string { return k.in + "/00000000000000ff" }

// list returns the call that lists the kind. If the list belongs to a resource, it names
// that resource.
func (k *kind) list(params fields) call {
	c := call{rpc: "List" + k.plural, params: k.library.always.with(params)}
	if k.library.of != "" {
		c.on = k.in
	}
	return c
}

// with returns f with others added, which replace fields of the same name.
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
