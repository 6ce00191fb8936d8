package cases

import (
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A document consists of the advisories about an artifact.
var _ = newKind(kind{
	name: "Document", ref: "document", area: "advisory", in: "{group}", put: putDocument,
	minimal: fields{"id": "library-{n}", "advisory": "GO-{n}", "alias": "CVE-{n}", "advisories": []fields{{"artifactType": "Debian:12"}}},
	full: fields{"id": "library-{n}", "advisory": "GO-{n}", "alias": "CVE-{n}", "advisories": []fields{
		{"events": []fields{pending, notFixed, notAnalysed, falsePositive, fixed, determined, byHand, scanned, patched, detected}},
		{"advisoryId": "WITHDRAWN", "deleteTime": "2024-02-03T04:05:06.007Z"},
	}},
	extra: []call{listDocuments(fields{"cves": []string{"{document.alias}"}})},
	rows: []row{
		{name: "one", do: listDocuments(fields{"id": "{document}"}), want: expectedItems{{"id": "{document}", "advisories": someAdvisories}}},
		{name: "one with all there is", do: listDocuments(fields{"id": "{full document}"}), want: expectedItems{{"id": "{full document}", "advisories": allAdvisories}}},
		{name: "a missing one", do: listDocuments(fields{"id": "nope"}), want: notFoundBy("id", "advisory/AdvisoryDocument", "nope"), instead: emptyInGraphQL},
		{name: "by alias", do: listDocuments(fields{"cves": []string{"nope", "{document.alias}"}}), want: expectedItems{{"id": "{document}", "advisories": someAdvisories}}},
		{name: "by advisory", do: listDocuments(fields{"cves": []string{"{document.advisory}"}}), want: expectedItems{{"id": "{document}", "advisories": someAdvisories}}},
		{name: "by id and alias", do: listDocuments(fields{"id": "{document}", "cves": []string{"{document.alias}"}}), want: expectedItems{{"id": "{document}", "advisories": someAdvisories}}},
		{name: "by id and another's alias", do: listDocuments(fields{"id": "{document}", "cves": []string{"{other document.alias}"}}), want: expectedItems{}},
		{name: "by too many names", do: listDocuments(fields{"cves": slices.Repeat([]string{"x"}, 1001)}), want: invalid("cves")},
		{name: "by an unknown parameter", do: listDocuments(fields{"nope": "x"}), want: invalid("nope"), instead: typedAnswer},
	},
})

func listDocuments(params fields) call { return call{rpc: "ListDocuments", params: params} }

// The contents of documents.
var (
	someAdvisories = []fields{{"id": "{document.advisory}", "aliases": []string{"{document.alias}"}, "packageNamespace": "Debian:12"}}
	allAdvisories  = []fields{{"id": "{full document.advisory}", "aliases": []string{"{full document.alias}"}, "packageNamespace": "go", "events": []fields{
		{"timestamp": "2024-01-01T00:00:00.000Z", "detection": fields{"nvdapi": fields{"cpeSearched": "cpe:a", "cpeFound": "cpe:b"}}},
		{"timestamp": "2024-01-02T00:00:00.000Z", "detection": fields{"scanv1": fields{"scanner": "grype", "subpackageName": "s", "componentId": "1",
			"componentName": "c", "componentVersion": "1.0", "componentType": "go", "componentLocation": "/c", "artifactVersion": "2.0", "scannerVersion": "3.0",
			"grypeDbBuilt": "2024", "grypeDbChecksum": "abc"}}},
		{"timestamp": "2024-01-03T00:00:00.000Z", "detection": fields{"manual": fields{}}},
		{"timestamp": "2024-01-04T00:00:00.000Z", "truePositiveDetermination": fields{"note": "it is"}},
		{"timestamp": "2024-01-05T00:00:00.000Z", "fixed": fields{"fixedVersion": "1.2.3", "scannerVersion": "3.1", "grypeDbBuilt": "2025", "grypeDbChecksum": "def"}},
		{"timestamp": "2024-01-06T00:00:00.000Z", "falsePositiveDetermination": fields{"type": "TYPE_COMPONENT_VULNERABILITY_MISMATCH", "note": "it is not"}},
		{"timestamp": "2024-01-07T00:00:00.000Z", "analysisNotPlanned": fields{"note": "a"}},
		{"timestamp": "2024-01-08T00:00:00.000Z", "fixNotPlanned": fields{"note": "f"}},
		{"timestamp": "2024-01-09T00:00:00.000Z", "pendingUpstreamFix": fields{"note": "p"}},
	}}}
)

// putDocument imports the advisories of a document. The first one has the given names.
func putDocument(e *env, group string, given fields) fields {
	e.Helper()
	for i, advisory := range given["advisories"].([]any) {
		advisory := advisory.(fields).with(fields{"artifactName": given["id"]})
		if i == 0 {
			advisory = fields{"artifactType": "go"}.with(advisory).with(fields{"advisoryId": given["advisory"], "aliases": []any{given["alias"]}})
		}
		if _, err := e.w.p.Feeds.ImportAdvisories(e.operator(), core.UID(group), []*inventory.Advisory{decodeFields[inventory.Advisory](e, advisory)}); err != nil {
			e.Fatal(err)
		}
	}
	return given
}
