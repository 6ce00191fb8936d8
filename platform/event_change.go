package platform

import "encoding/json"

// An EventChange is what an update made of one field that it named. Values are
// JSON as in the body of the event, without secrets: of a secret, and of what
// is absent, there is none.
type EventChange struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// maxChangeBytes bounds each value that is kept of a change. Longer ones are left
// out: the body has what became of them.
const maxChangeBytes = 16 << 10

// changesTo tells what an update that named the fields of c has made of before,
// in the order of the fields of the kind. Both are as they were read from the
// store.
func (c *change[T]) changesTo(before, after *T, fields []Field) []EventChange {
	old, now := membersOf(before), membersOf(after)
	var changes []EventChange
	for _, f := range fields {
		if c.writes(f.Name) && !c.writesPart(f.Name) {
			changes = append(changes, changed(f.Name, old[f.Name], now[f.Name]))
		}
		for _, p := range c.parts {
			if p.field == f.Name {
				changes = append(changes, changed(p.String(), memberAt(old[p.field], p.steps), memberAt(now[p.field], p.steps)))
			}
		}
	}
	return changes
}

// changed is the change of a field whose values may be too long, or absent.
func changed(field string, before, after json.RawMessage) EventChange {
	return EventChange{field, keptValue(before), keptValue(after)}
}

func keptValue(value json.RawMessage) json.RawMessage {
	if isNull(value) || len(value) > maxChangeBytes {
		return nil
	}
	return value
}

// changedTo is the change of a field to a plain value.
func changedTo(field string, before, after any) EventChange {
	old, _ := json.Marshal(before) // plain data: it cannot fail
	now, _ := json.Marshal(after)
	return changed(field, old, now)
}

// membersOf are the members of an object as JSON; none of what is no object.
func membersOf(object any) (members map[string]json.RawMessage) {
	encoded, ok := object.(json.RawMessage)
	if !ok {
		encoded, _ = json.Marshal(object) // plain data: it cannot fail
	}
	_ = json.Unmarshal(encoded, &members)
	return members
}

// memberAt is what lies at the end of some steps into a value.
func memberAt(value json.RawMessage, steps []step) json.RawMessage {
	for _, s := range steps {
		value = membersOf(value)[s.name]
	}
	return value
}
