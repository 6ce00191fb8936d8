package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/reports"
)

// A column is a column of a CSV file.
type column[T any] struct {
	name string
	text func(T) string
}

var findingColumns = []column[*reports.ExportedFinding]{
	{"vulnerabilityId", func(f *reports.ExportedFinding) string { return f.VulnerabilityID }},
	{"aliases", func(f *reports.ExportedFinding) string { return strings.Join(f.Aliases, " ") }},
	{"summary", func(f *reports.ExportedFinding) string { return f.Summary }},
	{"severity", func(f *reports.ExportedFinding) string { return lastWord(f.Severity.Rating, "SEVERITY_RATING_") }},
	{"score", func(f *reports.ExportedFinding) string { return number(f.Severity.Score) }},
	{"state", func(f *reports.ExportedFinding) string { return lastWord(f.State, "FINDING_STATE_") }},
	{"package", func(f *reports.ExportedFinding) string { return f.Package }},
	{"ecosystem", func(f *reports.ExportedFinding) string { return f.Ecosystem }},
	{"installedVersion", func(f *reports.ExportedFinding) string { return f.InstalledVersion }},
	{"fixedVersions", func(f *reports.ExportedFinding) string { return strings.Join(f.FixedVersions, " ") }},
	{"direct", func(f *reports.ExportedFinding) string { return yesOrNo(f.Direct) }},
	{"introducedBy", func(f *reports.ExportedFinding) string {
		names := make([]string, len(f.IntroducedBy))
		for i, p := range f.IntroducedBy {
			names[i] = strings.TrimSuffix(p.Name+"@"+p.Version, "@")
		}
		return strings.Join(names, " ")
	}},
	{"repoName", func(f *reports.ExportedFinding) string { return f.RepoName }},
	{"repoPath", func(f *reports.ExportedFinding) string { return f.RepoPath }},
	{"tags", func(f *reports.ExportedFinding) string { return strings.Join(f.Tags, " ") }},
	{"digest", func(f *reports.ExportedFinding) string { return f.Digest }},
	{"knownExploited", func(f *reports.ExportedFinding) string { return fmt.Sprint(f.KnownExploited) }},
	{"epss", func(f *reports.ExportedFinding) string { return number(f.EPSS) }},
	{"basis", func(f *reports.ExportedFinding) string { return lastWord(f.Basis, "FINDING_BASIS_") }},
	{"sources", func(f *reports.ExportedFinding) string { return strings.Join(f.Sources, " ") }},
	{"disputedBy", func(f *reports.ExportedFinding) string { return strings.Join(f.DisputedBy, " ") }},
	{"justification", func(f *reports.ExportedFinding) string { return f.Justification }},
	{"note", func(f *reports.ExportedFinding) string { return f.Note }},
	{"assignee", func(f *reports.ExportedFinding) string { return string(f.Assignee) }},
	{"dueTime", func(f *reports.ExportedFinding) string { return moment(f.DueTime) }},
	{"expireTime", func(f *reports.ExportedFinding) string { return moment(f.ExpireTime) }},
	{"firstSeenTime", func(f *reports.ExportedFinding) string { return moment(f.FirstSeenTime) }},
	{"resolvedTime", func(f *reports.ExportedFinding) string { return moment(f.ResolvedTime) }},
	{"updateTime", func(f *reports.ExportedFinding) string { return moment(f.UpdateTime) }},
	{"repo", func(f *reports.ExportedFinding) string { return string(f.Repo) }},
	{"advisory", func(f *reports.ExportedFinding) string { return string(f.Advisory) }},
	{"link", func(f *reports.ExportedFinding) string { return f.Link }},
	{"uid", func(f *reports.ExportedFinding) string { return string(f.UID) }},
}

var packageColumns = []column[*reports.ExportedVersion]{
	{"package", func(v *reports.ExportedVersion) string { return v.Package.Name }},
	{"ecosystem", func(v *reports.ExportedVersion) string { return v.Package.Ecosystem }},
	{"version", func(v *reports.ExportedVersion) string { return v.Version }},
	{"purl", purlOf},
	{"licenses", func(v *reports.ExportedVersion) string { return strings.Join(v.Licenses, "; ") }},
	{"uid", func(v *reports.ExportedVersion) string { return string(v.UID) }},
}

// lastWord returns the value of an enumeration as GraphQL writes it, such as HIGH.
func lastWord[E ~string](value E, prefix string) string {
	return strings.TrimPrefix(string(value), prefix)
}

// yesOrNo returns true or false, or "" for what is not known.
func yesOrNo(is *bool) string {
	if is == nil {
		return ""
	}
	return fmt.Sprint(*is)
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func moment(t core.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// A csvWriter writes a line of names, and a line for each row.
type csvWriter[T any] struct {
	to      *csv.Writer
	columns []column[T]
	cells   []string
	isBegun bool
}

func newCSVWriter[T any](to io.Writer, columns []column[T]) *csvWriter[T] {
	return &csvWriter[T]{to: csv.NewWriter(to), columns: columns, cells: make([]string, len(columns))}
}

func (w *csvWriter[T]) Write(rows []T) error {
	if !w.isBegun {
		w.isBegun = true
		for i, c := range w.columns {
			w.cells[i] = c.name
		}
		if err := w.to.Write(w.cells); err != nil {
			return err
		}
	}
	for _, row := range rows {
		for i, c := range w.columns {
			w.cells[i] = Defuse(c.text(row))
		}
		if err := w.to.Write(w.cells); err != nil {
			return err
		}
	}
	w.to.Flush()
	return w.to.Error()
}

// Defuse puts an apostrophe before a text that a spreadsheet would run as a formula. Texts come
// from images and advisories, which anybody may have written.
func Defuse(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}

func (w *csvWriter[T]) Close() error { return w.Write(nil) }

func (*csvWriter[T]) Fail(any) error { return nil }
