package export

import (
	"net/url"
	"strings"

	"atrium/platform/reports"
)

// A linkWriter makes links of findings lead to the console.
type linkWriter struct {
	Writer[*reports.ExportedFinding]
	console string // URL of the console
}

func (w linkWriter) Write(findings []*reports.ExportedFinding) error {
	for _, f := range findings {
		if len(f.GroupNames) > 0 {
			f.Link = w.link(f)
		}
	}
	return w.Writer.Write(findings)
}

// link returns the address of the advisory of a finding among those of its group. Who does not see the names of all groups
// finds the group by its uid: see places.ts of the console.
func (w linkWriter) link(f *reports.ExportedFinding) string {
	path := w.console
	for _, name := range f.GroupNames {
		name = url.PathEscape(name)
		if name == "." || name == ".." {
			name = "=" + name
		}
		path += "/" + name
	}
	query := url.Values{"id": {f.VulnerabilityID}}
	if group := f.Repo.Parent(); len(f.GroupNames) < group.Depth() {
		query.Set("group", string(group))
	}
	return strings.TrimSuffix(path, "/") + "/~advisories?" + query.Encode()
}
