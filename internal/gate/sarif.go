package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// sarifLevels has the levels of ratings. A failing finding without one is a warning.
var sarifLevels = map[string]string{"critical": "error", "high": "error", "medium": "warning", "low": "note", "none": "note", "unknown": "warning"}

type object = map[string]any

func sarifText(text string) object { return object{"text": text} }

// writeSARIF writes a run with a result for each failing finding. An image about which nothing was decided is a notification.
func writeSARIF(to io.Writer, results []Result) error {
	rules, index := []object{}, map[string]int{}
	found, notes := []object{}, []object{}
	decided := true
	for _, r := range results {
		if !r.IsDecided() {
			decided, notes = false, append(notes, object{"level": "error", "message": sarifText(r.Image + ": " + r.summary())})
		}
		for _, f := range r.decoded.Findings {
			if _, known := index[f.VulnerabilityID]; !known {
				index[f.VulnerabilityID] = len(rules)
				rule := object{"id": f.VulnerabilityID, "shortDescription": sarifText(f.VulnerabilityID)}
				if f.Severity.Score != nil {
					rule["properties"] = object{"security-severity": fmt.Sprintf("%.1f", *f.Severity.Score)}
				}
				rules = append(rules, rule)
			}
			found = append(found, object{
				"ruleId": f.VulnerabilityID, "ruleIndex": index[f.VulnerabilityID], "level": sarifLevels[f.rating()], "message": sarifText(f.text()),
				"locations": []object{{
					"physicalLocation": object{"artifactLocation": object{"uri": imageURI(r.Image)}},
					"logicalLocations": []object{{"name": f.Package, "fullyQualifiedName": strings.TrimSuffix(f.Package+"@"+f.InstalledVersion, "@"), "kind": "module"}},
				}},
				"partialFingerprints": object{"atriumCheck/v1": strings.Join([]string{f.VulnerabilityID, f.Ecosystem, f.Package}, "|")},
			})
		}
	}
	invocation := object{"executionSuccessful": decided}
	if len(notes) > 0 {
		invocation["toolExecutionNotifications"] = notes
	}
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":        object{"driver": object{"name": "Atrium", "rules": rules}},
			"invocations": []object{invocation}, "results": found, "columnKind": "unicodeCodePoints",
		}},
	})
}

// imageURI returns an image, or the file of an SBOM, as a relative URI.
func imageURI(image string) string {
	return (&url.URL{Path: "./" + strings.TrimLeft(image, "/")}).EscapedPath()
}
