package cases

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var kindLiteral = regexp.MustCompile(`(?m)^var \w+ = Kind\[\w+\]\{\n\tName: "(\w+)"`)

// Every kind of the platform is in the table. internal/house checks that it has a file
// here.
func TestEveryKindHasItsCases(t *testing.T) {
	t.Parallel()
	declared := 0
	files, err := filepath.Glob("../../platform/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		m := kindLiteral.FindStringSubmatch(readFile(t, file))
		if m == nil {
			continue
		}
		declared++
		if !slices.ContainsFunc(kinds, func(k *kind) bool { return k.name == m[1] }) {
			t.Errorf("%s: the table has no cases of it", m[1])
		}
	}
	if declared < 9 {
		t.Errorf("platform declares %d kinds: how are they declared now?", declared)
	}
}

// Every operation of the reference has a row, and is in the matrix.
func TestEveryOperationHasACase(t *testing.T) {
	t.Parallel()
	w := &world{ledger: wireLedger(t)}
	inRows, inMatrix := map[string]bool{}, map[string]bool{}
	for _, k := range kinds {
		for _, rows := range k.rowsByOperation(w) {
			for _, r := range rows {
				inRows[r.do.rpc] = true
			}
		}
		if len(k.library.items) > 0 {
			inRows["List"+k.plural] = true
		}
		for _, c := range k.operations(w) {
			inMatrix[c.rpc] = true
		}
	}
	for name := range w.ledger {
		if !inRows[name] || !inMatrix[name] {
			t.Errorf("%s: it has rows: %t, is in the matrix: %t", name, inRows[name], inMatrix[name])
		}
	}
}
