// Command grpc calls a running Atrium with grpc-go, a gRPC implementation that shares no code with that of the server. It
// prints a JSON object for each step, which the suite checks:
//
//	ATRIUM_URL=http://127.0.0.1:8080 ATRIUM_TOKEN=$(atrium token) go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // status.Details needs these types.
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	registryv2 "atrium/gen/platform/registry/v2"
)

func main() {
	if err := run(context.Background(), os.Getenv("ATRIUM_URL"), os.Getenv("ATRIUM_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, token string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(u.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	authorized := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	late, cancel := context.WithDeadline(authorized, time.Now().Add(-time.Second))
	defer cancel()
	for _, step := range []struct {
		name    string
		ctx     context.Context
		request *registryv2.ListReposRequest
		options []grpc.CallOption
	}{
		{"page", authorized, &registryv2.ListReposRequest{PageSize: 2, OrderBy: "name"}, nil},
		{"compressed", authorized, &registryv2.ListReposRequest{PageSize: 200}, []grpc.CallOption{grpc.UseCompressor(gzip.Name)}},
		{"invalid", authorized, &registryv2.ListReposRequest{PageSize: -1, Skip: -1}, nil},
		{"nobody", ctx, &registryv2.ListReposRequest{}, nil},
		{"late", late, &registryv2.ListReposRequest{}, nil},
	} {
		answer := &registryv2.ListReposResponse{}
		err := conn.Invoke(step.ctx, "/platform.registry.v2.ReposService/ListRepos", step.request, answer, step.options...)
		if err := printStep(step.name, answer, status.Convert(err)); err != nil {
			return err
		}
	}
	return nil
}

// printStep prints an answer and the status of the call.
func printStep(step string, answer proto.Message, ended *status.Status) error {
	message, err := protojson.Marshal(answer)
	if err != nil {
		return err
	}
	details := make([]string, 0, len(ended.Details()))
	for _, d := range ended.Details() {
		details = append(details, fmt.Sprintf("%T", d))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"step": step, "answer": json.RawMessage(message), "code": ended.Code().String(), "message": ended.Message(), "details": details,
	})
}
