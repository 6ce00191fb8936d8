package rpc

import (
	"context"

	"atrium/platform"
	pingv2 "atrium/rpc/gen/platform/ping/v2"
)

type ping struct{ p *platform.Platform }

func (s ping) Ping(ctx context.Context, _ *pingv2.PingRequest) (*pingv2.PingResponse, error) {
	return &pingv2.PingResponse{Response: s.p.Ping(ctx)}, nil
}
