package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// Each import over the network says what the import into the database says.
func TestImportsOverTheNetworkSayTheSame(t *testing.T) {
	t.Parallel()
	remote, local := storetest.SQLite(t), storetest.SQLite(t)
	server := start(t, remote, "--dev")
	theirs := demoUID(t, server)
	acme := bootstrap(t, local)
	sbom, err := os.ReadFile("../../docs/samples/sbom.json")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"vex.json": exampleLines(t, "vex"), "registry.jsonl": exampleLines(t, "registry"), "osv.json": exampleLines(t, "osv"), "sbom/a.json": string(sbom), "sbom/b.json": "{",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"ATRIUM_DATABASE_URL": remote}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"registry", "--group", theirs, filepath.Join(folder, "registry.jsonl")}, []string{"1 0 0 0 repos", "1 0 0 0 tags", "1 0 0 0 images", "1 0 0 0 SBOMs"}},
		{[]string{"vex", "--group", theirs, filepath.Join(folder, "vex.json")}, []string{"1 0 0 0 decisions", "statements without a matching finding: 1; they apply once an image with such a finding is imported, unless a more specific decision exists"}},
		{[]string{"osv", "--group", theirs, filepath.Join(folder, "osv.json")}, []string{"1 0 0 0 advisories"}},
	} {
		out, said, err := atrium(t, env, append([]string{"import", c.args[0], "--url", server.url}, c.args[1:]...)...)
		if err != nil {
			t.Fatalf("%q: %v %s", c.args, err, said)
		}
		expectSummary(t, out, c.want...)
	}
	args := []string{"sbom", "--create", filepath.Join(folder, "sbom")}
	_, there, errThere := atrium(t, env, append([]string{"import"}, append(args, "--group", theirs, "--url", server.url)...)...)
	_, here, errHere := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": local}, append([]string{"import"}, append(args, "--group", acme)...)...)
	if errThere == nil || errHere == nil || errThere.Error() != errHere.Error() {
		t.Errorf("over the network %v, into the database %v", errThere, errHere)
	}
	if !strings.Contains(there, "b.json: the document is not a JSON object") || !strings.Contains(here, "b.json: the document is not a JSON object") {
		t.Errorf("over the network %s\ninto the database %s", there, here)
	}
	elsewhere := map[string]string{"ATRIUM_URL": "http://127.0.0.1:1", "ATRIUM_DATABASE_URL": remote}
	if out, said, err := atrium(t, elsewhere, "import", "osv", "--group", acme, "--database-url", local, filepath.Join(folder, "osv.json")); err != nil {
		t.Errorf("a database on the command line and a server in a variable: %v %s %s", err, out, said)
	}
	if _, _, err := atrium(t, env, "import", "osv", "--url", server.url, filepath.Join(folder, "osv.json")); err == nil || !strings.Contains(err.Error(), "only the operator imports for all organizations") {
		t.Errorf("without a group: %v", err)
	}
}
