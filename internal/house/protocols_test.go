package house

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"atrium/internal/rest"
)

// TestEveryOperationOfTheGraphIsInEveryProtocol compares the fields of Query and Mutation with the routes of REST and the procedures of
// gRPC. A field has the name of its operation, after Get or List for a query. Others are in a table of the guide: with the operations
// that do the same, or with the reason why there is none.
func TestEveryOperationOfTheGraphIsInEveryProtocol(t *testing.T) {
	t.Parallel()
	served := operationsOfBoth(t)
	types, rows := readContracts(t, "schema/*.graphqls", graphqlBlock), tableOfOthers(t)
	found := 0
	for _, root := range []string{"Query", "Mutation"} {
		fields := regexp.MustCompile(`(?s)""".*?"""`).ReplaceAllString(types[root], "")
		for _, m := range regexp.MustCompile(`(?m)^  (\w+)(?:\(|: )`).FindAllStringSubmatch(fields, -1) {
			found++
			name := strings.ToUpper(m[1][:1]) + m[1][1:]
			row, isListed := rows[m[1]]
			delete(rows, m[1])
			isServed := served[name] || root == "Query" && (served["Get"+name] || served["List"+name])
			switch {
			case isServed && isListed:
				t.Errorf("docs/rest-grpc.md: remove the row of %s, which REST and gRPC have", m[1])
			case isServed:
			case !isListed:
				t.Errorf("%s is a field of %s: add its route and its procedure, or a row with the reason to the table of docs/rest-grpc.md", m[1], root)
			case row.instead == "" && row.reason == "":
				t.Errorf("docs/rest-grpc.md: say what does the same as %s, or why nothing does", m[1])
			}
			for _, operation := range regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(row.instead, -1) {
				if !served[operation[1]] {
					t.Errorf("docs/rest-grpc.md: %s names %s, which is not in both protocols", m[1], operation[1])
				}
			}
		}
	}
	for name := range rows {
		t.Errorf("docs/rest-grpc.md: remove the row of %s, which is no field of Query or Mutation", name)
	}
	if found < 100 {
		t.Errorf("%d fields were compared, want at least 100", found)
	}
}

// operationsOfBoth returns the names of the operations that REST and gRPC have.
func operationsOfBoth(t *testing.T) map[string]bool {
	t.Helper()
	w := httptest.NewRecorder()
	rest.Description(rest.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	procedures, served := readAll(t, "schema/proto/platform/*/v2/*.proto"), map[string]bool{}
	for path, methods := range document.Paths {
		for _, o := range methods {
			isBoth := strings.Contains(procedures, "\n  rpc "+o.OperationID+"(")
			served[o.OperationID] = isBoth
			if !isBoth && o.OperationID != "CreateRootGroup" && !strings.HasPrefix(path, "/export/") && !strings.HasPrefix(path, "/import/") && !strings.HasPrefix(path, "/check/") {
				t.Errorf("REST has %s, and gRPC has not", o.OperationID)
			}
		}
	}
	for _, m := range regexp.MustCompile(`\n  rpc (\w+)\(`).FindAllStringSubmatch(procedures, -1) {
		if !served[m[1]] {
			t.Errorf("gRPC has %s, and REST has not", m[1])
		}
	}
	return served
}

// An otherWay is a row of the table of what has another name in REST and gRPC, or is not there.
type otherWay struct{ instead, reason string }

func tableOfOthers(t *testing.T) map[string]otherWay {
	t.Helper()
	_, table, found := strings.Cut(read(t, "docs/rest-grpc.md"), "\n| GraphQL | REST and gRPC | why |\n|---|---|---|\n")
	if !found {
		t.Fatal("docs/rest-grpc.md has no table of what GraphQL has: where is it now?")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]otherWay{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for _, field := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cells[0], -1) {
			rows[field[1]] = otherWay{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])}
		}
	}
	return rows
}
