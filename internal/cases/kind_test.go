package cases

import "slices"

// A kind is what the table knows of one kind of resources: all rows that kinds
// have in common are made of it.
type kind struct {
	name   string // Repo, as in GetRepo
	plural string // Repos, as in ListRepos
	ref    string // repo: what {repo} makes one of
	area   string // that its errors come from
	parent string // the type of what it lives in, as errors name it
	in     string // where {repo} is made

	sharesUID bool // one has the UID of the group that it lives in

	// put makes one of a kind that has no operation for that.
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

// A bad is a change of minimal that makes it bad.
type bad struct {
	name       string
	fields     fields
	violations string
	types      types
}

// types says when GraphQL's types leave no room for something.
type types int

const (
	never types = iota
	atCreation
	always
)

// A change is one of one field.
type change struct {
	field string
	to    any
	// required: it cannot be cleared.
	required bool
	// cleared is what an answer shows once the field is, and gone what it lacks
	// then.
	cleared fields
	gone    []string
}

// kinds are all kinds of the table, as newKind has listed them.
var kinds []*kind

func newKind(k kind) *kind {
	kinds = append(kinds, &k)
	return &k
}

func kindNamed(name string) *kind {
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

// has reports whether the ledger has an operation of the kind.
func (k *kind) has(w *world, verb string) bool {
	_, has := w.ledger[verb+k.name]
	return has
}

// resource is its type as errors name it.
func (k *kind) resource() string { return k.area + "/" + k.name }

// one names one that is there, missing one that is not.
func (k *kind) one() string     { return "{" + k.ref + "}" }
func (k *kind) missing() string { return k.in + "/00000000000000ff" }

// list asks for a list of the kind, of those where it lives if the list is of
// something.
func (k *kind) list(params fields) call {
	c := call{rpc: "List" + k.plural, params: k.library.always.with(params)}
	if k.library.of != "" {
		c.on = k.in
	}
	return c
}

// with is f with others in place of, or beside, its own.
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
