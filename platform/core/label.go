package core

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"atrium/platform/fieldmask"
)

// Labels are what people group resources by, such as the owner, the environment and the cost center: keys with
// their values.
type Labels map[string]string

// A Label is one key of Labels with its value.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Keys and values have the form of Kubernetes. A key can begin with a domain and a slash.
var (
	labelKeyPattern   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValuePattern = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

const (
	maxLabelsOfResource = 64 // labels that a resource can have
	maxLabelConditions  = 16 // labels that a list can ask for
)

// List returns the labels sorted by key.
func (l Labels) List() []*Label {
	list := make([]*Label, 0, len(l))
	for _, key := range slices.Sorted(maps.Keys(l)) {
		list = append(list, &Label{key, l[key]})
	}
	return list
}

// Conditions lists the conditions of a LabelFilter that the labels meet.
func (l Labels) Conditions() []string {
	var met []string
	for key, value := range l {
		met = append(met, key, key+"="+value)
	}
	return met
}

// Check adds the violations of the fields.
func (l Labels) Check(v *Violations) {
	if len(l) > maxLabelsOfResource {
		v.Add("labels", "must have at most %d items", maxLabelsOfResource)
		return
	}
	all := l.List()
	for _, label := range all {
		if !labelKeyPattern.MatchString(label.Key) {
			v.Add("labels", "must not have the key %q: a key is 1 to 63 letters, digits, dots, hyphens and underscores that begin and end with a letter or a digit, after an optional domain and slash", fieldmask.TruncateForMessage(label.Key))
			return
		}
	}
	for _, label := range all {
		if !labelValuePattern.MatchString(label.Value) {
			v.Add("labels", "must not have the value %q of %s: a value is empty, or at most 63 letters, digits, dots, hyphens and underscores that begin and end with a letter or a digit", fieldmask.TruncateForMessage(label.Value), label.Key)
			return
		}
	}
}

// A LabelCondition is met by the resources that have a key with a value, or with any value.
// Its text is key=value, or the key alone.
type LabelCondition struct {
	Key   string
	Value *string // nil means any value
}

// ParseLabelCondition returns the condition of a text. LabelFilter.Check says whether it can be met.
func ParseLabelCondition(text string) LabelCondition {
	key, value, hasValue := strings.Cut(text, "=")
	if !hasValue {
		return LabelCondition{Key: key}
	}
	return LabelCondition{key, &value}
}

// String returns the text of the condition, which is among the Conditions of labels that meet it.
func (c LabelCondition) String() string {
	if c.Value == nil {
		return c.Key
	}
	return c.Key + "=" + *c.Value
}

// MarshalText returns the text of the condition.
func (c LabelCondition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts the text of a condition.
func (c *LabelCondition) UnmarshalText(text []byte) error {
	*c = ParseLabelCondition(string(text))
	return nil
}

func (c LabelCondition) isValid() bool {
	return labelKeyPattern.MatchString(c.Key) && (c.Value == nil || labelValuePattern.MatchString(*c.Value))
}

// A LabelFilter restricts a list to resources that have all of some labels.
type LabelFilter struct {
	Labels []LabelCondition `json:"labels,omitempty"`
}

// Check adds the violations of the conditions.
func (f *LabelFilter) Check(v *Violations) {
	if len(f.Labels) > maxLabelConditions {
		v.Add("labels", "must have at most %d items", maxLabelConditions)
		return
	}
	if slices.ContainsFunc(f.Labels, func(c LabelCondition) bool { return !c.isValid() }) {
		v.Add("labels", "must have the key of a label, and its value or none for any value; as a text, key=value or the key")
	}
}
