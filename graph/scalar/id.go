package scalar

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// GlobalID returns the `id` of an object, which clients must treat as opaque. It
// contains the GraphQL type and the key within the type, so it is unique over all types.
func GlobalID(typeName, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typeName + ":" + key))
}

// ParseGlobalID returns the type and the key in a global id. ok is false if the text is
// not a global id.
func ParseGlobalID(id string) (typeName, key string, ok bool) {
	if core.IsEventID(id) {
		return "Event", id, true
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil {
		return "", "", false
	}
	typeName, key, ok = strings.Cut(string(b), ":")
	return typeName, key, ok && typeName != "" && key != ""
}

// The scalar ID shows the key of an object. In the field id of an object it is the global
// id, which the functions for nodes append. In all other fields it is the key itself.

// AppendUID appends a UID.
func AppendUID(b []byte, u core.UID, nullable bool) []byte {
	return AppendKey(b, string(u), nullable)
}

// AppendNodeUID appends the global id of an object that has a UID.
func AppendNodeUID(b []byte, typeName string, u core.UID) []byte {
	return AppendNodeKey(b, typeName, string(u))
}

// MarshalUID returns the marshaler of a UID.
func MarshalUID(u core.UID) graphql.ContextMarshaler { return MarshalKey(string(u)) }

// UnmarshalUID reads a UID without checking its form, because the core does. null
// becomes "". The global id of an object of a type that is asked for becomes its UID;
// another one stays, and the core says of which type it is.
func UnmarshalUID(ctx context.Context, v any) (core.UID, error) {
	key, err := UnmarshalKey(ctx, v)
	if typeName, uid, isGlobal := ParseGlobalID(key); isGlobal && isAskedFor(ctx, typeName) {
		key = uid
	}
	return core.UID(key), err
}

// namedTypes has the types of the objects that arguments and fields of inputs name, where one name
// has the same in all of them. Those of uid and uids follow from the field that has them.
var namedTypes = map[string][]string{
	"group": {"Group"}, "parent": {"Group", "Repo", "IdentityProvider", "Artifact"},
	"within": {"Group", "Repo", "Tag"}, "scope": {"Group"},
	"identity": {"Identity"}, "assignee": {"Identity"}, "role": {"Role"}, "defaultRole": {"Role"}, "roles": {"Role"},
	"repo": {"Repo"}, "repos": {"Repo"}, "tag": {"Tag"}, "subscription": {"EventSubscription"},
}

// isAskedFor reports whether the place that a value is decoded for names an object of a type. Of
// uid and uids the field tells the type: repo(uid:), repos(where: {uids:}) and updateRepo(input: {uid:})
// return a Repo, a RepoConnection and an UpdateRepoPayload.
func isAskedFor(ctx context.Context, typeName string) bool {
	path, fc := graphql.GetPathContext(ctx), graphql.GetFieldContext(ctx)
	for path != nil && path.Field == nil {
		path = path.Parent
	}
	if path == nil || fc == nil || fc.Field.Field == nil {
		return false
	}
	if *path.Field != "uid" && *path.Field != "uids" {
		return slices.Contains(namedTypes[*path.Field], typeName)
	}
	returned := fc.Field.Definition.Type.Name()
	for _, end := range []string{"Connection", "Payload", "Readme", "s"} {
		returned = strings.TrimSuffix(returned, end)
	}
	kind := strings.TrimPrefix(typeName, "Event") // enableSubscription is about an EventSubscription
	return strings.HasSuffix(returned, kind) || strings.HasSuffix(returned, strings.TrimSuffix(kind, "y")+"ie")
}

// AppendKey appends the key of an object of a kind without UIDs.
func AppendKey(b []byte, key string, nullable bool) []byte { return AppendString(b, key, nullable) }

// AppendNodeKey appends the global id of an object that has such a key.
func AppendNodeKey(b []byte, typeName, key string) []byte {
	var buffer [128]byte
	name := append(append(append(buffer[:0], typeName...), ':'), key...)
	return append(base64.RawURLEncoding.AppendEncode(append(b, '"'), name), '"')
}

// MarshalKey returns the marshaler of such a key.
func MarshalKey(key string) graphql.ContextMarshaler { return idMarshaler(key) }

// An idMarshaler marshals a key as a global id or as itself, depending on its field.
type idMarshaler string

// MarshalGQLContext writes the key.
func (m idMarshaler) MarshalGQLContext(ctx context.Context, w io.Writer) error {
	text := AppendKey(nil, string(m), isInNullableField(ctx))
	if fc := graphql.GetFieldContext(ctx); inNodeID(fc) {
		text = AppendNodeKey(nil, fc.Object, string(m))
	}
	_, err := w.Write(text)
	return err
}

// AppendNodeTermsKey appends the global id of an acceptance of terms.
func AppendNodeTermsKey(b []byte, typeName string, k iam.TermsKey) []byte {
	return AppendNodeKey(b, typeName, termsKey(k))
}

func termsKey(k iam.TermsKey) string { return string(k.Group) + "#" + k.DocID }

// MarshalTermsKey returns the marshaler of the key of an acceptance of terms, which has
// no UID.
func MarshalTermsKey(k iam.TermsKey) graphql.ContextMarshaler { return MarshalKey(termsKey(k)) }

// UnmarshalTermsKey reads the key of an acceptance of terms.
func UnmarshalTermsKey(ctx context.Context, v any) (iam.TermsKey, error) {
	key, err := UnmarshalKey(ctx, v)
	return ParseTermsKey(key), err
}

// ParseTermsKey splits the key in a global id. It does not check the form of the parts,
// because the core does.
func ParseTermsKey(key string) iam.TermsKey {
	group, document, _ := strings.Cut(key, "#") // no UID contains this character
	return iam.TermsKey{Group: core.UID(group), DocID: document}
}

// AppendNodeImageKey appends the global id of an image.
func AppendNodeImageKey(b []byte, typeName string, k core.ImageKey) []byte {
	return AppendNodeKey(b, typeName, k.Text())
}

// MarshalImageKey returns the marshaler of the key of an image, which has no UID.
func MarshalImageKey(k core.ImageKey) graphql.ContextMarshaler { return MarshalKey(k.Text()) }

// UnmarshalImageKey reads the key of an image.
func UnmarshalImageKey(ctx context.Context, v any) (core.ImageKey, error) {
	key, err := UnmarshalKey(ctx, v)
	return ParseImageKey(key), err
}

// ParseImageKey splits the key in a global id. It does not check the form of the parts,
// because the core does.
func ParseImageKey(key string) core.ImageKey {
	repo, digest, _ := strings.Cut(key, "@") // no UID contains this character
	return core.ImageKey{Repo: core.UID(repo), Digest: digest}
}

// inNodeID reports whether a field shows the global id of an object. The id of an event is
// not a global id, because it is already unique.
func inNodeID(fc *graphql.FieldContext) bool {
	if fc == nil || fc.Field.Field == nil || fc.Field.Name != "id" || fc.Object == "Event" {
		return false
	}
	object := fc.Field.ObjectDefinition
	return object.Name == "Node" || slices.Contains(object.Interfaces, "Node")
}

// UnmarshalKey reads an ID. It accepts a number, as the GraphQL specification requires.
func UnmarshalKey(ctx context.Context, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	default:
		return "", malformedError(ctx, "must be a string")
	}
}
