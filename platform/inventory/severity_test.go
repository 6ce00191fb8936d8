package inventory

import (
	"strings"
	"testing"
)

// fakeScore reads vectors of the form version:score, such as 3.1:9.
func fakeScore(vector string) (score float64, version string, ok bool) {
	scores := map[string]float64{"2.0:10": 10, "2.0:0": 0, "3.0:9": 9, "3.1:8.9": 8.9, "3.1:6.9": 6.9, "3.1:3.9": 3.9, "3.1:0": 0, "4.0:4": 4}
	score, ok = scores[vector]
	version, _, _ = strings.Cut(vector, ":")
	return score, version, ok
}

func severitiesOf(texts string) (all []Severity) {
	for _, text := range strings.Fields(texts) {
		kind, score, _ := strings.Cut(text, "=")
		all = append(all, Severity{Type: map[string]string{"2": "TYPE_CVSS_V2", "3": "TYPE_CVSS_V3", "4": "TYPE_CVSS_V4", "": ""}[kind], Score: score})
	}
	return all
}

func TestAnAdvisoryIsRatedByTheHighestVersion(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ own, inherited, key, version, vector, source string }{
		{"", "", "0", "", "", ""},
		{"3=3.0:9", "", "5090", "3.0", "3.0:9", "ADVISORY"},
		{"3=3.0:9 4=4.0:4 2=2.0:10", "", "3040", "4.0", "4.0:4", "ADVISORY"}, // The highest version counts, not the highest score.
		{"3=3.1:6.9 3=3.1:8.9 3=3.0:9", "", "4089", "3.1", "3.1:8.9", "ADVISORY"},
		{"2=2.0:10", "", "4100", "2.0", "2.0:10", "ADVISORY"}, // Version 2 has nothing above HIGH.
		{"2=2.0:0", "", "2000", "2.0", "2.0:0", "ADVISORY"},
		{"3=3.1:3.9", "", "2039", "3.1", "3.1:3.9", "ADVISORY"},
		{"3=3.1:0", "", "1000", "3.1", "3.1:0", "ADVISORY"},
		{"=3.1:8.9", "", "4089", "3.1", "3.1:8.9", "ADVISORY"}, // The vector contains its version.
		{"3=7.46", "", "4075", "3", "", "ADVISORY"},
		{"3=11 4=-1 3=NaN 3=x", "", "0", "", "", ""},
		{"=7.5", "", "0", "", "", ""}, // The number has no scale.
		{"3=3.1:3.9", "4=4.0:4", "2039", "3.1", "3.1:3.9", "ADVISORY"},
		{"", "3=3.0:9 4=4.0:4", "3040", "4.0", "4.0:4", "VULNERABILITY"},
		{"=High", "3=3.1:3.9", "2039", "3.1", "3.1:3.9", "VULNERABILITY"},
		{"=High", "=critical", "5", "", "", "FEED"},
		{"=Moderate =LOW", "", "3", "", "", "FEED"},
		{"=none", "", "1", "", "", "FEED"},
		{"=whatever", "", "0", "", "", ""},
	} {
		got := RateAdvisory(severitiesOf(x.own), severitiesOf(x.inherited), fakeScore)
		if source := strings.TrimPrefix(string(got.Source), "SEVERITY_SOURCE_"); got.SortKey() != x.key || got.Version != x.version || got.Vector != x.vector || source != x.source {
			t.Errorf("%q with %q: %s %+v, want %+v", x.own, x.inherited, got.SortKey(), got, x)
		}
		rating, score := ParseSeverityKey(got.SortKey())
		if rating != got.Rating || (score == nil) != (got.Score == nil) || score != nil && *score != *got.Score {
			t.Errorf("%s is read as %s, want %s: %v", got.SortKey(), rating, got.Rating, score)
		}
	}
}
