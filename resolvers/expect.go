package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/internal/graphql/execute"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// A keyedType is a type whose objects root fields find by their UIDs.
type keyedType struct {
	root   string             // the root field that finds an object by its UID
	kind   string             // name of the kind in the core
	object func(core.UID) any // returns an object that has only its UID
	fields []string           // fields that need no more than the UID
}

// keyedTypes has the types with lists and other reads that need only the UID of their object, so that they are read
// together with it.
var keyedTypes = map[string]keyedType{
	"Group": {"group", "Group", func(uid core.UID) any { return &iam.Group{UID: uid} }, []string{
		"parent", "ancestors", "children", "child", "descendants", "identities", "roles", "roleBindings", "effectiveBindings", "whoCan", "repos", "repo", "tags",
		"advisories", "advisorySummary", "findings", "findingSummary", "identityProviders", "accountAssociation", "invites", "termsAcceptances", "subscriptions",
	}},
	"Identity": {"identity", "Identity", func(uid core.UID) any { return &iam.Identity{UID: uid} }, []string{"group", "roleBindings", "effectiveCapabilities", "can"}},
	"Role":     {"role", "Role", func(uid core.UID) any { return &iam.Role{UID: uid} }, []string{"group", "roleBindings"}},
	"Repo": {"repo", "Repo", func(uid core.UID) any { return &inventory.Repo{UID: uid} }, []string{
		"group", "tags", "tag", "advisories", "advisorySummary", "findings", "findingSummary", "readme",
	}},
	"EventSubscription": {"subscription", "Subscription", func(uid core.UID) any { return &webhooks.Subscription{UID: uid} }, []string{"group", "deliveries"}},
}

// newSchema returns the schema with the resolvers, with what root fields tell before they read, and with what live feeds share.
func newSchema(resolvers graph.ResolverRoot) *execute.Schema {
	s := graph.NewSchema(resolvers)
	for name, shared := range sharableFields {
		for _, field := range shared {
			s.Objects[name].Fields[field].Sharable = true
		}
	}
	fields := s.Objects["Query"].Fields
	for name, keyed := range keyedTypes {
		for _, field := range keyed.fields {
			s.Objects[name].Fields[field].ByKey = true
		}
		fields[keyed.root].Expect = func(ctx context.Context, arguments map[string]any) []any {
			by, _ := arguments["by"].(map[string]any)
			return append(expect(ctx, name, arguments["uid"]), expect(ctx, name, by["uid"])...)
		}
	}
	fields["node"].Expect = func(ctx context.Context, arguments map[string]any) []any {
		id, _ := arguments["id"].(string)
		name, key, _ := scalar.ParseGlobalID(id)
		return expect(ctx, name, key)
	}
	fields["_entities"].Expect = func(ctx context.Context, arguments map[string]any) (objects []any) {
		representations, _ := arguments["representations"].([]any)
		if len(representations) > maxKeys {
			return nil
		}
		for _, representation := range representations {
			r, _ := representation.(map[string]any)
			name, _ := r["__typename"].(string)
			objects = append(objects, expect(ctx, name, r["uid"])...)
		}
		return objects
	}
	return s
}

// expect returns the object of a type that has a UID, unless the type is not keyed or the UID is malformed.
func expect(ctx context.Context, typeName string, uid any) []any {
	keyed, isKeyed := keyedTypes[typeName]
	key, _ := uid.(string)
	if !isKeyed || !core.UID(key).Valid() {
		return nil
	}
	core.TraceOf(ctx).NoteResource(keyed.kind, core.UID(key))
	return []any{keyed.object(core.UID(key))}
}
