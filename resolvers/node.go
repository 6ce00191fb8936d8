package resolvers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/plugin/federation/fedruntime"

	"atrium/graph/scalar"
	"atrium/platform"
)

// maxKeys limits how many objects one field can request by key.
const maxKeys = 200

func tooManyKeys(field string) error {
	return platform.Invalid(platform.Violation{Field: field, Description: fmt.Sprintf("must be at most %d", maxKeys)})
}

// Node reads the object that a global id names.
func (queries) Node(ctx context.Context, id platform.UID) (fedruntime.Entity, error) {
	found, errs := readsOf(ctx).nodes(ctx, "id", []platform.UID{id})
	return found[0], errs[0]
}

// Nodes reads the objects that global ids name. An object that cannot be read is
// null, with an error whose path ends in its index.
func (queries) Nodes(ctx context.Context, ids []platform.UID) ([]fedruntime.Entity, error) {
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
func (r *reads) nodes(ctx context.Context, field string, ids []platform.UID) ([]fedruntime.Entity, []error) {
	objects := make([]object, len(ids))
	for i, id := range ids {
		objects[i].typeName, objects[i].key, _ = scalar.ParseGlobalID(string(id))
	}
	found, errs := r.objects(ctx, objects)
	byType := r.byType()
	for i, o := range objects {
		if byType[o.typeName] == nil {
			errs[i] = platform.Invalid(platform.Violation{Field: field, Description: "is not the global id of an object of this service"})
		}
	}
	return found, errs
}

// An object identifies an object by its GraphQL type and its key.
type object struct{ typeName, key string }

// objects reads objects, with one read for each type. Objects of unknown types
// are nil.
func (r *reads) objects(ctx context.Context, objects []object) ([]fedruntime.Entity, []error) {
	found, errs := make([]fedruntime.Entity, len(objects)), make([]error, len(objects))
	byType := r.byType()
	keys, indices := map[string][]string{}, map[string][]int{}
	for i, o := range objects {
		if byType[o.typeName] != nil {
			keys[o.typeName], indices[o.typeName] = append(keys[o.typeName], o.key), append(indices[o.typeName], i)
		}
	}
	for _, typeName := range slices.Sorted(maps.Keys(keys)) {
		rows, failed := byType[typeName](ctx, keys[typeName])
		for n, i := range indices[typeName] {
			found[i], errs[i] = rows[n], failed[n]
		}
	}
	return found, errs
}

// byType maps each GraphQL type to the function that reads nodes of the type.
func (r *reads) byType() map[string]func(context.Context, []string) ([]fedruntime.Entity, []error) {
	return map[string]func(context.Context, []string) ([]fedruntime.Entity, []error){
		"Group":                    nodesBy(&r.groups),
		"Identity":                 nodesBy(&r.identities),
		"Role":                     nodesBy(&r.roles),
		"RoleBinding":              nodesBy(&r.roleBindings),
		"Repo":                     nodesBy(&r.repos),
		"Tag":                      nodesBy(&r.tags),
		"Advisory":                 nodesBy(&r.advisories),
		"EventSubscription":        nodesBy(&r.subscriptions),
		"Delivery":                 nodesBy(&r.deliveries),
		"VulnerabilityMetadata":    nodesBy(&r.vulnerabilities),
		"AdvisoryDocument":         nodesBy(&r.documents),
		"Event":                    nodesBy(&r.events),
		"Artifact":                 nodesBy(&r.artifacts),
		"ArtifactVersion":          nodesBy(&r.artifactVersions),
		"IdentityProvider":         nodesBy(&r.identityProviders),
		"AccountAssociation":       nodesBy(&r.accountAssociations),
		"GroupInvite":              nodesBy(&r.groupInvites),
		"ExternalGroupRoleMapping": nodesBy(&r.externalGroupRoleMappings),
		"TermsAcceptance":          nodesByKey(&r.terms, scalar.ParseTermsKey),
	}
}

// nodesBy returns a function that reads nodes through a loader whose keys are the
// keys of global ids.
func nodesBy[K ~string, V any, P entity[V]](l *loader[K, V]) func(context.Context, []string) ([]fedruntime.Entity, []error) {
	return nodesByKey[K, V, P](l, func(name string) K { return K(name) })
}

// nodesByKey returns a function that reads nodes through a loader. The function
// parse converts the key of a global id into the key of the loader.
func nodesByKey[K comparable, V any, P entity[V]](l *loader[K, V], parse func(string) K) func(context.Context, []string) ([]fedruntime.Entity, []error) {
	return func(ctx context.Context, names []string) ([]fedruntime.Entity, []error) {
		keys := make([]K, len(names))
		for i, name := range names {
			keys[i] = parse(name)
		}
		rows, errs := l.loadMany(ctx, keys)
		found := make([]fedruntime.Entity, len(rows))
		for i, row := range rows {
			if row != nil { // an interface that holds a nil pointer is not nil
				found[i] = P(row)
			}
		}
		return found, errs
	}
}

type entity[V any] interface {
	*V
	fedruntime.Entity
}

// readRepresentations reads the objects that a federation gateway requests, in the
// order of keys. An object that is not found is nil. Other errors have the index
// of their key.
func readRepresentations[K comparable, V any](ctx context.Context, l *loader[K, V], keys []K) ([]*V, error) {
	if len(keys) > maxKeys {
		return nil, tooManyKeys("representations")
	}
	rows, errs := l.loadMany(ctx, keys)
	for i := range errs {
		if errs[i] = ignoreNotFound(errs[i]); errs[i] != nil {
			errs[i] = platform.AsError(errs[i]) // Present must not take it for an error of the generated code
		}
	}
	return rows, graphql.BatchErrorList(errs)
}
