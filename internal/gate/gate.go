// Package gate writes what a server has decided about images, in the formats that people and pipelines read. It knows a server only by
// its answers.
//
//	gate.go    the results, and the table
//	reports.go JSON, Markdown, annotations of GitHub, JUnit
//	sarif.go   SARIF 2.1.0
package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Result is what came of the check of one image.
type Result struct {
	Image   string          `json:"image"`           // as it was asked for
	Error   string          `json:"error,omitempty"` // why the server has not decided
	Answer  json.RawMessage `json:"check,omitempty"` // as the server has sent it
	decoded answer
}

// An answer is what of an answer the formats need.
type answer struct {
	Verdict         string
	Reason          string
	Packages        int
	UnknownPackages int
	Open, Failing   count
	Findings        []finding
	Upgrades        []upgrade
	Ignored         []struct{ Place, Reason string }
	FeedsAsOf       string
}

type count struct{ Total, Critical, High, Medium, Low, None, Unknown int }

type finding struct {
	VulnerabilityID  string
	Package          string
	Ecosystem        string
	InstalledVersion string
	FixedVersions    []string
	Severity         struct {
		Rating string
		Score  *float64
	}
	KnownExploited bool
}

type upgrade struct {
	Package, From, To string
	Findings          int
}

// The verdicts of a server.
const (
	passed = "CHECK_VERDICT_PASSED"
	failed = "CHECK_VERDICT_FAILED"
)

// NewResult reads the answer of a server about an image.
func NewResult(image string, raw []byte) (Result, error) {
	r := Result{Image: image, Answer: raw}
	if err := json.Unmarshal(raw, &r.decoded); err != nil || r.decoded.Verdict == "" {
		return Result{}, fmt.Errorf("the answer about %s is not the result of a check; check the URL of the server", image)
	}
	return r, nil
}

// IsDecided reports whether the image has passed or failed.
func (r Result) IsDecided() bool { return r.decoded.Verdict == passed || r.HasFailed() }

// HasFailed reports whether findings fail the image.
func (r Result) HasFailed() bool { return r.decoded.Verdict == failed }

// Reason says why nothing was decided.
func (r Result) Reason() string {
	if r.Error != "" {
		return r.Error
	}
	return r.decoded.Reason
}

// A Format is a format of results.
type Format string

// The formats.
const (
	Table    Format = "table"
	JSON     Format = "json"
	SARIF    Format = "sarif"
	JUnit    Format = "junit"
	GitHub   Format = "github"
	Markdown Format = "markdown"
)

var writers = map[Format]func(io.Writer, []Result) error{Table: writeTable, JSON: writeJSON, SARIF: writeSARIF, JUnit: writeJUnit, GitHub: writeGitHub, Markdown: writeMarkdown}

// IsKnown reports whether there is such a format.
func (f Format) IsKnown() bool { return writers[f] != nil }

// Write writes results in a format. Every text of a server is escaped as the format demands.
func Write(to io.Writer, format Format, results []Result) error { return writers[format](to, results) }

// summary says in a line what came of the check.
func (r Result) summary() string {
	d := r.decoded
	switch {
	case r.HasFailed():
		return fmt.Sprintf("failed: %d of %d open findings fail it (%s)", d.Failing.Total, d.Open.Total, d.Failing.text())
	case d.Verdict == passed:
		text := fmt.Sprintf("passed: none of %d open findings fails it", d.Open.Total)
		if d.UnknownPackages > 0 {
			text += fmt.Sprintf("; no advisory can match %d of %d packages", d.UnknownPackages, d.Packages)
		}
		return text
	default:
		return "not decided: " + r.Reason()
	}
}

func (c count) text() string {
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{{c.Critical, "critical"}, {c.High, "high"}, {c.Medium, "medium"}, {c.Low, "low"}, {c.None, "none"}, {c.Unknown, "unknown"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return strings.Join(parts, ", ")
}

// rating returns the rating in a word.
func (f finding) rating() string {
	word := strings.ToLower(strings.TrimPrefix(f.Severity.Rating, "SEVERITY_RATING_"))
	if word == "" {
		word = "unknown"
	}
	return word
}

// fix says what to do.
func (f finding) fix() string {
	if len(f.FixedVersions) == 0 {
		return "no fix is known"
	}
	return "fixed in " + f.FixedVersions[0]
}

func (f finding) text() string {
	return fmt.Sprintf("%s (%s) in %s %s, %s", f.VulnerabilityID, f.rating(), f.Package, f.InstalledVersion, f.fix())
}

// more says how many findings are not listed.
func (d answer) more() int { return d.Failing.Total - len(d.Findings) }

func writeTable(to io.Writer, results []Result) error {
	for _, r := range results {
		if _, err := fmt.Fprintf(to, "%s %s\n", oneLine(r.Image), oneLine(r.summary())); err != nil {
			return err
		}
		columns := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		for _, f := range r.decoded.Findings {
			exploited := ""
			if f.KnownExploited {
				exploited = "known to be exploited"
			}
			_, _ = fmt.Fprintf(columns, "  %s\t%s\t%s\t%s\t%s\t%s\n", oneLine(f.VulnerabilityID), f.rating(), oneLine(f.Package), oneLine(f.InstalledVersion), oneLine(f.fix()), exploited)
		}
		if err := columns.Flush(); err != nil {
			return err
		}
		if more := r.decoded.more(); more > 0 {
			_, _ = fmt.Fprintf(to, "  and %d more\n", more)
		}
		for _, u := range r.decoded.Upgrades {
			if _, err := fmt.Fprintf(to, "  upgrade %s %s to %s: %d fewer\n", oneLine(u.Package), oneLine(u.From), oneLine(u.To), u.Findings); err != nil {
				return err
			}
		}
		for _, i := range r.decoded.Ignored {
			if _, err := fmt.Fprintf(to, "  note: %s\n", oneLine(strings.TrimPrefix(i.Place+": "+i.Reason, ": "))); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneLine replaces what a terminal or a reader of lines would interpret.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}
