package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"atrium/platform/core"
)

func TestARequestWhoseClientHasDisconnectedIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, disconnect := context.WithCancel(t.Context())
	e := &exchange{request: httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)}
	seen := &observed{ResponseWriter: httptest.NewRecorder()}
	late := core.Facts{Codes: []core.Code{core.CodeDeadlineExceeded}}
	if code := e.code(late, seen); code != "DEADLINE_EXCEEDED" {
		t.Errorf("code %s of a request that took too long", code)
	}
	disconnect()
	if code := e.code(late, seen); code != "CANCELLED" {
		t.Errorf("code %s of a request whose client has disconnected", code)
	}
}
