package resource

import (
	"fmt"
	"slices"
	"strings"
)

// A Filter is a condition of a list.
type Filter struct {
	Flag     string // name of its flag, such as severity for the parameter severities
	Help     string
	Repeated bool // whether one of several values may be given
	IsSwitch bool // whether the value is true or false
	IsNumber bool
	IsTime   bool
	Required bool
	Words    []string // the values, if there are only these

	Parameter string // name in the query; "" for a variable of the path

	prefix string // what the server has before each word
}

// renamed are filters whose names are those of flags that every list has, with the flags that they get.
var renamed = map[string]string{"group": "group-uid", "version": "exact-version"}

func (k *Kind) filter(p parameter) Filter {
	of, f := k.parts.resolve(p.Schema), Filter{Flag: kebab(p.Name), Help: p.Description, Required: p.Required, Parameter: p.Name}
	if of.Items != nil {
		of, f.Repeated = k.parts.resolve(of.Items), true
		f.Flag = singular(f.Flag)
	}
	if p.Name == uidsParameter {
		f.Flag = "uid"
	}
	if other, isTaken := renamed[f.Flag]; isTaken {
		f.Flag = other
	}
	f.IsSwitch, f.IsNumber, f.IsTime = of.Type == "boolean", of.Type == "number" || of.Type == "integer", of.Format == "date-time"
	f.prefix = prefixOf(of.Enum)
	for _, value := range of.Enum {
		f.Words = append(f.Words, word(value, f.prefix))
	}
	return f
}

// Placeholder returns what stands for the value in a help text.
func (f *Filter) Placeholder() string {
	switch {
	case len(f.Words) > 0 && len(f.Words) <= 6:
		return strings.Join(f.Words, "|")
	case f.IsTime:
		return "TIME"
	case f.IsNumber:
		return "N"
	}
	return strings.ToUpper(f.Flag[strings.LastIndexByte(f.Flag, '-')+1:])
}

// Value returns what the server calls a value. It fails for a word that is none of the filter.
func (f *Filter) Value(given string) (string, error) {
	if len(f.Words) == 0 {
		return given, nil
	}
	asked := strings.ToLower(strings.TrimPrefix(strings.ToUpper(given), f.prefix))
	if !slices.Contains(f.Words, asked) {
		return "", fmt.Errorf("must be one of %s", strings.Join(f.Words, ", "))
	}
	return f.prefix + strings.ToUpper(asked), nil
}

// prefixOf returns what all values of an enum begin with, up to an underscore.
func prefixOf(values []string) string {
	if len(values) < 2 {
		return ""
	}
	common := values[0]
	for _, value := range values[1:] {
		for !strings.HasPrefix(value, common) {
			common = common[:len(common)-1]
		}
	}
	return common[:strings.LastIndexByte(common, '_')+1]
}

func word(value, prefix string) string { return strings.ToLower(strings.TrimPrefix(value, prefix)) }
