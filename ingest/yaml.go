package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yaml "github.com/oasdiff/yaml3"
)

// Bounds of a YAML document. Its nodes take far more memory than its text, and
// aliases repeat in one word what may be large: what they amount to is bounded
// by MaxRecord as any other record is.
const (
	maxYAML      = 4 << 20 // bytes
	maxYAMLDepth = 100
)

// jsonOfYAML turns a document of YAML into JSON. Times and numbers become texts
// as they are written, since fields of OSV records are texts: 1.10 is a
// version, and stays that.
func jsonOfYAML(document []byte) ([]byte, error) {
	if len(document) > maxYAML {
		return nil, fmt.Errorf("is larger than %d MiB, which is what a record in YAML may be", maxYAML>>20)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	var root, next yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("holds no YAML document")
	case err != nil:
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		return nil, errors.New("holds several YAML documents; a record is a file of its own")
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	var w yamlWriter
	err := w.node(&root, 0)
	return w.out.Bytes(), err
}

// A yamlWriter writes nodes as JSON.
type yamlWriter struct{ out bytes.Buffer }

func (w *yamlWriter) node(n *yaml.Node, depth int) error {
	switch {
	case depth > maxYAMLDepth: // an alias of what it stands in has no end
		return fmt.Errorf("line %d: is nested more than %d deep", n.Line, maxYAMLDepth)
	case w.out.Len()+len(n.Value) > MaxRecord: // every node writes something
		return errTooLarge
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], depth+1)
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.SequenceNode:
		return w.sequence(n, depth)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	default:
		return w.scalar(n)
	}
}

func (w *yamlWriter) sequence(n *yaml.Node, depth int) error {
	w.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.node(item, depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) error {
	names := make(map[string]bool, len(n.Content)/2)
	w.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: the name of a field must be a plain text", name.Line)
		case name.ShortTag() == "!!merge":
			return fmt.Errorf("line %d: << is not read: write the fields out", name.Line)
		case names[name.Value]:
			return fmt.Errorf("line %d: %.100q is there twice", name.Line, name.Value)
		case i > 0:
			w.out.WriteByte(',')
		}
		names[name.Value] = true
		w.text(name.Value)
		w.out.WriteByte(':')
		if err := w.node(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.out.WriteString("null")
	case "!!bool":
		var is bool
		if err := n.Decode(&is); err != nil {
			return fmt.Errorf("line %d: is not YAML: %w", n.Line, err)
		}
		fmt.Fprint(&w.out, is)
	case "!!binary":
		return fmt.Errorf("line %d: holds binary data, which no field of a record is", n.Line)
	default:
		w.text(n.Value)
	}
	return nil
}

func (w *yamlWriter) text(s string) {
	quoted, _ := json.Marshal(s) // of a text: it cannot fail
	w.out.Write(quoted)
}
