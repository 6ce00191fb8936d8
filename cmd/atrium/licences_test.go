package main

import (
	"errors"
	"strings"
	"testing"

	"atrium/internal/licences"
)

// The suite `packages` compares the text with what the built program contains.
func TestTheLicencesArePrintedOrSaidToBeMissing(t *testing.T) {
	t.Parallel()
	out, _, err := atrium(t, nil, "licences")
	if errors.Is(err, licences.ErrMissing) && out == "" && strings.Contains(err.Error(), "make build") {
		return // This test was built without `make build`.
	}
	if err != nil || !strings.HasPrefix(out, "Atrium\n") || !strings.Contains(out, "Apache License") || !strings.Contains(out, "github.com/jackc/pgx/v5 ") {
		t.Errorf("%.300s (%v), want the licences of Atrium and its modules", out, err)
	}
}
