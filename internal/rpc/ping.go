package rpc

import (
	"context"

	"connectrpc.com/connect"

	pingv2 "atrium/gen/platform/ping/v2"
	"atrium/gen/platform/ping/v2/pingv2connect"
	"atrium/platform"
)

func pingServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newPublicService(pingv2connect.NewPingServiceHandler(ping{p}, o)),
	}
}

type ping struct{ p *platform.Platform }

func (s ping) Ping(ctx context.Context, _ *pingv2.PingRequest) (*pingv2.PingResponse, error) {
	return &pingv2.PingResponse{Response: s.p.Ping(ctx)}, nil
}
