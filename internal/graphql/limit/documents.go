package limit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/internal/graphql/refusal"
	"atrium/internal/lru"
)

// PersistedQuery is the extension of a request that names its document:
// {"version": 1, "sha256Hash": "..."}.
const PersistedQuery = "persistedQuery"

// NameDocument sets the extension that is equivalent to the member documentId.
func NameDocument(raw *graphql.RawParams, id string) {
	if raw.Extensions == nil {
		raw.Extensions = map[string]any{}
	}
	raw.Extensions[PersistedQuery] = map[string]any{"version": json.Number("1"), "sha256Hash": withoutPrefix(id)}
}

// withoutPrefix returns the id of a document without the prefix of a hash, which requests and
// manifests may write or omit.
func withoutPrefix(id string) string { return strings.TrimPrefix(id, hashPrefix) }

const hashPrefix = "sha256:"

// documentOf returns the id of the document that a request names, or "".
func documentOf(raw *graphql.RawParams) (id string, err error) {
	extension, given := raw.Extensions[PersistedQuery]
	if !given || extension == nil {
		return "", nil
	}
	members, _ := extension.(map[string]any)
	id, _ = members["sha256Hash"].(string)
	if id == "" || fmt.Sprint(members["version"]) != "1" {
		return "", refusal.NewInvalid("extensions.persistedQuery", "must be of version 1, with a sha256Hash")
	}
	return id, nil
}

// unknownDocument returns the error that asks the client for the text of a document,
// as the protocol of automatic persisted queries defines it.
func unknownDocument() *gqlerror.Error {
	const code = "PERSISTED_QUERY_NOT_FOUND"
	err := &refusal.Error{Code: refusal.NotFound, Reason: code, Message: "PersistedQueryNotFound"}
	return &gqlerror.Error{Err: err, Message: err.Message, Extensions: map[string]any{"code": code}}
}

// persistedQueries implements automatic persisted queries: a client sends a document
// together with its hash once, and only the hash from then on.
type persistedQueries struct {
	kept *documentCache[string]
}

// OperationNames returns the names of all operations in t; nil has none.
func (t *TrustedDocuments) OperationNames() []string {
	if t == nil {
		return nil
	}
	return OperationNames(t.byID)
}

// OperationNames returns the names of all operations in documents by id. It ignores documents that are not valid.
func OperationNames(byID map[string]string) []string {
	var names []string
	for _, text := range byID {
		document, err := parser.ParseQuery(&ast.Source{Input: text})
		if err != nil {
			continue
		}
		for _, operation := range document.Operations {
			names = append(names, operation.Name)
		}
	}
	return names
}

// find finds the document of a hash, or checks the hash of a document.
func (q persistedQueries) find(ctx context.Context, raw *graphql.RawParams) *gqlerror.Error {
	hash, err := documentOf(raw)
	switch {
	case err != nil:
		return gqlerror.WrapIfUnwrapped(err)
	case hash == "":
		return nil
	case raw.Query != "" && hashOf(raw.Query) != hash:
		return gqlerror.WrapIfUnwrapped(refusal.NewInvalid("extensions.persistedQuery.sha256Hash", "must be the SHA-256 of query, in lower-case hex"))
	case raw.Query != "":
		return nil
	}
	var known bool
	if raw.Query, known = q.kept.Get(ctx, hash); !known {
		return unknownDocument()
	}
	return nil
}

// keep caches a document by its hash.
func (q persistedQueries) keep(ctx context.Context, operation *graphql.OperationContext) {
	if operation.Extensions[PersistedQuery] != nil && len(operation.RawQuery) <= maxKeptBytes {
		q.kept.Add(ctx, hashOf(operation.RawQuery), operation.RawQuery)
	}
}

func hashOf(document string) string {
	sum := sha256.Sum256([]byte(document))
	return hex.EncodeToString(sum[:])
}

// The maximum number of cached documents, and the maximum bytes of each.
const (
	keptDocuments = 256
	maxKeptBytes  = 16 << 10
)

// A documentCache caches values by the most recent documents or their hashes.
type documentCache[T any] struct{ kept *lru.Shared[string, T] }

func newDocumentCache[T any]() *documentCache[T] {
	return &documentCache[T]{lru.NewShared[string, T](keptDocuments)}
}

// Get returns the value of a document or of its hash.
func (c *documentCache[T]) Get(_ context.Context, key string) (value T, ok bool) {
	return c.kept.Get(key)
}

// Add caches a value, unless the key is the text of a large document.
func (c *documentCache[T]) Add(_ context.Context, key string, value T) {
	if len(key) <= maxKeptBytes {
		c.kept.Add(key, value)
	}
}

// TrustedDocuments maps ids to documents. An endpoint that has some executes no others.
type TrustedDocuments struct {
	byID  map[string]string
	texts map[string]bool
}

// ReadTrustedDocuments reads a manifest: a JSON object of documents by their
// id, which may be their hash. Each must be valid under the schema.
func ReadTrustedDocuments(path string, schema *ast.Schema) (*TrustedDocuments, error) {
	manifest, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &TrustedDocuments{texts: map[string]bool{}}
	if err := json.Unmarshal(manifest, &t.byID); err != nil {
		return nil, fmt.Errorf("%s: must be a JSON object of documents by id: %w", path, err)
	}
	for _, text := range t.byID {
		t.texts[text] = true
	}
	if err := t.check(schema); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// With returns the documents of t and further ones by id, such as those of the console.
// If t is nil, every document is trusted, and With returns nil.
func (t *TrustedDocuments) With(byID map[string]string) *TrustedDocuments {
	if t == nil {
		return nil
	}
	all := &TrustedDocuments{byID: maps.Clone(byID), texts: maps.Clone(t.texts)}
	maps.Copy(all.byID, t.byID)
	for _, text := range byID {
		all.texts[text] = true
	}
	return all
}

// check returns an error for documents that are not valid under the schema.
func (t *TrustedDocuments) check(schema *ast.Schema) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(t.byID)) {
		if _, err := gqlparser.LoadQueryWithRules(schema, t.byID[id], rules.NewDefaultRules()); err != nil {
			errs = append(errs, fmt.Errorf("document %q: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// find finds the document that a request names, or checks that the document in the
// request is trusted.
func (t *TrustedDocuments) find(_ context.Context, raw *graphql.RawParams) *gqlerror.Error {
	id, err := documentOf(raw)
	if err != nil {
		return gqlerror.WrapIfUnwrapped(err)
	}
	if raw.Query == "" {
		id = withoutPrefix(id)
		raw.Query = cmp.Or(t.byID[id], t.byID[hashPrefix+id])
	}
	if !t.texts[raw.Query] {
		return gqlerror.WrapIfUnwrapped(&refusal.Error{
			Code: refusal.PermissionDenied, Reason: "UNTRUSTED_DOCUMENT",
			Message: "Permission denied: only trusted documents are executed here, named by documentId",
		})
	}
	return nil
}

// keep does nothing, because all documents are known from the start.
func (*TrustedDocuments) keep(context.Context, *graphql.OperationContext) {}
