package cases

// creation returns the rows of Create<Kind>.
func (k *kind) createRows() []row {
	create := func(f fields) call { return call{rpc: "Create" + k.name, target: k.in, fields: f} }
	made := func(f fields) expectedResource { return resource(k.shown.with(k.shownOnce).with(k.visiblePart(f))) }
	rows := []row{
		{name: "the least", do: create(k.minimal.with(k.minimalWithoutNumbers())), want: made(k.minimal.with(k.minimalWithoutNumbers()))},
		{name: "all there is", do: create(k.full), want: made(k.full)},
		{name: "an unknown field", do: create(k.minimal.with(fields{"nope": 1})), want: invalid("nope"), instead: typedAnswer},
		{name: "nothing at all", do: create(fields{}), want: invalid(k.requiredFields), instead: typedAnswerIf(k.requiredFields != "")},
		{name: "much that is wrong", do: create(k.minimal.with(k.manyErrors.fields)), want: invalid(k.manyErrors.violations)},
		{name: "in a missing place", do: call{rpc: "Create" + k.name, target: k.in + "/00000000000000ff", fields: k.minimal},
			want: notFound(k.parent, k.in+"/00000000000000ff")},
		{name: "in no UID", do: call{rpc: "Create" + k.name, target: "nope", fields: k.minimal}, want: invalid("parent")},
		{name: "in no UID, and much that is wrong", do: call{rpc: "Create" + k.name, target: "NOPE", fields: k.minimal.with(k.manyErrors.fields)},
			want: invalid("parent " + k.manyErrors.violations)},
	}
	for _, b := range k.badInputs {
		rows = append(rows, row{name: "bad: " + b.name, do: create(k.minimal.with(b.fields)), want: invalid(b.violations), instead: typedAnswerIf(b.typeErrors != noTypeError)})
	}
	if k.twin != nil {
		rows = append(rows, row{name: "a second one", do: create(k.minimal.with(k.twin)), want: alreadyExists(k.resource(), k.existing(), k.uniqueFields())})
	}
	for _, place := range k.misplaced {
		rows = append(rows, row{name: "in " + place, do: call{rpc: "Create" + k.name, target: place, fields: k.minimal}, want: notFound(k.parent, place)})
	}
	return rows
}
