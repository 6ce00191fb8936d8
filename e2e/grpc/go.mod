// A client of Atrium by grpc-go, in a module of its own, whose requirements stay out of Atrium's go.mod. The suite
// grpc.mjs runs it.
module atrium/e2e/grpc

go 1.26.0

require (
	atrium v0.0.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261019180522-ce908d29299b
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)

replace atrium => ../..
