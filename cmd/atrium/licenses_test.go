package main

import (
	"errors"
	"strings"
	"testing"

	"atrium/internal/licenses"
)

// The suite `packages` compares the text with what the built program contains.
func TestTheLicensesArePrintedOrSaidToBeMissing(t *testing.T) {
	t.Parallel()
	out, _, err := atrium(t, nil, "licenses")
	if errors.Is(err, licenses.ErrMissing) && out == "" && strings.Contains(err.Error(), "make build") {
		return // This test was built without `make build`.
	}
	if err != nil || !strings.HasPrefix(out, "Atrium\n") || !strings.Contains(out, "Apache License") || !strings.Contains(out, "github.com/jackc/pgx/v5 ") {
		t.Errorf("%.300s (%v), want the licenses of Atrium and its modules", out, err)
	}
}
