package server

import (
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/internal/web"
	"atrium/resolvers"
)

func TestTheDocumentsOfTheConsoleAreValid(t *testing.T) {
	t.Parallel()
	documents := web.ConsoleDocuments()
	if len(documents) < 10 {
		t.Errorf("there are %d", len(documents))
	}
	for _, document := range documents {
		if _, err := gqlparser.LoadQueryWithRules(resolvers.Schema(), document, rules.NewDefaultRules()); err != nil {
			t.Errorf("%.60s: %v", document, err)
		}
	}
}
