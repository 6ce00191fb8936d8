package inventory

import (
	"reflect"
	"testing"
	"time"

	"atrium/platform/core"
)

// uncompared are the fields of a finding that decide nothing when it is compared with what is stored.
var uncompared = map[string]string{
	"UID": "identifies it", "Repo": "identifies it", "Digest": "identifies it",
	"Ecosystem":  "is that of the version of the package",
	"UpdateTime": "follows from the comparison", "ResolvedTime": "follows from the state",
}

// quiet are the fields whose changes are stored, and that nobody is told of. A due date is one unless somebody has set it.
var quiet = map[string]bool{"Direct": true, "DueTime": true, "IsDueSet": true, "IsNewInRepo": true, "Advisory": true, "Representative": true, "PackageVersion": true, "EPSS": true, "LacksFix": true, "Scope": true, "FirstSeenTime": true, "Decision": true, "DecidedBy": true, "IsLive": true}

// A field that is missing in the comparison would never be written when only it changes.
func TestEveryFieldOfAFindingIsCompared(t *testing.T) {
	t.Parallel()
	one := 0.5
	values := map[reflect.Type]any{
		reflect.TypeFor[core.Time](): core.At(time.Unix(1, 0)), reflect.TypeFor[*float64](): &one, reflect.TypeFor[bool](): true, reflect.TypeFor[*bool](): new(true),
		reflect.TypeFor[[]string](): []string{"x"}, reflect.TypeFor[[]BinaryPackage](): []BinaryPackage{{Name: "x"}}, reflect.TypeFor[AdvisorySeverity](): AdvisorySeverity{Rating: core.SeverityHigh},
	}
	for field := range reflect.TypeFor[Finding]().Fields() {
		var changed Finding
		at := reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index)
		if value, known := values[field.Type]; known {
			at.Set(reflect.ValueOf(value))
		} else {
			at.SetString("x")
		}
		_, isLeftOut := uncompared[field.Name]
		if same := changed.sameAs(&Finding{}); same != isLeftOut {
			t.Errorf("%s: a change of it is no change: %t, want %t", field.Name, same, isLeftOut)
		}
		if like := changed.looksLike(&Finding{}); like != (isLeftOut || quiet[field.Name]) {
			t.Errorf("%s: a change of it is one that nobody is told of: %t", field.Name, like)
		}
	}
}
