package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"atrium/internal/resource"
	"atrium/internal/server"
)

// kindCommands are the commands of list or of get: one for each kind of the routes.
type kindCommands struct{ kong.Plugins }

// allKinds returns the kinds that this version knows. It reads the OpenAPI document once.
var allKinds = sync.OnceValue(func() []*resource.Kind {
	kinds, err := resource.Read(server.OpenAPI())
	if err != nil {
		panic(err) // The document is part of the program.
	}
	return kinds
})

// kindsFor returns the kinds that a command line may name. Reading them takes as long as all the rest of a start, so commands other than list
// and get have one instead, whose flags are the settings that all kinds share.
func kindsFor(args []string) []*resource.Kind {
	if i := slices.IndexFunc(args, isKindVerb); i == 0 || i > 0 && strings.HasPrefix(args[0], "-") {
		return allKinds()
	}
	return []*resource.Kind{{Name: "kind"}}
}

// A kindCommand is a command for one kind.
type kindCommand interface {
	command
	setKind(kind *resource.Kind, filters reflect.Value)
}

// newKindCommands makes a command C for each kind. The command is the field Command of a struct that is made here, since the flags of
// filters differ from kind to kind.
func newKindCommands[C any, P interface {
	*C
	kindCommand
}](kinds []*resource.Kind, help string, hasFilters bool) kindCommands {
	var fields []reflect.StructField
	for i, kind := range kinds {
		var filters []reflect.StructField
		for j, filter := range kind.Filters {
			if hasFilters {
				filters = append(filters, reflect.StructField{Name: fmt.Sprintf("Filter%d", j), Type: filterType(filter), Tag: filterTag(filter)})
			}
		}
		made := reflect.StructOf([]reflect.StructField{
			{Name: "Command", Type: reflect.TypeFor[C](), Tag: `embed:""`},
			{Name: "Filters", Type: reflect.StructOf(filters), Tag: `embed:""`},
		})
		text := fmt.Sprintf(help, strings.ReplaceAll(kind.Singular, "-", " "))
		if hasFilters {
			text = kind.Help
		}
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, kind.Name, text)
		if kind.Singular != kind.Name {
			tag += fmt.Sprintf(` aliases:%q`, kind.Singular)
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("Kind%d", i), Type: made, Tag: reflect.StructTag(tag)})
	}
	all := reflect.New(reflect.StructOf(fields))
	for i, kind := range kinds {
		one := all.Elem().Field(i)
		command, _ := one.Field(0).Addr().Interface().(*C)
		P(command).setKind(kind, one.Field(1))
	}
	return kindCommands{kong.Plugins{all.Interface()}}
}

// filterType returns the type of the flag of a filter.
func filterType(f resource.Filter) reflect.Type {
	switch {
	case f.Repeated:
		return reflect.TypeFor[[]string]()
	case f.IsSwitch:
		return reflect.TypeFor[*bool]()
	}
	return reflect.TypeFor[string]()
}

// filterTag returns the tag of the flag of a filter. No variable and no file sets it: one that is set for another command would hide rows.
func filterTag(f resource.Filter) reflect.StructTag {
	help := strings.ReplaceAll(f.Help, "$", "$$")
	if f.Repeated {
		help = strings.TrimSuffix(help, ".") + "; commas separate several."
	}
	return reflect.StructTag(fmt.Sprintf(`name:%q placeholder:%q help:%q unset:"" group:"Filters:"`, f.Flag, f.Placeholder(), help))
}

// filterValues returns the values of the filters that are given, by their flags.
func filterValues(kind *resource.Kind, filters reflect.Value) map[string][]string {
	given := map[string][]string{}
	for i, filter := range kind.Filters {
		switch value := filters.Field(i).Interface().(type) {
		case []string:
			if len(value) > 0 {
				given[filter.Flag] = value
			}
		case *bool:
			if value != nil {
				given[filter.Flag] = []string{fmt.Sprint(*value)}
			}
		case string:
			if value != "" {
				given[filter.Flag] = []string{value}
			}
		}
	}
	return given
}

// pickedCommand returns the command of a node.
func pickedCommand(node *kong.Node) (command, bool) {
	if picked, ok := node.Target.Addr().Interface().(command); ok {
		return picked, true
	}
	if own := node.Target.FieldByName("Command"); own.IsValid() {
		picked, ok := own.Addr().Interface().(command)
		return picked, ok
	}
	return nil, false
}

// explainParse adds the kinds and the filters that there are to the error of the parser about one that there is not.
func explainParse(err error) error {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return err
	}
	node := wrong.Context.Selected()
	if command := belowAdmin(wrong.Context.Model.Node, node, err.Error()); command != "" {
		return fmt.Errorf("%w; it is a command of operators: %s", err, command)
	}
	switch {
	case node == nil:
	case isVerb(node.Parent) && strings.Contains(err.Error(), "unknown flag"):
		var known []string
		for _, flag := range node.Flags {
			if flag.Tag.Has("unset") {
				known = append(known, "--"+flag.Name)
			}
		}
		if len(known) > 0 {
			return fmt.Errorf("%w; the filters of %s are %s", err, node.Name, strings.Join(known, ", "))
		}
	case isVerb(node) && (strings.Contains(err.Error(), "expected one of") || strings.Contains(err.Error(), "unexpected argument")):
		var names []string
		for _, child := range node.Children {
			names = append(names, child.Name)
		}
		return fmt.Errorf("there is no such kind; the kinds are %s", strings.Join(names, ", "))
	}
	return err
}

// belowAdmin returns the command of operators that an unexpected word stands for, or "". Whoever has it in mind leaves out admin.
func belowAdmin(at, selected *kong.Node, fault string) string {
	word, isUnexpected := strings.CutPrefix(fault, "unexpected argument ")
	if !isUnexpected {
		return ""
	}
	word, _, _ = strings.Cut(word, ",")
	path := []string{"admin", word}
	if selected != nil {
		path = []string{"admin", selected.Name, word}
	}
	for _, name := range path {
		i := slices.IndexFunc(at.Children, func(child *kong.Node) bool { return child.Name == name })
		if i < 0 {
			return ""
		}
		at = at.Children[i]
	}
	return "atrium " + strings.Join(path, " ")
}

// isVerb reports whether a node is list or get, and not a command of that name below another one.
func isVerb(node *kong.Node) bool {
	return node != nil && isKindVerb(node.Name) && node.Parent != nil && node.Parent.Type == kong.ApplicationNode
}

func isKindVerb(name string) bool { return slices.Contains([]string{"list", "get"}, name) }
