package rpc

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

const advisoryService = "/platform.advisory.v2.SecurityAdvisoryService/"

// The first version of the contract had no pages, and its clients do not see a token of the next one.
func TestARequestWithoutFieldsForPagingGetsAllDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many = 2*core.MaxPageSize + 1
	var advisories []*inventory.Advisory
	for i := range many {
		advisories = append(advisories, &inventory.Advisory{AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: fmt.Sprintf("library-%d", i)})
	}
	ctx := core.WithActor(t.Context(), core.NewOperator("import"))
	must[core.Imported](t)(w.p.Feeds.ImportAdvisories(ctx, core.UID(w.org), advisories))
	for asked, want := range map[string]int{`{}`: many, `{"cves": ["GO-1"]}`: 1, `{"pageSize": 7}`: 7, `{"orderBy": "name desc"}`: core.DefaultPageSize, `{"skip": 400}`: 1} {
		status, _, got := w.post(theOwner, advisoryService+"ListDocuments", asked)
		if n := strings.Count(got, `"advisories"`); status != http.StatusOK || n != want {
			t.Errorf("%s: %d, %d documents, want %d", asked, status, n, want)
		}
	}
	if status, _, got := w.post("stranger", advisoryService+"ListDocuments", `{}`); status == http.StatusOK {
		t.Errorf("a stranger gets %s", got)
	}
}
