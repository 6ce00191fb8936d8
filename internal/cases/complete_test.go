package cases

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// later are the operations that no protocol serves yet, by what their paths
// begin with.
var later = regexp.MustCompile(`^/(iam/v2/(accountAssociations|terms)|libraries/v2/|advisory/v2/(documents|images/))`)

var kindLiteral = regexp.MustCompile(`(?m)^var \w+ = Kind\[\w+\]\{\n\tName: "(\w+)", Plural: "(\w+)"`)

// Every kind of the platform that a protocol serves is one of the table. That
// it has a file here is a rule of the house.
func TestEveryKindHasItsCases(t *testing.T) {
	t.Parallel()
	ledger, declared := wireLedger(t), 0
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
		served := !later.MatchString(ledger["List"+strings.ToUpper(m[2][:1])+m[2][1:]].path)
		if here := slices.ContainsFunc(kinds, func(k *kind) bool { return k.name == m[1] }); here != served {
			t.Errorf("%s: the table has cases of it: %t, want %t", m[1], here, served)
		}
	}
	if declared < 9 {
		t.Errorf("platform declares %d kinds: how are they declared now?", declared)
	}
}

// An operation of the wire has a row and its line in the matrix.
func TestEveryOperationHasACase(t *testing.T) {
	t.Parallel()
	w := &world{ledger: wireLedger(t)}
	inRows, inMatrix := map[string]bool{}, map[string]bool{}
	for _, k := range kinds {
		for _, rows := range k.table(w) {
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
	for name, rpc := range w.ledger {
		if want := !later.MatchString(rpc.path); inRows[name] != want || inMatrix[name] != want {
			t.Errorf("%s: it has rows: %t, is in the matrix: %t, want %t", name, inRows[name], inMatrix[name], want)
		}
	}
}
