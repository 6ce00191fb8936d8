// Package export writes findings and packages as files: CSV for spreadsheets, JSON lines and
// JSON for programs, and SARIF for tools of code scanning.
//
//	export.go    the formats, and what is exported
//	lines.go     JSON, and JSON lines
//	csv.go       CSV
//	sarif.go     SARIF
//	link.go      links to the console
//	vex.go       decisions about findings, as VEX documents
//	sbom.go      what an image holds, as SBOMs
//
// Lists are written as their rows come, so that a file of any length needs little memory. The package
// must not decide who may read what: the core does.
package export

import (
	"io"

	"atrium/internal/sbom"
	"atrium/platform/core"
	"atrium/platform/reports"
)

// A Format is the format of a file.
type Format string

// The formats.
const (
	NDJSON Format = "ndjson" // one JSON object a line
	CSV    Format = "csv"
	JSON   Format = "json" // an array
	SARIF  Format = "sarif"

	CycloneDX Format = "cyclonedx" // 1.6, in JSON
	SPDX      Format = "spdx"      // 2.3, in JSON
)

// MediaType returns the media type of files in the format.
func (f Format) MediaType() string {
	switch f {
	case CSV:
		return "text/csv"
	case NDJSON:
		return "application/x-ndjson"
	case SARIF:
		return "application/sarif+json"
	case CycloneDX:
		return "application/vnd.cyclonedx+json"
	case SPDX:
		return "application/spdx+json"
	default:
		return "application/json"
	}
}

// Ending returns the ending of the names of files in the format.
func (f Format) Ending() string {
	switch f {
	case CycloneDX:
		return "cdx.json"
	case SPDX:
		return "spdx.json"
	default:
		return string(f)
	}
}

// A Writer writes rows of a file.
type Writer[T any] interface {
	// Write writes rows. It keeps none of them.
	Write(rows []T) error
	// Close ends a file that is complete. It does not close what the file is written to.
	Close() error
	// Fail ends a file that is not complete. In JSON lines, the last line is an object with
	// the only member error, which holds the status. In JSON and SARIF, the end is missing.
	Fail(status any) error
}

// A List is a list that can be exported.
type List[T any] struct {
	Name    string   // name of the file, without its ending
	Formats []Format // the first one is the default

	columns []column[T]
	object  func(T) any
}

// Findings is the list of findings.
var Findings = List[*reports.ExportedFinding]{
	Name: "findings", Formats: []Format{NDJSON, CSV, JSON, SARIF},
	columns: findingColumns, object: func(f *reports.ExportedFinding) any { return f },
}

// Packages is the list of the versions of packages.
var Packages = List[*reports.ExportedVersion]{
	Name: "packages", Formats: []Format{NDJSON, CSV, JSON},
	columns: packageColumns, object: func(v *reports.ExportedVersion) any {
		return exportedPackage{v.Package.Name, v.Package.Ecosystem, v.Version, purlOf(v), v.Licenses, v.UID}
	},
}

// An exportedPackage is a version of a package in JSON.
type exportedPackage struct {
	Package   string   `json:"package"`
	Ecosystem string   `json:"ecosystem,omitempty"`
	Version   string   `json:"version,omitempty"`
	PURL      string   `json:"purl,omitempty"`
	Licenses  []string `json:"licenses,omitempty"`
	UID       core.UID `json:"uid"`
}

// purlOf returns the package URL of a version, or "" if its ecosystem is not known.
func purlOf(v *reports.ExportedVersion) string {
	if v.Package.Ecosystem == "" {
		return ""
	}
	return sbom.WritePURL(v.Package.Name, v.Package.Ecosystem, v.Version)
}

// NewWriter returns a writer of a file in one of the formats of the list. Its links lead to the console at a URL, such as
// https://atrium.example.com/console, if there is one.
func (l List[T]) NewWriter(to io.Writer, format Format, console string) Writer[T] {
	writer := l.newWriter(to, format)
	if findings, ok := any(writer).(Writer[*reports.ExportedFinding]); ok && console != "" {
		writer, _ = any(linkWriter{findings, console}).(Writer[T])
	}
	return writer
}

func (l List[T]) newWriter(to io.Writer, format Format) Writer[T] {
	switch format {
	case CSV:
		return newCSVWriter(to, l.columns)
	case SARIF:
		if writer, ok := any(newSARIFWriter(to)).(Writer[T]); ok {
			return writer
		}
	}
	return newJSONWriter(to, format == NDJSON, l.object)
}
