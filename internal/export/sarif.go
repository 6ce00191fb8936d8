package export

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// A sarifWriter writes findings in SARIF 2.1.0. The rules of a run come after its results,
// because they are known only then. A run has few enough results that its rules fit in memory:
// the number is the limit of the tools that read such files.
type sarifWriter struct {
	to    io.Writer
	rules []sarifRule
	index map[string]int // indices of the rules by id
	runs  int            // runs that have begun
	rows  int            // results of the run
	most  int            // of rows
}

// maxResults is how many results a run has.
const maxResults = 25_000

func newSARIFWriter(to io.Writer) *sarifWriter { return &sarifWriter{to: to, most: maxResults} }

type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID          string         `json:"id"`
		Description sarifText      `json:"shortDescription"`
		Help        string         `json:"helpUri,omitempty"`
		Properties  map[string]any `json:"properties"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Kind         string             `json:"kind,omitempty"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Viewer       string             `json:"hostedViewerUri,omitempty"`
		Properties   any                `json:"properties"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification,omitempty"`
	}
)

func (w *sarifWriter) Write(findings []*reports.ExportedFinding) error {
	for _, f := range findings {
		if w.rows == w.most {
			if err := w.endRun(); err != nil {
				return err
			}
		}
		if err := w.writeResult(f); err != nil {
			return err
		}
	}
	return nil
}

func (w *sarifWriter) writeResult(f *reports.ExportedFinding) error {
	separator := ","
	if w.rows == 0 {
		if err := w.beginRun(); err != nil {
			return err
		}
		separator = ""
	}
	w.rows++
	if _, err := io.WriteString(w.to, separator); err != nil {
		return err
	}
	return newEncoder(w.to).Encode(w.result(f))
}

// result returns the result of a finding, and adds its rule.
func (w *sarifWriter) result(f *reports.ExportedFinding) sarifResult {
	result := sarifResult{
		RuleID: f.VulnerabilityID, RuleIndex: w.rule(f), Level: sarifLevels[f.Severity.Rating],
		Message: sarifText{describe(f)}, Fingerprints: map[string]string{"atriumFinding/v1": string(f.UID)}, Viewer: webURI(f.Link), Properties: f,
		Locations: []sarifLocation{{Logical: []sarifLogical{{f.Package, strings.TrimSuffix(f.Package+"@"+f.InstalledVersion, "@"), "module"}}}},
	}
	result.Locations[0].Physical.Artifact.URI = imageURI(f)
	switch f.State {
	case inventory.FindingAccepted, inventory.FindingNotAffected:
		reason := strings.TrimSpace(f.Justification + " " + f.Note)
		result.Suppressions = []sarifSuppression{{"external", "accepted", reason}}
	case inventory.FindingResolved:
		result.Kind, result.Level = "pass", "none"
	}
	return result
}

// rule returns the index of the rule of a finding in the run.
func (w *sarifWriter) rule(f *reports.ExportedFinding) int {
	i, known := w.index[f.VulnerabilityID]
	if known {
		return i
	}
	rule := sarifRule{
		ID: f.VulnerabilityID, Description: sarifText{escapeLinks(cmp.Or(f.Summary, f.VulnerabilityID))}, Help: webURI(f.Link),
		Properties: map[string]any{"tags": []string{"security", "vulnerability"}},
	}
	if len(f.Aliases) > 0 {
		rule.Properties["aliases"] = f.Aliases
	}
	if f.Severity.Score != nil {
		rule.Properties["security-severity"] = fmt.Sprintf("%.1f", *f.Severity.Score) // GitHub and Azure read it
	}
	w.index[f.VulnerabilityID] = len(w.rules)
	w.rules = append(w.rules, rule)
	return len(w.rules) - 1
}

// sarifLevels maps ratings to levels.
var sarifLevels = map[core.SeverityRating]string{
	core.SeverityCritical: "error", core.SeverityHigh: "error", core.SeverityMedium: "warning",
	core.SeverityLow: "note", core.SeverityNone: "none", core.SeverityUnknown: "warning",
}

// escapeLinks escapes the characters with which a text of SARIF has links (3.11.6). Names and summaries are those of images and
// advisories, which anybody may have written.
func escapeLinks(text string) string { return linkEscaper.Replace(text) }

var linkEscaper = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)

// webURI returns a link if every reader takes it for a URI, or "".
func webURI(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}

// describe says in a sentence what a finding is.
func describe(f *reports.ExportedFinding) string {
	id := f.VulnerabilityID
	if len(f.Aliases) > 0 {
		id += " (" + strings.Join(f.Aliases, ", ") + ")"
	}
	text := strings.TrimSpace(f.Package+" "+f.InstalledVersion) + " is affected by " + id
	if f.Basis == inventory.BasisName {
		text = "A version of " + f.Package + " is affected by " + id + "; the installed version is not known"
	}
	if f.IsFixable() {
		text += "; fixed in " + strings.Join(f.FixedVersions, ", ")
	}
	return escapeLinks(text + ".")
}

// imageURI names the image of a finding by a relative URI. A colon could end a scheme.
func imageURI(f *reports.ExportedFinding) string {
	segments := strings.Split(cmp.Or(f.RepoPath, string(f.Repo))+"@"+f.Digest, "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(segment), ":", "%3A")
	}
	return strings.Join(segments, "/")
}

// beginRun begins a run, and before the first one the file.
func (w *sarifWriter) beginRun() error {
	start := ","
	if w.runs == 0 {
		start = `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[`
	}
	w.runs++
	w.rules, w.index = []sarifRule{}, map[string]int{}
	_, err := fmt.Fprintf(w.to, `%s{"automationDetails":{"id":"atrium/findings/%d"},"results":[`, start, w.runs)
	return err
}

// endRun ends a run with its rules.
func (w *sarifWriter) endRun() error {
	w.rows = 0
	if _, err := io.WriteString(w.to, `],"tool":{"driver":{"name":"Atrium","rules":`); err != nil {
		return err
	}
	if err := newEncoder(w.to).Encode(w.rules); err != nil {
		return err
	}
	_, err := io.WriteString(w.to, "}}}")
	return err
}

func (w *sarifWriter) Close() error {
	if w.runs == 0 {
		if err := w.beginRun(); err != nil {
			return err
		}
	}
	if err := w.endRun(); err != nil {
		return err
	}
	_, err := io.WriteString(w.to, "]}\n")
	return err
}

func (*sarifWriter) Fail(any) error { return nil }
