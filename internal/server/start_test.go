package server

import (
	"testing"

	"atrium/platform"
	"atrium/store/storetest"
)

// Most servers are asked by programs only, and orchestrators start them often. The guide alone takes 50,000 allocations.
func TestAStartMakesNoPages(t *testing.T) {
	p, err := platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Logger: discardLogger(), GraphQL: DefaultGraphQL()}
	if n := testing.AllocsPerRun(3, func() { Handler(p, config, nil) }); n > 30_000 {
		t.Errorf("a handler takes %.0f allocations, want 30,000 at most: make what few requests need when the first one comes", n)
	}
}
