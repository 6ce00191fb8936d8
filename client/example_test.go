package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"atrium/client"
	iamv2 "atrium/gen/platform/iam/v2"
	registryv2 "atrium/gen/platform/registry/v2"
)

// startAndConnect starts a server and returns a client of it and its organization.
func startAndConnect(ctx context.Context) (c *client.Client, org string, done func()) {
	s, err := serve(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if c, err = client.New(s.URL, client.Options{Token: client.StaticToken("owner")}); err != nil {
		log.Fatal(err)
	}
	return c, s.org, func() { _ = s.Close() }
}

func Example() {
	ctx := context.Background()
	c, org, done := startAndConnect(ctx) // A real program calls client.New("https://atrium.example.com", client.Options{Token: ...}).
	defer done()

	repo, err := c.Repos.CreateRepo(ctx, &registryv2.CreateRepoRequest{
		Parent: org, Repo: &registryv2.Repo{Name: "nginx", Description: "A web server"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	repo, err = c.Repos.UpdateRepo(ctx, &registryv2.UpdateRepoRequest{
		Repo:       &registryv2.Repo{Uid: repo.GetUid()}, // The description is empty.
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"description"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %q\n", repo.GetName(), repo.GetDescription())
	// Output: nginx ""
}

func ExampleAll() {
	ctx := context.Background()
	c, org, done := startAndConnect(ctx)
	defer done()
	for _, name := range []string{"alpha", "beta", "gamma"} {
		if _, err := c.Groups.CreateGroup(ctx, &iamv2.CreateGroupRequest{Parent: org, Group: &iamv2.Group{Name: name}}); err != nil {
			fmt.Println(err)
			return
		}
	}

	request := &iamv2.ListGroupsRequest{PageSize: 2, OrderBy: "name"}
	for group, err := range client.All(ctx, c.Groups.ListGroups, request, (*iamv2.ListGroupsResponse).GetGroups) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(group.GetName())
	}
	// Output:
	// acme
	// alpha
	// beta
	// gamma
}

func Example_errors() {
	ctx := context.Background()
	c, org, done := startAndConnect(ctx)
	defer done()

	_, err := c.Repos.CreateRepo(ctx, &registryv2.CreateRepoRequest{Parent: org, Repo: &registryv2.Repo{Name: "No Such Name"}})
	fmt.Println(connect.CodeOf(err))
	var e *connect.Error
	if errors.As(err, &e) {
		for _, d := range e.Details() {
			if detail, err := d.Value(); err == nil {
				if bad, ok := detail.(*errdetails.BadRequest); ok {
					fmt.Println(bad.GetFieldViolations()[0].GetField())
				}
			}
		}
	}
	// Output:
	// invalid_argument
	// name
}
