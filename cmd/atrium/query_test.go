package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestAQueryPrintsTheAnswerIndented(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		flags := []string{"query", "--url", server.url, "--database-url", url}
		const want = `{
  "data": {
    "repos": {
      "nodes": [
        {
          "name": "billing"
        }
      ]
    }
  }`
		const document = `query($n: Int) { repos(first: $n) { nodes { name } } }`
		out, _, err := atrium(t, nil, append(flags, "--variables", `{"n": 1}`, document)...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%v\n%s, want it to begin with %q", err, out, want)
		}
		var read bytes.Buffer
		p := program{"atrium", variables(nil), list(nil), strings.NewReader(document), &read, &bytes.Buffer{}}
		if err := run(t.Context(), append(flags, "--variables", `{"n": 1}`, "-"), p); err != nil || !strings.HasPrefix(read.String(), want) {
			t.Errorf("from the standard input: %v\n%s", err, &read)
		}
	})
}

func TestErrorsInAnAnswerArePrintedAndFailTheCommand(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	for _, args := range [][]string{
		{"{ nothing }"},
		{`{ group(uid: "none") { name } repos(first: 1) { totalCount } }`},
		{"--watch", `subscription { events(after: "none") { id } }`},
	} {
		out, _, err := atrium(t, nil, append([]string{"query", "--url", server.url, "--database-url", url}, args...)...)
		if exitCode(err) != 1 || !strings.Contains(out, `"errors":`) || !strings.Contains(out, `"message":`) {
			t.Errorf("%s: %v\n%s, want it to contain %q", args, err, out, `"errors":`)
		}
	}
}

func TestWatchPrintsEachAnswerAsALine(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	const subscription = `subscription($n: Int) { events(after: "", first: $n) { type } }`
	flags := []string{"query", "--url", server.url, "--database-url", url, subscription}
	out, _, err := atrium(t, nil, append(flags, "--watch", "--variables", `{"n": 2}`)...)
	const want = `{"data":{"events":{"type":"dev.atrium.api.iam.group.created.v1"}}}
{"data":{"events":{"type":"dev.atrium.api.iam.identity.created.v1"}}}
`
	if err != nil || out != want {
		t.Errorf("%v\n%s, want %s", err, out, want)
	}
	if _, _, err := atrium(t, nil, flags...); exitCode(err) != 2 || !strings.Contains(err.Error(), "--watch") {
		t.Errorf("a subscription as a query: %v, want an error with '--watch'", err)
	}
	watching := launch(t, nil, append(flags, "--watch")...)
	watching.expectOutput("registry.tag.created")
	if err := watching.end(); err != nil {
		t.Errorf("interrupted, it ends with %v", err)
	}
	cut := launch(t, nil, append(flags, "--watch")...)
	cut.expectOutput("registry.tag.created")
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if err := cut.exit(); exitCode(err) != 1 || !strings.Contains(err.Error(), "connection") {
		t.Errorf("cut off, it ends with %v\n%s", err, cut.stdout)
	}
}
