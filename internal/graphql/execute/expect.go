package execute

import (
	"context"
	"slices"
)

// The arguments of a root field such as repo(uid: "...") tell which object it returns if that exists. What is selected
// below it, such as a list of its tags, is then read together with the object, and not after it. If the object does not
// exist, nobody sees what was read. If only some of several objects exist, what is below them is read again.

// planExpected decides whether something can be read together with the objects of a field.
func (f *plannedField) planExpected() {
	if f.Expect == nil {
		return
	}
	f.expects = slices.ContainsFunc(f.selections(), (*selection).hasByKey)
}

func (s *selection) hasByKey() bool {
	return slices.ContainsFunc(s.fields, func(f *plannedField) bool { return f.ByKey })
}

// addExpected adds to a level the steps below it that can be read together with it.
func (r *run) addExpected(level []step) []step {
	var expected map[int][]any // by the index of the step
	for i, s := range level {
		if !s.field.expects {
			continue
		}
		objects, isKnown := expected[slices.IndexFunc(level[:i], s.isSame)]
		if !isKnown {
			objects = s.field.Expect(s.ctx, s.field.collected.ArgumentMap(r.operation.Variables))
		}
		if expected == nil {
			expected = map[int][]any{}
		}
		expected[i] = objects
		for below, objects := range s.field.bySelection(objects) {
			if below != nil { // the arguments can name an object of a type that the field does not have
				level = r.addEarly(s.ctx, level, below, objects)
			}
		}
	}
	return level
}

// addEarly adds the steps for expected objects.
func (r *run) addEarly(ctx context.Context, steps []step, s *selection, objects []any) []step {
	for _, f := range s.fields {
		if f.ByKey {
			r.columns[f.number].expected = len(objects)
			steps = append(steps, step{r.enter(ctx, f), f, objects, true})
		}
	}
	return steps
}
