package ingest

import (
	"context"
	"slices"

	"atrium/internal/sbom"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/registry"
	checks "atrium/platform/reports" // reports is a name of the tests
)

// CheckSBOM decides about the SBOM of an upload, which must be a single document, with the reader and the bounds of imports. It stores
// nothing. ignored lists what could not be read, and what the document does not say.
func CheckSBOM(ctx context.Context, check *checks.SBOMCheck, u *Upload) (decided *checks.ImageCheck, ignored []Problem, err error) {
	var documents []*sbom.Document
	r := &Report{Refused: []Problem{}, Ignored: []Problem{}}
	l := &reporter{options: Options{Upload: u, ReportProblem: func(at Place, reason error) { r.note(&r.Refused, at, reason) }}}
	reader := documentReader{reporter: l, onlyJSON: true, limit: sbom.MaxBytes, handle: func(at Place, document []byte) error {
		if len(documents) > 0 {
			return core.Invalid(fieldmask.Violation{Field: "body", Description: "must be one document, because a check takes one SBOM"})
		}
		read, err := sbom.Parse(document)
		if err != nil {
			l.reportProblem(at, err)
			return nil
		}
		documents = append(documents, read)
		for _, remark := range read.Remarks {
			r.note(&r.Ignored, at, remark)
		}
		return nil
	}}
	if err := reader.read(ctx, []string{pipeName}); err != nil {
		return nil, nil, err
	}
	if len(documents) == 0 || len(r.Refused) > 0 {
		var v core.Violations
		for _, problem := range r.Refused[:min(len(r.Refused), maxViolations)] {
			v.Add("body", "%s", problem.Reason)
		}
		if len(v) == 0 {
			v.Add("body", "must be an SBOM")
		}
		return nil, nil, v.Err()
	}
	d := documents[0]
	given := newSBOM(d, core.ImageKey{Digest: noImage}, d.Architecture())
	var v core.Violations
	if given.Check(&v); len(v) > 0 {
		for i := range v {
			v[i].Field = "body: " + v[i].Field
		}
		return nil, nil, v.Err()
	}
	decided, err = check.Run(ctx, checkedSBOM(d, given))
	return decided, r.Ignored, err
}

// noImage is the digest of an image that a document does not name.
var noImage = "sha256:" + string(slices.Repeat([]byte("0"), 64))

func checkedSBOM(d *sbom.Document, given *registry.ImportedSBOM) *checks.CheckedSBOM {
	checked := &checks.CheckedSBOM{Packages: given.Packages}
	if len(d.Subject.Digests) > 0 {
		checked.Digest = d.Subject.Digests[0]
	}
	return checked
}
