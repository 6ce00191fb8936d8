package resolvers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// maxKeys limits how many objects one field can request by key.
const maxKeys = 200

func tooManyKeys(field string) error {
	return core.Invalid(fieldmask.Violation{Field: field, Description: fmt.Sprintf("must have at most %d items", maxKeys)})
}

// Node reads the object that a global id names.
func (queries) Node(ctx context.Context, id core.UID) (scalar.Node, error) {
	found, errs := readsOf(ctx).nodes(ctx, "id", []core.UID{id})
	return found[0], errs[0]
}

// Nodes reads the objects that global ids name. An object that cannot be read is
// null, with an error whose path ends in its index.
func (queries) Nodes(ctx context.Context, ids []core.UID) ([]scalar.Node, error) {
	if len(ids) > maxKeys {
		return nil, tooManyKeys("ids")
	}
	found, errs := readsOf(ctx).nodes(ctx, "ids", ids)
	for i, err := range errs {
		if err != nil {
			graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
		}
	}
	return found, nil
}

// nodes reads objects by their global ids, one read for each type.
func (r *reads) nodes(ctx context.Context, field string, ids []core.UID) ([]scalar.Node, []error) {
	objects := make([]object, len(ids))
	for i, id := range ids {
		objects[i].typeName, objects[i].key, _ = scalar.ParseGlobalID(string(id))
	}
	found, errs := r.objects(ctx, objects)
	for i, o := range objects {
		if nodeReaders[o.typeName] == nil {
			errs[i] = core.Invalid(fieldmask.Violation{Field: field, Description: "is not the global id of an object of this service"})
		}
	}
	return found, errs
}

// An object identifies an object by its GraphQL type and its key.
type object struct{ typeName, key string }

// objects reads objects, with one read for each type. Objects of unknown types
// are nil.
func (r *reads) objects(ctx context.Context, objects []object) ([]scalar.Node, []error) {
	found, errs := make([]scalar.Node, len(objects)), make([]error, len(objects))
	keys, indices := map[string][]string{}, map[string][]int{}
	for i, o := range objects {
		if nodeReaders[o.typeName] != nil {
			keys[o.typeName], indices[o.typeName] = append(keys[o.typeName], o.key), append(indices[o.typeName], i)
		}
	}
	_, err := forEachAtOnce(ctx, r.p, slices.Sorted(maps.Keys(keys)), func(ctx context.Context, typeName string) (struct{}, error) {
		rows, failed := nodeReaders[typeName](ctx, r, keys[typeName])
		for n, i := range indices[typeName] {
			found[i], errs[i] = rows[n], failed[n]
		}
		return struct{}{}, nil
	})
	if err != nil { // a panic, after which nothing is known of some objects
		return found, slices.Repeat([]error{err}, len(objects))
	}
	return found, errs
}

// places reads groups and repos by their UIDs, which do not tell which of them is which, with one read of each kind. One that
// is gone is nil.
func (r *reads) places(ctx context.Context, uids []core.UID) ([]scalar.Node, error) {
	found, errs := r.eachPlace(ctx, uids)
	return found, joinErrors(errs)
}

// visiblePlaces reads the groups and repos of each list, without those that are gone or that the caller may not see.
func (r *reads) visiblePlaces(ctx context.Context, lists [][]core.UID) ([][]scalar.Node, error) {
	found, errs := r.eachPlace(ctx, slices.Concat(lists...))
	return forEach(ctx, lists, func(list []core.UID) (visible []scalar.Node, err error) {
		visible = []scalar.Node{}
		for i := range list {
			if failed := ignoreHidden(errs[i]); err == nil {
				err = failed
			}
			if found[i] != nil {
				visible = append(visible, found[i])
			}
		}
		found, errs = found[len(list):], errs[len(list):]
		return visible, err
	})
}

func (r *reads) eachPlace(ctx context.Context, uids []core.UID) ([]scalar.Node, []error) {
	objects := make([]object, 0, 2*len(uids))
	for _, uid := range uids {
		objects = append(objects, object{"Group", string(uid)}, object{"Repo", string(uid)})
	}
	found, errs := r.objects(ctx, objects)
	places := make([]scalar.Node, len(uids))
	for i := range uids {
		for n := 2 * i; n < 2*i+2; n++ {
			if errs[n] = ignoreNotFound(errs[n]); found[n] != nil {
				places[i] = found[n]
			}
		}
		if errs[i] = cmp.Or(errs[2*i], errs[2*i+1]); places[i] != nil {
			errs[i] = nil
		}
	}
	return places, errs[:len(uids)]
}

// A nodeReader reads objects of one GraphQL type by the keys in their global ids.
type nodeReader func(ctx context.Context, r *reads, keys []string) ([]scalar.Node, []error)

// nodeReaders has the reader of each GraphQL type with a global id.
var nodeReaders = map[string]nodeReader{
	"Group":                    readNodes((*reads).groups),
	"Identity":                 readNodes((*reads).identities),
	"Role":                     readNodes((*reads).roles),
	"RoleBinding":              readNodes((*reads).roleBindings),
	"Repo":                     readNodes((*reads).repos),
	"Tag":                      readNodes((*reads).tags),
	"Finding":                  readNodes((*reads).findings),
	"Package":                  readNodes((*reads).packages),
	"PackageVersion":           readNodes((*reads).packageVersions),
	"Advisory":                 readNodes((*reads).advisories),
	"EventSubscription":        readNodes((*reads).subscriptions),
	"Source":                   readNodes((*reads).sources),
	"Delivery":                 readNodes((*reads).deliveries),
	"VulnerabilityMetadata":    readNodes((*reads).vulnerabilities),
	"VulnerabilityExposure":    readNodes((*reads).exposures),
	"Viewer":                   readNodes((*reads).viewers),
	"Image":                    readNodesByKey((*reads).images, scalar.ParseImageKey),
	"AdvisoryDocument":         readNodes((*reads).documents),
	"Event":                    readNodes((*reads).events),
	"Artifact":                 readNodes((*reads).artifacts),
	"ArtifactVersion":          readNodes((*reads).artifactVersions),
	"IdentityProvider":         readNodes((*reads).identityProviders),
	"AccountAssociation":       readNodes((*reads).accountAssociations),
	"GroupInvite":              readNodes((*reads).groupInvites),
	"ExternalGroupRoleMapping": readNodes((*reads).externalGroupRoleMappings),
	"TermsAcceptance":          readNodesByKey((*reads).terms, scalar.ParseTermsKey),
}

// readNodes returns a reader of objects whose keys are those of their global ids.
func readNodes[K ~string, V any](loaderOf func(*reads) *loader[K, V]) nodeReader {
	return readNodesByKey[K, V](loaderOf, func(name string) K { return K(name) })
}

// readNodesByKey returns a reader of objects. The function parse converts the key of
// a global id into the key of the loader.
func readNodesByKey[K comparable, V any](loaderOf func(*reads) *loader[K, V], parse func(string) K) nodeReader {
	return func(ctx context.Context, r *reads, names []string) ([]scalar.Node, []error) {
		keys := make([]K, len(names))
		for i, name := range names {
			keys[i] = parse(name)
		}
		rows, errs := loaderOf(r).loadMany(ctx, keys)
		found := make([]scalar.Node, len(rows))
		for i, row := range rows {
			if !isNil(row) { // an interface that holds a nil pointer is not nil
				found[i] = row
			}
		}
		return found, errs
	}
}

// readRepresentations reads the objects that a federation gateway requests, in the
// order of keys. An object that is not found is nil. Other errors have the index
// of their key.
func readRepresentations[K comparable, V any](ctx context.Context, l *loader[K, V], keys []K) ([]V, error) {
	if len(keys) > maxKeys {
		return nil, tooManyKeys("representations")
	}
	rows, errs := l.loadMany(ctx, keys)
	for i := range errs {
		if errs[i] = ignoreNotFound(errs[i]); errs[i] != nil {
			errs[i] = core.AsError(errs[i]) // Present must not take it for an error of the generated code
		}
	}
	return rows, graphql.BatchErrorList(errs)
}
