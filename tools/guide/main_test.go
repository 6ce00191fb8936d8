package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWhatBreaksClientsIsListedByVersion(t *testing.T) {
	t.Parallel()
	changelog := "# Changelog\n\nIt begins with `Breaking:`.\n\n## Unreleased\n\n**New**\n- More.\n- Breaking: `Repo.tags(first:)` is\n  gone.\n- Breaking: the port.\n\n## 0.2\n\n- Less.\n\n## 0.1\n- Breaking: `Repo` is gone.\n"
	const want = "## Unreleased\n\n- `Repo.tags(first:)` is\n  gone.\n\n\n## 0.1\n\n- `Repo` is gone.\n\n"
	if got := string(listBreaks([]byte(changelog))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAPageIsRenderedWithoutItsOwnHTML(t *testing.T) {
	t.Parallel()
	page, err := render([]byte("# The start\n\nSee [more](more.md#here) and [it](https://example.com/a.md).\n\n## Here\n\n```sh example\necho <b>\n```\n<script>alert(1)</script>\n\n| a |\n|---|\n| b |\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`<h1 id="the-start">The start</h1>`, `href="/guide/more#here"`, `href="https://example.com/a.md"`,
		`<h2 id="here">`, `<code class="language-sh">echo &lt;b&gt;`, "<td>b</td>",
		`<pre tabindex="0"><code`, `<div class="wide" role="group" aria-label="Table" tabindex="0">` + "\n<table>", "</table>\n</div>",
	} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page has no %s:\n%s", part, page)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Errorf("the page has a script:\n%s", page)
	}
}

func TestADiagramIsDrawn(t *testing.T) {
	t.Parallel()
	const text = "```mermaid\nflowchart LR\naccTitle: From a to d\na[First <b><br>line] --> b{Really?}\nb -->|yes| c[(Store)]\nb --> d\na --> d\nc <--> d\n```\n"
	page, err := render([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for part, count := range map[string]int{
		`aria-label="From a to d"`: 1, `<rect class="`: 4, `<rect class="store"`: 1, `<rect class="question"`: 1, `class="way"`: 5, `marker-start`: 1,
		`>First &lt;b&gt;</text>`: 1, `>line</text>`: 1, `>yes</text>`: 1, "mermaid": 0, "style=": 0,
	} {
		if got := strings.Count(string(page), part); got != count {
			t.Errorf("%d times %s, want %d:\n%s", got, part, count, page)
		}
	}
	for _, bad := range []string{"flowchart LR\naccTitle: x\na -.-> b", "flowchart LR\na --> b"} {
		if _, err := render([]byte("```mermaid\n" + bad + "\n```\n")); !errors.Is(err, errDiagram) {
			t.Errorf("%q: %v, want an error", bad, err)
		}
	}
}

func TestEachHeadingIsASectionOfTheSearch(t *testing.T) {
	t.Parallel()
	page, err := render([]byte("# The `start`\n\nSee [more](more.md), a <b> & `--flag`.\n\n## Here\n\n| a | b |\n|---|---|\n| c | d |\n\n### Deeper\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []section{
		{Page: "first", Heading: "The start", Text: "See more, a & --flag."},
		{Page: "first", Anchor: "here", Heading: "Here", Text: "a b c d"},
		{Page: "first", Anchor: "deeper", Heading: "Deeper"},
	}
	if got := splitSections("first", string(page)); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
