package ingest

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// repeatElements returns n elements of a list.
func repeatElements(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

func TestARecordWithTooManyElementsIsRejectedAndTheRestIsImported(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.json"), `{"id": "A", "affected": [`+repeatElements("{}", maxElements+1)+`]}`)
		write(t, filepath.Join(dir, "b.json"), `{"id": "B", "severity": [`+repeatElements(`{"type": "X"}`, 400)+`], "affected": [`+repeatElements(`{"package": {"name": "p"}}`, 300)+`]}`)
		write(t, filepath.Join(dir, "c.json"), `{"id": "C", "affected": [{"package": {"name": "p"}, "credits": [`+repeatElements(`"1.0"`, maxElements+1)+`]}]}`)
		var r reports
		o := r.options()
		o.Group = org.Group.UID
		sum, err := ImportOSV(operator, p, []string{dir}, o)
		if err != nil {
			t.Fatal(err)
		}
		r.check(t, filepath.Join(dir, "a.json")+": has more than 100000 elements in its lists (affected, ranges, events, versions, aliases, references and severity); divide it into several records",
			filepath.Join(dir, "b.json")+": has more than 100000 severities for all of its packages together; those of the record count for each package that has none")
		checkKinds(t, sum, KindCounts{Name: "advisories", Added: 1}, KindCounts{Name: "vulnerability metadata", Added: 1})
	})
}

// Decoding also appends elements that have a wrong type, and ignores the case of names.
func TestElementsOfEveryListCount(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		`{"id": "A", "affected": [%s]}`, `{"id": "A", "\u0041FFECTED": [%s]}`, `{"id": "A", "affected": [{"ranges": [{"events": [%s]}]}]}`,
		`{"id": "A", "aliases": [%s]}`, `{"id": "A", "references": [%s]}`, `{"id": "A", "affected": [{"severity": [%s]}]}`,
		`{"id": "A", "affects": {"ranges": [%s]}}`, `{"id": "A", "affected": [{"ecosystem_specific": {"imports": [%s]}}]}`,
		`{"id": "A", "affected": [{"versions": [%s]}]}`,
	} {
		for _, element := range []string{"{}", "null", `""`, "1", "[]"} {
			if _, err := parseOSV([]byte(fmt.Sprintf(form, repeatElements(element, maxElements+1)))); !errors.Is(err, errTooManyElements) {
				t.Errorf("%s of %s: %v, want %v", form, element, err, errTooManyElements)
			}
		}
	}
	lists := `{"id": "A", "affected": [{"ranges": [` + repeatElements(`{"events": [{}]}`, maxElements/2) + `]}]}`
	if _, err := parseOSV([]byte(lists)); !errors.Is(err, errTooManyElements) {
		t.Errorf("many lists: %v, want %v", err, errTooManyElements)
	}
	if _, err := parseOSV([]byte(`{"id": "A", "affected": [` + repeatElements("{}", maxElements) + `]}`)); err != nil {
		t.Errorf("as many elements as may be: %v", err)
	}
}

// The elements of this record would take more than a gigabyte.
func TestARecordWithMillionsOfElementsTakesLittleMemory(t *testing.T) {
	document := []byte(`{"id": "A", "affected": [` + repeatElements("{}", 5_000_000) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := parseOSV(document); !errors.Is(err, errTooManyElements) {
		t.Errorf("%v, want %v", err, errTooManyElements)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
		t.Errorf("reading the record took %d MB, want less than 100", took>>20)
	}
}

// If the time to read a record grew with the square of its length, this test would take minutes.
func TestAPackageMayHaveVeryManySeverities(t *testing.T) {
	t.Parallel()
	const scores = 200_000
	record := osvRecord{ID: "A-1", Affected: []osvAffected{{Package: &osvPackage{Name: "p"}, Severity: make([]osvSeverity, 2*scores)}}}
	for i := range record.Affected[0].Severity {
		record.Affected[0].Severity[i].Score = fmt.Sprint(i / 2)
	}
	if got := len(record.advisories()[0].Severities); got != scores {
		t.Errorf("%d severities, want %d", got, scores)
	}
}
