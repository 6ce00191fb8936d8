package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// resolveEntities reads the objects of representations, those of each type together. A
// representation that is malformed fails alone. With __resolve_entities of gqlgen, all of its
// type would fail, and the error would not name it.
func (ec *executionContext) resolveEntities(ctx context.Context, representations []map[string]any) []scalar.Node {
	list, ofType := make([]scalar.Node, len(representations)), map[string][]EntityWithIndex{}
	for i, representation := range representations {
		typeName, _ := representation["__typename"].(string)
		if err := checkRepresentation(i, typeName, representation); err != nil {
			ec.Error(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(i)), err)
			continue
		}
		ofType[typeName] = append(ofType[typeName], EntityWithIndex{i, representation})
	}
	var all sync.WaitGroup
	for typeName, entities := range ofType {
		all.Go(func() { ec.resolveEntityGroup(ctx, typeName, entities, list) })
	}
	all.Wait()
	return list
}

// checkRepresentation returns an error for a representation without a key of its type.
func checkRepresentation(i int, typeName string, representation map[string]any) error {
	invalid := func(field, description string) error {
		return core.Invalid(fieldmask.Violation{Field: fmt.Sprintf("representations[%d].%s", i, field), Description: description})
	}
	if !isMulti(typeName) {
		return invalid("__typename", "must be the name of an entity of this service")
	}
	fields, _ := Schema().Types[typeName].Directives.ForName("key").ArgumentMap(nil)["fields"].(string)
	for name := range strings.FieldsSeq(fields) {
		switch representation[name].(type) {
		case string, json.Number: // the core says what is wrong with it
		default:
			return invalid(name, "is required, and must be a string")
		}
	}
	return nil
}
