package resource

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// The forms of output.
const (
	Table = "table"
	Wide  = "wide"
	JSON  = "json"
	YAML  = "yaml"
	CSV   = "csv"
	Names = "name"
	UIDs  = "uid"
)

// Formats are the forms of output that people choose from.
var Formats = []string{Table, Wide, JSON, YAML, CSV, Names}

// An Output writes items.
type Output struct {
	Out    io.Writer
	Format string
	Colors bool
	Escape func(string) string // makes a text one line without control characters
	Defuse func(string) string // makes a cell of CSV that no spreadsheet runs
	Now    time.Time
	Client Client // finds the paths of groups and repos

	rows  [][]cell
	paths map[string]string // by uid
	count int               // of items that were written
}

// Write writes items of a list. A table is written by Close, since its columns are as wide as their widest cell.
func (o *Output) Write(ctx context.Context, k *Kind, items []*Item) error {
	columns := k.selectColumns(o.Format != Table)
	if o.Format == Table || o.Format == Wide || o.Format == CSV {
		if err := o.findPaths(ctx, places(columns, items)); err != nil {
			return err
		}
	}
	for _, item := range items {
		var err error
		switch o.Format {
		case Table, Wide:
			o.rows = append(o.rows, o.row(k, columns, item))
		case CSV:
			err = o.record(k, columns, item)
		case JSON:
			err = o.json(item)
		case YAML:
			err = o.yaml(item)
		case Names:
			err = o.line(item.Name(k))
		default:
			err = o.line(item.UID())
		}
		if err != nil {
			return err
		}
		o.count++
	}
	return nil
}

// Close writes what is left.
func (o *Output) Close(k *Kind) error {
	switch o.Format {
	case Table, Wide:
		if o.count == 0 {
			return nil
		}
		var header []cell
		for _, column := range k.selectColumns(o.Format == Wide) {
			header = append(header, cell{strings.ToUpper(column.Header), "2"})
		}
		return writeTable(o.Out, append([][]cell{header}, o.rows...), o.Colors)
	case CSV:
		if o.count == 0 {
			return o.header(k.selectColumns(true))
		}
	case JSON:
		end := "\n]\n"
		if o.count == 0 {
			end = "[]\n"
		}
		_, err := io.WriteString(o.Out, end)
		return err
	case YAML:
		if o.count == 0 {
			return o.line("[]")
		}
	}
	return nil
}

// findPaths asks for the paths of groups and repos that are not known yet. Who may not see them gets their uids.
func (o *Output) findPaths(ctx context.Context, uids []string) error {
	var unknown []string
	for _, uid := range uids {
		if _, known := o.paths[uid]; !known {
			unknown = append(unknown, uid)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := o.Client.Paths(ctx, unknown)
	if err != nil {
		return err
	}
	if o.paths == nil {
		o.paths = map[string]string{}
	}
	maps.Copy(o.paths, found)
	return nil
}

func (o *Output) row(k *Kind, columns []Column, item *Item) (row []cell) {
	for _, column := range columns {
		text := o.Escape(o.text(k, column, item, false))
		if o.Format == Wide && strings.HasPrefix(text, "sha256:") {
			text = o.Escape(formatValue(item.find(column.Field), true))
		}
		row = append(row, cell{text, styles[text]})
	}
	return row
}

func (o *Output) line(text string) error {
	_, err := fmt.Fprintln(o.Out, o.Escape(text))
	return err
}

func (o *Output) header(columns []Column) error {
	var names []string
	for _, column := range columns {
		name := column.Header
		if name == "age" { // CSV has the time itself.
			name = column.Field
		}
		names = append(names, name)
	}
	return o.csv(names)
}

func (o *Output) record(k *Kind, columns []Column, item *Item) error {
	if o.count == 0 {
		if err := o.header(columns); err != nil {
			return err
		}
	}
	var texts []string
	for _, column := range columns {
		texts = append(texts, o.Defuse(o.text(k, column, item, true)))
	}
	return o.csv(texts)
}

func (o *Output) csv(record []string) error {
	w := csv.NewWriter(o.Out)
	if err := w.Write(record); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

func (o *Output) json(item *Item) error {
	start := ",\n  "
	if o.count == 0 {
		start = "[\n  "
	}
	text, err := indent(item.raw, "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.Out, start+text)
	return err
}

func indent(raw json.RawMessage, prefix string) (string, error) {
	var indented strings.Builder
	encoder := json.NewEncoder(&indented)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	err := encoder.Encode(raw)
	return strings.TrimSuffix(indented.String(), "\n"), err
}

func (o *Output) yaml(items ...*Item) error {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, item := range items {
		node, err := item.node()
		if err != nil {
			return err
		}
		list.Content = append(list.Content, node)
	}
	return o.encode(list)
}

// node returns the item as YAML, with its members in the order of the server.
func (i *Item) node() (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(i.raw, &document); err != nil { // JSON is YAML too
		return nil, err
	}
	block(document.Content[0])
	return document.Content[0], nil
}

// block removes the style of JSON.
func block(node *yaml.Node) {
	node.Style = 0
	for _, child := range node.Content {
		block(child)
	}
}

func (o *Output) encode(node *yaml.Node) error {
	encoder := yaml.NewEncoder(o.Out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return err
	}
	return encoder.Close()
}

// Show writes one item: as a table, all of its fields below each other.
func (o *Output) Show(ctx context.Context, k *Kind, item *Item) error {
	switch o.Format {
	case Table, Wide:
		var rows [][]cell
		for _, d := range o.details(k, k.parts.resolve(k.schema), "", item.raw) {
			text := o.Escape(d.text)
			rows = append(rows, []cell{{o.Escape(d.name), "2"}, {text, styles[text]}})
		}
		return writeTable(o.Out, rows, o.Colors)
	case JSON:
		text, err := indent(item.raw, "")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(o.Out, text)
		return err
	case YAML:
		node, err := item.node()
		if err != nil {
			return err
		}
		return o.encode(node)
	}
	if err := o.Write(ctx, k, []*Item{item}); err != nil {
		return err
	}
	return o.Close(k)
}
