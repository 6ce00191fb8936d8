package cases

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// changing returns the rows of Update<Kind>. They change a resource with all fields.
func (k *kind) updateRows() []row {
	it := "{full " + k.ref + "}"
	update := func(f fields, mask ...string) call {
		return call{rpc: "Update" + k.name, target: it, fields: f, mask: mask}
	}
	unchanged := expectedResource{like: it}
	changed := func(with fields, without ...string) expectedResource {
		return expectedResource{like: it, with: k.changedTimes().with(with), without: without}
	}
	var rows []row
	all, required, cleared, instead := fields{}, fields{}, []string{}, fields{}
	for _, c := range k.changes {
		all[c.field] = c.to
		to := fields{c.field: c.to}
		other := k.otherThan(c.field)
		rows = append(rows,
			row{name: c.field + " without a mask", do: update(to), want: changed(k.visiblePart(to))},
			row{name: c.field + " by mask, others not", do: update(to.with(other), c.field), want: changed(k.visiblePart(to))},
			row{name: c.field + " by mask in snake case", do: update(to, snakeCase(c.field)), want: changed(k.visiblePart(to))})
		if c.required {
			required[c.field] = c.to
			rows = append(rows,
				row{name: "null for " + c.field, do: update(fields{c.field: nil}), want: invalid(c.field)},
				row{name: c.field + " in the mask only", do: update(fields{}, c.field), want: invalid(c.field)})
			continue
		}
		gone := slices.Clone(c.removed)
		if _, shown := c.cleared[c.field]; !shown {
			gone = append(gone, c.field)
		}
		cleared, instead = append(cleared, gone...), instead.with(c.cleared)
		rows = append(rows,
			row{name: "null for " + c.field, do: update(fields{c.field: nil}), want: changed(c.cleared, gone...)},
			row{name: c.field + " in the mask only", do: update(fields{}, c.field), want: changed(c.cleared, gone...)})
	}
	rows = append(rows,
		row{name: "all fields at once", do: update(all), want: changed(k.visiblePart(all))},
		row{name: "* replaces all", do: update(all, "*"), want: changed(k.visiblePart(all))},
		row{name: "* clears what is absent", do: update(required, "*"), want: changed(k.visiblePart(required).with(instead), cleared...)},
		row{name: "* and a field", do: update(all, "*", k.changes[0].field), want: invalid("updateMask")},
		row{name: "a mask of what is no field", do: update(all, "nope"), want: invalid("updateMask")},
		row{name: "a mask of what never changes", do: update(all, k.readOnlyField), want: invalid("updateMask")},
		row{name: "a mask of both", do: update(all, k.changes[0].field, "nope", k.readOnlyField), want: invalid("updateMask updateMask")},
		row{name: "an unknown field", do: update(fields{"nope": 1}), want: invalid("nope"), instead: typedAnswer},
		row{name: "an unknown field outside of the mask", do: update(all.with(fields{"nope": 1}), k.changes[0].field),
			want: changed(k.visiblePart(fields{k.changes[0].field: k.changes[0].to})), instead: typedAnswer},
		row{name: "what never changes", do: update(fields{k.readOnlyField: "2001-02-03T04:05:06.789Z"}), want: invalid(k.readOnlyField),
			instead: inGraphQL(rejectedInput{}, "the inputs hold nothing that only the service sets")},
		row{name: "nothing", do: update(fields{}), want: unchanged},
		row{name: "much that is wrong", do: update(k.manyErrors.fields), want: invalid(k.manyErrors.violations)},
		row{name: "a missing one", do: call{rpc: "Update" + k.name, target: k.missing(), fields: all}, want: notFound(k.resource(), k.missing())},
		row{name: "nothing of a missing one", do: call{rpc: "Update" + k.name, target: k.missing(), fields: fields{}}, want: notFound(k.resource(), k.missing())},
		row{name: "no UID", do: call{rpc: "Update" + k.name, target: "nope", fields: all}, want: invalid("uid")},
	)
	for _, b := range k.badInputs {
		if k.updates(b.fields) {
			rows = append(rows, row{name: "bad: " + b.name, do: update(b.fields), want: invalid(b.violations), instead: typedAnswerIf(b.typeErrors == typeError)})
		}
	}
	if k.twin != nil {
		rows = append(rows, row{name: "into another one", do: update(k.twin), want: alreadyExists(k.resource(), k.existing(), k.uniqueFields())})
	}
	return rows
}

// changedTimes returns the fields that every change also changes.
func (k *kind) changedTimes() fields {
	if _, has := k.shown["updateTime"]; has {
		return fields{"updateTime": "<time>"}
	}
	return nil
}

// visiblePart returns the part of a change that an answer shows.
func (k *kind) visiblePart(change fields) fields {
	shown := change.without(k.hidden...)
	for name, derived := range k.derived {
		if given, ok := change[name]; ok {
			shown = shown.with(derived(given))
		}
	}
	return shown
}

// otherThan returns a change of another field, or nil.
func (k *kind) otherThan(field string) fields {
	for _, c := range k.changes {
		if c.field != field {
			return fields{c.field: c.to}
		}
	}
	return nil
}

// updates reports whether all fields can be updated.
func (k *kind) updates(f fields) bool {
	for name := range f {
		known := false
		for _, c := range k.changes {
			known = known || c.field == name
		}
		if !known {
			return false
		}
	}
	return true
}

// minimalWithoutNumbers returns minimal without unique numbers, so that a row can expect
// the same values.
func (k *kind) minimalWithoutNumbers() fields {
	exact := fields{}
	for name, value := range k.minimal {
		if s, ok := value.(string); ok && strings.Contains(s, "{n}") {
			exact[name] = strings.ReplaceAll(s, "{n}", "0")
		}
	}
	return exact
}

func snakeCase(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			fmt.Fprintf(&b, "_%c", unicode.ToLower(c))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
