package core

import (
	"encoding/json"

	"atrium/platform/fieldmask"
)

// An EventChange is the change of one field by an update. Values are JSON as in
// the body of the event. Secrets and absent fields have no value.
type EventChange struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// maxChangeBytes limits each value of a change. Longer values are left out; the
// new value is in the body of the event.
const maxChangeBytes = 16 << 10

// DescribeChanges compares a row before and after the update c, in the order of
// the fields of the kind. Both rows must have been read from the store.
func DescribeChanges[T any](c *fieldmask.Change[T], before, after T, fields []fieldmask.Field) []EventChange {
	old, now := membersOf(before), membersOf(after)
	var changes []EventChange
	for _, f := range fields {
		if c.Writes(f.Name) && !c.WritesPart(f.Name) {
			changes = append(changes, newChange(f.Name, old[f.Name], now[f.Name]))
		}
		for _, p := range c.Parts {
			if p.Field == f.Name {
				changes = append(changes, newChange(p.String(), memberAt(old[p.Field], p.Steps), memberAt(now[p.Field], p.Steps)))
			}
		}
	}
	return changes
}

// newChange makes the change of a field. Values that are too long are left out.
func newChange(field string, before, after json.RawMessage) EventChange {
	return EventChange{field, limitValue(before), limitValue(after)}
}

func limitValue(value json.RawMessage) json.RawMessage {
	if fieldmask.IsNull(value) || len(value) > maxChangeBytes {
		return nil
	}
	return value
}

// NewValueChange makes the change of a field from Go values.
func NewValueChange(field string, before, after any) EventChange {
	old, _ := json.Marshal(before) // plain data: it cannot fail
	now, _ := json.Marshal(after)
	return newChange(field, old, now)
}

// membersOf returns the members of an object as JSON, or none if it is not an
// object.
func membersOf(object any) (members map[string]json.RawMessage) {
	encoded, ok := object.(json.RawMessage)
	if !ok {
		encoded, _ = json.Marshal(object) // plain data: it cannot fail
	}
	_ = json.Unmarshal(encoded, &members)
	return members
}

// memberAt follows steps into a value and returns the member at the end.
func memberAt(value json.RawMessage, steps []fieldmask.Step) json.RawMessage {
	for _, s := range steps {
		value = membersOf(value)[s.Name]
	}
	return value
}
