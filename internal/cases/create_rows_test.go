package cases

// creation returns the rows of Create<Kind>.
func (k *kind) creation() []row {
	create := func(f fields) call { return call{rpc: "Create" + k.name, on: k.in, fields: f} }
	made := func(f fields) expected { return resource(k.shown.with(k.once).with(k.visible(f))) }
	rows := []row{
		{name: "the least", do: create(k.minimal.with(k.minimalWithoutNumbers())), want: made(k.minimal.with(k.minimalWithoutNumbers()))},
		{name: "all there is", do: create(k.full), want: made(k.full)},
		{name: "an unknown field", do: create(k.minimal.with(fields{"nope": 1})), want: invalid("nope"), instead: typedAnswer},
		{name: "nothing at all", do: create(fields{}), want: invalid(k.needs), instead: typedAnswerIf(k.needs != "")},
		{name: "much that is wrong", do: create(k.minimal.with(k.several.fields)), want: invalid(k.several.violations)},
		{name: "in a missing place", do: call{rpc: "Create" + k.name, on: k.in + "/00000000000000ff", fields: k.minimal},
			want: notFound(k.parent, k.in+"/00000000000000ff")},
		{name: "in no UID", do: call{rpc: "Create" + k.name, on: "nope", fields: k.minimal}, want: invalid("parent")},
		{name: "in no UID, and much that is wrong", do: call{rpc: "Create" + k.name, on: "NOPE", fields: k.minimal.with(k.several.fields)},
			want: invalid("parent " + k.several.violations)},
	}
	for _, b := range k.bad {
		rows = append(rows, row{name: "bad: " + b.name, do: create(k.minimal.with(b.fields)), want: invalid(b.violations), instead: typedAnswerIf(b.types != never)})
	}
	if k.twin != nil {
		rows = append(rows, row{name: "a second one", do: create(k.minimal.with(k.twin)), want: alreadyExists(k.resource(), k.one())})
	}
	for _, place := range k.misplaced {
		rows = append(rows, row{name: "in " + place, do: call{rpc: "Create" + k.name, on: place, fields: k.minimal}, want: notFound(k.parent, place)})
	}
	return rows
}
