// Package client calls the services of an Atrium server over gRPC.
//
// A Client holds the generated stub of every service, behind which stand a
// token, retries and an HTTP/2 connection that all share. Errors are
// *connect.Error: connect.CodeOf tells the code, Details the typed details.
// It must not import the service: who uses it shares nothing but the contract.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"atrium/rpc/gen/platform/advisory/v2/advisoryv2connect"
	"atrium/rpc/gen/platform/events/v2/eventsv2connect"
	"atrium/rpc/gen/platform/iam/v2/iamv2connect"
	"atrium/rpc/gen/platform/libraries/v2/librariesv2connect"
	"atrium/rpc/gen/platform/ping/v2/pingv2connect"
	"atrium/rpc/gen/platform/registry/v2/registryv2connect"
	"atrium/rpc/gen/platform/vulnerabilities/v2/vulnerabilitiesv2connect"
)

// A Client calls the services of one server. It is safe for concurrent use.
type Client struct {
	AccountAssociations       iamv2connect.AccountAssociationsServiceClient
	Advisories                vulnerabilitiesv2connect.AdvisoriesServiceClient
	Artifacts                 librariesv2connect.ArtifactsServiceClient
	ExternalGroupRoleMappings iamv2connect.ExternalGroupRoleMappingsServiceClient
	GroupInvites              iamv2connect.GroupInvitesServiceClient
	Groups                    iamv2connect.GroupsServiceClient
	Identities                iamv2connect.IdentitiesServiceClient
	IdentityProviders         iamv2connect.IdentityProvidersServiceClient
	Images                    registryv2connect.ImagesServiceClient
	Ping                      pingv2connect.PingServiceClient
	Repos                     registryv2connect.ReposServiceClient
	RoleBindings              iamv2connect.RoleBindingsServiceClient
	Roles                     iamv2connect.RolesServiceClient
	SecurityAdvisory          advisoryv2connect.SecurityAdvisoryServiceClient
	Subscriptions             eventsv2connect.SubscriptionsServiceClient
	Tags                      registryv2connect.TagsServiceClient
	Terms                     iamv2connect.TermsServiceClient
}

// Options are the settings of a Client; the zero value calls without a token.
type Options struct {
	// Token gives the bearer token of each call. It is asked every time, so
	// that it can renew one that expires; nil: calls have none.
	Token func(context.Context) (string, error)
	// Attempts is how often a call is tried: 0 is 4, and 1 never again.
	Attempts int
	// HTTPClient must speak HTTP/2; nil: one that does, in the clear too.
	HTTPClient connect.HTTPClient
	// Connect is for all else that connect can do, such as interceptors.
	Connect []connect.ClientOption

	sleep func(context.Context, time.Duration) error // of tests
}

// StaticToken is the source of one token that does not expire, or not soon.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// New makes a client of the server at an address such as
// https://atrium.example.com. Over http:// the token travels in the clear.
// Nothing is sent before the first call.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the address %q is not that of a server, such as https://atrium.example.com", address)
	}
	if o.Attempts < 0 {
		return nil, errors.New("attempts must not be negative")
	}
	at, over := strings.TrimSuffix(address, "/"), o.HTTPClient
	if over == nil {
		over = overHTTP2()
	}
	options := connect.WithClientOptions(append([]connect.ClientOption{
		connect.WithGRPC(), connect.WithInterceptors(o.retrying(), o.authorized()),
	}, o.Connect...)...)
	return &Client{
		AccountAssociations:       iamv2connect.NewAccountAssociationsServiceClient(over, at, options),
		Advisories:                vulnerabilitiesv2connect.NewAdvisoriesServiceClient(over, at, options),
		Artifacts:                 librariesv2connect.NewArtifactsServiceClient(over, at, options),
		ExternalGroupRoleMappings: iamv2connect.NewExternalGroupRoleMappingsServiceClient(over, at, options),
		GroupInvites:              iamv2connect.NewGroupInvitesServiceClient(over, at, options),
		Groups:                    iamv2connect.NewGroupsServiceClient(over, at, options),
		Identities:                iamv2connect.NewIdentitiesServiceClient(over, at, options),
		IdentityProviders:         iamv2connect.NewIdentityProvidersServiceClient(over, at, options),
		Images:                    registryv2connect.NewImagesServiceClient(over, at, options),
		Ping:                      pingv2connect.NewPingServiceClient(over, at, options),
		Repos:                     registryv2connect.NewReposServiceClient(over, at, options),
		RoleBindings:              iamv2connect.NewRoleBindingsServiceClient(over, at, options),
		Roles:                     iamv2connect.NewRolesServiceClient(over, at, options),
		SecurityAdvisory:          advisoryv2connect.NewSecurityAdvisoryServiceClient(over, at, options),
		Subscriptions:             eventsv2connect.NewSubscriptionsServiceClient(over, at, options),
		Tags:                      registryv2connect.NewTagsServiceClient(over, at, options),
		Terms:                     iamv2connect.NewTermsServiceClient(over, at, options),
	}, nil
}

// overHTTP2 speaks HTTP/2 only, over TLS and in the clear.
func overHTTP2() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols, Proxy: http.ProxyFromEnvironment}}
}

// authorized adds the token of each call.
func (o Options) authorized() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			if o.Token == nil {
				return next(ctx, r)
			}
			token, err := o.Token(ctx)
			if err != nil {
				return nil, connect.NewError(connect.CodeUnauthenticated, fmt.Errorf("no token: %w", err))
			}
			r.Header().Set("Authorization", "Bearer "+token)
			return next(ctx, r)
		}
	})
}
