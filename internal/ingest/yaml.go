package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

// Limits of a YAML document. They are lower than those of JSON, because its nodes
// take far more memory than its text. The JSON that it becomes, with all aliases
// expanded, is limited to MaxRecord.
const (
	maxYAML      = 4 << 20 // bytes
	maxYAMLDepth = 100
)

// yamlToJSON converts a YAML document to JSON. Times and numbers become strings
// exactly as they are written, because the fields of OSV records are strings: the
// version 1.10 must stay 1.10.
func yamlToJSON(document []byte) ([]byte, error) {
	if len(document) > maxYAML {
		return nil, fmt.Errorf("is larger than %d MiB, the limit of a record in YAML", maxYAML>>20)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	var root, next yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("contains no YAML document")
	case err != nil:
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		return nil, errors.New("contains several YAML documents; write each record to its own file")
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	var w yamlWriter
	err := w.writeNode(&root, 0)
	return w.out.Bytes(), err
}

// A yamlWriter writes nodes as JSON.
type yamlWriter struct{ out bytes.Buffer }

// writeNode writes a node of any kind. depth is the number of nodes that contain it.
func (w *yamlWriter) writeNode(n *yaml.Node, depth int) error {
	switch {
	case depth > maxYAMLDepth: // also an alias of a node that contains the alias
		return fmt.Errorf("line %d: is nested more than %d deep", n.Line, maxYAMLDepth)
	case w.out.Len()+len(n.Value) > MaxRecord: // also ends the expansion of aliases, because every node writes something
		return errTooLarge
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.writeNode(n.Content[0], depth+1)
	case yaml.AliasNode:
		return w.writeNode(n.Alias, depth+1)
	case yaml.SequenceNode:
		return w.writeSequence(n, depth)
	case yaml.MappingNode:
		return w.writeMapping(n, depth)
	default:
		return w.writeScalar(n)
	}
}

// writeSequence writes a sequence as an array.
func (w *yamlWriter) writeSequence(n *yaml.Node, depth int) error {
	w.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.writeNode(item, depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

// writeMapping writes a mapping as an object.
func (w *yamlWriter) writeMapping(n *yaml.Node, depth int) error {
	names := make(map[string]bool, len(n.Content)/2)
	w.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: the name of a field must be a string", name.Line)
		case name.ShortTag() == "!!merge":
			return fmt.Errorf("line %d: << (merge) is not supported; write the fields out", name.Line)
		case names[name.Value]:
			return fmt.Errorf("line %d: the field %.100q is repeated", name.Line, name.Value)
		case i > 0:
			w.out.WriteByte(',')
		}
		names[name.Value] = true
		w.writeString(name.Value)
		w.out.WriteByte(':')
		if err := w.writeNode(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// writeScalar writes a scalar as a string, except for null and booleans.
func (w *yamlWriter) writeScalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.out.WriteString("null")
	case "!!bool":
		var value bool
		if err := n.Decode(&value); err != nil {
			return fmt.Errorf("line %d: is not YAML: %w", n.Line, err)
		}
		fmt.Fprint(&w.out, value)
	case "!!binary":
		return fmt.Errorf("line %d: contains binary data, which no field of a record accepts", n.Line)
	default:
		w.writeString(n.Value)
	}
	return nil
}

func (w *yamlWriter) writeString(s string) {
	quoted, _ := json.Marshal(s) // cannot fail for a string
	w.out.Write(quoted)
}
