package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	convert "sigs.k8s.io/yaml"
)

// The table of values goes between these lines of README.md.
const beginValues, endValues = "<!-- values -->\n", "<!-- /values -->\n"

var errOldReadme = errors.New("README.md of the chart is not that of its values; run make generate")

// writeReadme makes the table of README.md from values.yaml. With check, it only compares them.
func writeReadme(folder string, check bool) error {
	text, err := os.ReadFile(filepath.Join(folder, "values.yaml"))
	if err != nil {
		return err
	}
	var values yaml.Node
	if err := yaml.Unmarshal(text, &values); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("\n| value | default | |\n|---|---|---|\n")
	if err := describeValues(&table, "", values.Content[0]); err != nil {
		return err
	}
	path := filepath.Join(folder, "README.md")
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(old, []byte(beginValues))
	_, after, closed := bytes.Cut(rest, []byte(endValues))
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(beginValues), strings.TrimSpace(endValues))
	}
	now := bytes.Join([][]byte{before, []byte(beginValues + table.String() + "\n" + endValues), after}, nil)
	if check {
		if !bytes.Equal(old, now) {
			return errOldReadme
		}
		return nil
	}
	return os.WriteFile(path, now, 0o644)
}

// maxDefault is the length of a default that still fits into the table.
const maxDefault = 80

// describeValues writes a line for each value. A map whose members have comments is described by these.
func describeValues(table *strings.Builder, prefix string, values *yaml.Node) error {
	for i := 0; i+1 < len(values.Content); i += 2 {
		name, value := values.Content[i], values.Content[i+1]
		isGroup := value.Kind == yaml.MappingNode && value.Style != yaml.FlowStyle && len(value.Content) > 0
		shown := ""
		if !isGroup {
			var decoded any
			if err := value.Decode(&decoded); err != nil {
				return err
			}
			asJSON, err := convert.Marshal(decoded)
			if err != nil {
				return err
			}
			if asJSON, err = convert.YAMLToJSON(asJSON); err != nil {
				return err
			}
			if shown = "`" + string(asJSON) + "`"; len(shown) > maxDefault {
				shown = "see values.yaml"
			}
		}
		comment := describeComment(name.HeadComment)
		if shown != "" || comment != "" {
			fmt.Fprintf(table, "| `%s%s` | %s | %s |\n", prefix, name.Value, shown, comment)
		}
		if isGroup {
			if err := describeValues(table, prefix+name.Value+".", value); err != nil {
				return err
			}
		}
	}
	return nil
}

// describeComment returns the text of a comment without its examples, which are indented.
func describeComment(comment string) string {
	var lines []string
	for line := range strings.SplitSeq(comment, "\n") {
		if text := strings.TrimPrefix(line, "#"); strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "     ") {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	return strings.TrimSuffix(strings.ReplaceAll(strings.Join(lines, " "), "|", "\\|"), ":")
}
