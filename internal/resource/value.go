package resource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// find returns the value of a field, such as severity.rating, or nil.
func (i *Item) find(field string) any {
	var value any = i.fields
	for name := range strings.SplitSeq(field, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// places returns the uids whose paths the columns need.
func places(columns []Column, items []*Item) []string {
	needed := map[string]bool{}
	for _, item := range items {
		for _, column := range columns {
			if uid := placeOf(column, item); uid != "" {
				needed[uid] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(needed))
}

// placeOf returns the uid of the group or the repo that a column shows, or "".
func placeOf(column Column, item *Item) string {
	uid, _ := item.find(column.Field).(string)
	switch column.Form {
	case Place:
		return uid
	case Parent:
		return parentOf(uid)
	}
	return ""
}

// text returns what a column shows of an item. exact is for programs: times as they are, and digests and lists as a whole.
func (o *Output) text(k *Kind, column Column, item *Item, exact bool) string {
	value := item.find(column.Field)
	if place := placeOf(column, item); place != "" {
		if path := o.paths[place]; path != "" {
			return path
		}
		return place
	}
	switch {
	case value == nil, column.Form == Parent:
		return ""
	case column.Form == Short:
		return shortType(fmt.Sprint(value))
	}
	of := k.parts.find(k.schema, column.Field)
	if of != nil && of.Format == "date-time" && !exact {
		return o.age(fmt.Sprint(value), column.Form)
	}
	if of != nil && len(of.Enum) > 0 {
		return word(fmt.Sprint(value), prefixOf(of.Enum))
	}
	return formatValue(value, exact)
}

const (
	shownItems  = 2  // how many items of a list a table shows
	shownDigits = 12 // how many digits of a digest a table shows
	maxCell     = 60 // how many characters of a sentence a table shows
)

// formatValue returns a value as text.
func formatValue(value any, exact bool) string {
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		if exact {
			return strconv.FormatBool(value)
		}
		return map[bool]string{true: "yes"}[value]
	case string:
		if digits, isDigest := strings.CutPrefix(value, "sha256:"); isDigest && !exact {
			return "sha256:" + digits[:min(shownDigits, len(digits))]
		}
		if runes := []rune(value); !exact && len(runes) > maxCell && strings.Contains(value, " ") {
			return string(runes[:maxCell-1]) + "…"
		}
		return value
	case []any:
		return join(value, exact)
	case map[string]any:
		pairs := make([]string, 0, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			pairs = append(pairs, name+"="+formatValue(value[name], exact))
		}
		return strings.Join(pairs, ", ")
	}
	return fmt.Sprint(value)
}

func join(all []any, exact bool) string {
	if len(all) > 0 {
		if _, isObject := all[0].(map[string]any); isObject {
			return strconv.Itoa(len(all))
		}
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = formatValue(all[i], exact)
	}
	if exact {
		return strings.Join(texts, " ")
	}
	if more := len(texts) - shownItems; more > 0 {
		return strings.Join(texts[:shownItems], ", ") + " +" + strconv.Itoa(more)
	}
	return strings.Join(texts, ", ")
}

// shortType returns a type of events without what all have in common: registry.tag.created.
func shortType(full string) string {
	if _, rest, found := strings.Cut(full, ".api."); found {
		full = rest
	}
	if at := strings.LastIndex(full, ".v"); at > 0 {
		full = full[:at]
	}
	return full
}

// age returns how long ago a time was, or in how long it comes.
func (o *Output) age(text string, form Form) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	since := o.Now.Sub(at)
	switch {
	case since < 0:
		return "in " + duration(-since)
	case form == Until:
		return duration(since) + " ago"
	}
	return duration(since)
}

const day = 24 * time.Hour

func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 2*day:
		return strconv.Itoa(int(d.Hours())) + "h"
	case d < 730*day:
		return strconv.Itoa(int(d/day)) + "d"
	}
	return strconv.Itoa(int(d/(365*day))) + "y"
}

// A detail is a field of an item, and of what is in it.
type detail struct{ name, text string }

// details returns all that an item has, in the order of the server.
func (o *Output) details(k *Kind, of *schema, prefix string, raw json.RawMessage) (all []detail) {
	for name, member := range members(raw) {
		var value any
		field := k.parts.find(of, name)
		switch path := prefix + name; {
		case json.Unmarshal(member, &value) != nil:
		case isObject(value) && field != nil && len(field.Properties) > 0:
			all = append(all, o.details(k, field, path+".", member)...)
		case isObjects(value):
			for i, one := range parts(member) {
				var inner *schema
				if field != nil {
					inner = k.parts.resolve(field.Items)
				}
				all = append(all, o.details(k, inner, path+"["+strconv.Itoa(i)+"].", one)...)
			}
		case field != nil && len(field.Enum) > 0:
			all = append(all, detail{path, word(fmt.Sprint(value), prefixOf(field.Enum))})
		default:
			text := formatValue(value, true)
			if list, ok := value.([]any); ok && len(list) > 0 {
				texts := make([]string, len(list))
				for i := range list {
					texts[i] = formatValue(list[i], true)
				}
				text = strings.Join(texts, ", ")
			}
			if number, ok := value.(float64); ok {
				text = strconv.FormatFloat(number, 'f', -1, 64)
			}
			all = append(all, detail{path, text})
		}
	}
	return all
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

func isObjects(value any) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && isObject(list[0])
}

// members yields the members of an object in their order.
func members(raw json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		if _, err := decoder.Token(); err != nil {
			return
		}
		for decoder.More() {
			name, err := decoder.Token()
			var member json.RawMessage
			if err != nil || decoder.Decode(&member) != nil || !yield(fmt.Sprint(name), member) {
				return
			}
		}
	}
}

func parts(raw json.RawMessage) (all []json.RawMessage) {
	_ = json.Unmarshal(raw, &all) // It is a list.
	return all
}
