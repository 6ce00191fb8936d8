// Package wiretest reads the facts of the reference that tests compare each protocol with. They are in wire.txt. Only tests
// import this package.
package wiretest

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A File is a file of the contract, with its one service.
type File struct {
	Path, Package, Service string
	RPCs                   []RPC
	Types                  []Type
}

// An RPC is an operation.
type RPC struct {
	Name, Service string
	Method, Path  string   // These are the method and path of HTTP.
	Capabilities  []string // These are wire names. All of them are needed.
	IsUnscoped    bool     // The list is limited to what the caller may see.
	Event         string   // This is the type without its prefix; "" means none.
}

// A Type is a message or an enum.
type Type struct {
	Name   string // The name of a nested type begins with the name of the outer type and a dot.
	IsEnum bool
	Fields []Field
}

// A Field is a field of a message, or a value of an enum.
type Field struct{ Number, Name, Kind, Oneof, JSON string }

// Files returns all files.
func Files(t testing.TB) []File {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// RPCs returns the operations of all files.
func RPCs(t testing.TB) (all []RPC) {
	t.Helper()
	for _, file := range Files(t) {
		all = append(all, file.RPCs...)
	}
	return all
}

// Fields returns the fields of the message with a name, or nil if there is none.
func Fields(t testing.TB, message string) []Field {
	t.Helper()
	for _, file := range Files(t) {
		if i := slices.IndexFunc(file.Types, func(found Type) bool { return found.Name == message && !found.IsEnum }); i >= 0 {
			return file.Types[i].Fields
		}
	}
	return nil
}

//go:embed wire.txt
var text string

var parsed = sync.OnceValues(func() ([]File, error) { return parse(text) })

var (
	fileLine  = regexp.MustCompile(`^## (\S+) +package (\S+) +service (\S+)$`)
	rpcLine   = regexp.MustCompile(`^RPC (\w+) (\w+) (\S+) \|([^|]*)\|(.*)$`)
	typeLine  = regexp.MustCompile(`^  (message|enum|oneof) (\w+)$`)
	fieldLine = regexp.MustCompile(`^     (\d+) (\w+) : ?((?:repeated |optional )?(?:map<[^>]+>|[\w.]+))?(.*)$`)

	capability = regexp.MustCompile(`CAP_\w+`)
	event      = regexp.MustCompile(`<prefix>\.(\S+)`)
	jsonName   = regexp.MustCompile(`json_name = "(\w+)"`)
)

// parse reads a text like wire.txt. It understands every line or fails.
func parse(text string) (files []File, err error) {
	message, oneof := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		file := &File{}
		if len(files) > 0 {
			file = &files[len(files)-1]
		}
		if head := fileLine.FindStringSubmatch(line); head != nil {
			files = append(files, File{Path: "platform/" + head[1], Package: head[2], Service: head[3]})
		} else if m := rpcLine.FindStringSubmatch(line); m != nil {
			file.RPCs = append(file.RPCs, RPC{
				Name: m[1], Service: file.Service, Method: strings.ToUpper(m[2]), Path: m[3],
				Capabilities: capability.FindAllString(m[4], -1), IsUnscoped: strings.Contains(m[4], "unscoped"), Event: group(event, m[5]),
			})
		} else if m := typeLine.FindStringSubmatch(line); m != nil {
			switch name := m[2]; {
			case m[1] == "oneof":
				oneof = name
			case m[1] == "message":
				message, oneof = name, ""
				file.Types = append(file.Types, Type{Name: name})
			case name == "Type":
				file.Types = append(file.Types, Type{Name: message + ".Type", IsEnum: true})
			default:
				file.Types = append(file.Types, Type{Name: name, IsEnum: true})
			}
		} else if m := fieldLine.FindStringSubmatch(line); m != nil && len(file.Types) > 0 {
			field := Field{Number: m[1], Name: m[2], Kind: m[3], Oneof: oneof, JSON: group(jsonName, m[4])}
			if strings.HasPrefix(field.Kind, "repeated ") || strings.HasPrefix(field.Kind, "map<") {
				field.Oneof = ""
			}
			last := &file.Types[len(file.Types)-1]
			last.Fields = append(last.Fields, field)
		} else if !strings.HasPrefix(line, "# ") {
			return nil, fmt.Errorf("wire.txt: %q is no line of a file, an RPC, a type or a field", line)
		}
	}
	return files, nil
}

// group returns what the group of a pattern matches, or "".
func group(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
