package wiretest

import (
	"strings"
	"testing"
)

func TestEveryLineIsUnderstood(t *testing.T) {
	t.Parallel()
	if rpcs, lines := len(RPCs(t)), strings.Count(text, "\nRPC "); rpcs != lines || lines == 0 {
		t.Errorf("wire.txt has %d RPCs, and %d were understood", lines, rpcs)
	}
	if len(Fields(t, "ListReposRequest")) == 0 || Fields(t, "NoRequest") != nil {
		t.Error("a message has the fields of another one")
	}
	for _, line := range []string{"RPC GetRepo get", "  service Repos", "     one uid : string", "     1 uid : string"} {
		if _, err := parse("## a.proto   package p   service S\n" + line + "\n"); err == nil {
			t.Errorf("%q was taken for something", line)
		}
	}
}
