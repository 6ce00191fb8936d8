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

// maxKeys bounds what one field asks for by name.
const maxKeys = 200

func tooMany(field string) error {
	return platform.Invalid(platform.Violation{Field: field, Description: fmt.Sprintf("must be at most %d", maxKeys)})
}

// Node reads the object of a global id.
func (queries) Node(ctx context.Context, id platform.UID) (fedruntime.Entity, error) {
	found, errs := readsOf(ctx).nodes(ctx, "id", []platform.UID{id})
	return found[0], errs[0]
}

// Nodes reads the objects of global ids, each or its error in its place.
func (queries) Nodes(ctx context.Context, ids []platform.UID) ([]fedruntime.Entity, error) {
	if len(ids) > maxKeys {
		return nil, tooMany("ids")
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
			errs[i] = platform.Invalid(platform.Violation{Field: field, Description: "is no id of an object of this service"})
		}
	}
	return found, errs
}

// An object is named by its GraphQL type and its key in it.
type object struct{ typeName, key string }

// objects reads objects, one read for each type. Those of no type are nil.
func (r *reads) objects(ctx context.Context, objects []object) ([]fedruntime.Entity, []error) {
	found, errs := make([]fedruntime.Entity, len(objects)), make([]error, len(objects))
	byType := r.byType()
	keys, places := map[string][]string{}, map[string][]int{}
	for i, o := range objects {
		if byType[o.typeName] != nil {
			keys[o.typeName], places[o.typeName] = append(keys[o.typeName], o.key), append(places[o.typeName], i)
		}
	}
	for _, typeName := range slices.Sorted(maps.Keys(keys)) {
		rows, failed := byType[typeName](ctx, keys[typeName])
		for n, i := range places[typeName] {
			found[i], errs[i] = rows[n], failed[n]
		}
	}
	return found, errs
}

// byType tells how nodes are read, by their GraphQL types.
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

func nodesBy[K ~string, V any, P entity[V]](l *loader[K, V]) func(context.Context, []string) ([]fedruntime.Entity, []error) {
	return nodesByKey[K, V, P](l, func(name string) K { return K(name) })
}

// nodesByKey is the same for keys that global ids hold as a text of their own.
func nodesByKey[K comparable, V any, P entity[V]](l *loader[K, V], parse func(string) K) func(context.Context, []string) ([]fedruntime.Entity, []error) {
	return func(ctx context.Context, names []string) ([]fedruntime.Entity, []error) {
		keys := make([]K, len(names))
		for i, name := range names {
			keys[i] = parse(name)
		}
		rows, errs := l.many(ctx, keys)
		found := make([]fedruntime.Entity, len(rows))
		for i, row := range rows {
			if row != nil { // a nil pointer is no nil interface
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

// represented reads the objects that a gateway asks for: in the order of keys,
// nil where there is none, with the errors of the others in their places.
func represented[K comparable, V any](ctx context.Context, l *loader[K, V], keys []K) ([]*V, error) {
	if len(keys) > maxKeys {
		return nil, tooMany("representations")
	}
	rows, errs := l.many(ctx, keys)
	for i := range errs {
		if errs[i] = unlessMissing(errs[i]); errs[i] != nil {
			errs[i] = platform.AsError(errs[i]) // told from gqlgen's own, see present
		}
	}
	return rows, graphql.BatchErrorList(errs)
}
