package house

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// metricNames returns the names of all metrics of the program. Prometheus adds the endings of histograms.
func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, f := range sourcesIn(t, "internal/telemetry") {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, _ := strconv.Unquote(literal.Value); text != "" && metricName.FindString(text) == text {
					names[text] = true
				}
			}
			return true
		})
	}
	if len(names) < 30 {
		t.Fatalf("internal/telemetry has %d metrics: how are they named now?", len(names))
	}
	return names
}

var (
	metricName      = regexp.MustCompile(`\batrium_[a-z_]*[a-z]\b`)
	histogramEnding = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// seenElsewhere are metrics for which no panel and no rule is needed.
var seenElsewhere = map[string]bool{
	"atrium_requests_working":                        true, // `atrium_requests_in_flight` and the slots are drawn
	"atrium_request_waits_total":                     true, // the number that waits is drawn
	"atrium_request_wait_seconds_total":              true, // the number that waits is drawn
	"atrium_tls_certificate_begin_timestamp_seconds": true, // only the rule of the expiry needs it
}

// A panel or a rule with a name that does not exist is empty for ever, and looks as if all were well. A metric that nobody
// draws is found by nobody.
func TestPanelsAndRulesUseTheMetricsThatExist(t *testing.T) {
	t.Parallel()
	names, shown := metricNames(t), map[string]bool{}
	for _, file := range []string{"deploy/grafana/atrium.json", "deploy/prometheus/alerts.yaml", "docs/watch.md", "docs/troubleshoot.md"} {
		for _, name := range metricName.FindAllString(read(t, file), -1) {
			if base := histogramEnding.ReplaceAllString(name, ""); !names[name] && names[base] {
				name = base
			}
			if !names[name] {
				t.Errorf("%s names the metric %s, which does not exist", file, name)
			}
			if strings.HasPrefix(file, "deploy/") {
				shown[name] = true
			}
		}
	}
	for name := range names {
		if !shown[name] && !seenElsewhere[name] {
			t.Errorf("no panel of deploy/grafana/atrium.json and no rule shows %s", name)
		}
	}
}

func TestEveryPanelShowsTheChosenJobAndOverlapsNoOther(t *testing.T) {
	t.Parallel()
	var dashboard struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "deploy/grafana/atrium.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	selector := regexp.MustCompile(`\b(?:atrium|process|go)_\w+(\{[^}]*\})?`)
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] {
			t.Errorf("%s has the id %d of another panel", panel.Title, panel.ID)
		}
		ids[panel.ID] = true
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s overlaps %q or the edge", panel.Title, other)
				}
				cells[[2]int{x, y}] = panel.Title
			}
		}
		for _, target := range panel.Targets {
			series := selector.FindAllStringSubmatch(target.Expr, -1)
			if len(series) == 0 {
				t.Errorf("%s has no metric in %s", panel.Title, target.Expr)
			}
			for _, one := range series {
				if !strings.Contains(one[1], "$job") {
					t.Errorf("%s does not heed $job: %s", panel.Title, one[0])
				}
			}
		}
	}
}
