package rpc

import (
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	iamv2 "atrium/gen/platform/iam/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

func TestEachProtocolCreatesReadsListsUpdatesAndDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for protocol := range protocols {
		c := w.clientsAs(theOwner, protocol)
		made := must[*registryv2.Repo](t)(c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{
			Name: "nginx", Description: "A web server", CatalogTier: registryv2.CatalogTier_CATALOG_TIER_FIPS,
			SyncConfig: &registryv2.SyncConfig{Source: "upstream/nginx"},
		}}))
		if !core.UID(made.GetUid()).Valid() || made.GetCreateTime() == nil || made.GetSyncConfig().GetSource() != "upstream/nginx" {
			t.Errorf("%s: made %v, want Source 'upstream/nginx'", protocol, made)
		}
		if got := must[*registryv2.Repo](t)(c.repos.GetRepo(t.Context(), &registryv2.GetRepoRequest{Uid: made.GetUid()})); !proto.Equal(got, made) {
			t.Errorf("%s: read %v, made %v", protocol, got, made)
		}
		page := must[*registryv2.ListReposResponse](t)(c.repos.ListRepos(t.Context(), &registryv2.ListReposRequest{Name: proto.String("nginx")}))
		if page.GetTotalCount() != 1 || len(page.GetRepos()) != 1 || !proto.Equal(page.GetRepos()[0], made) {
			t.Errorf("%s: listed %v, want TotalCount 1 and 1 repos", protocol, page)
		}
		changed := must[*registryv2.Repo](t)(c.repos.UpdateRepo(t.Context(), &registryv2.UpdateRepoRequest{
			Repo: &registryv2.Repo{Uid: made.GetUid(), Name: "nginx-fips"},
		}))
		if changed.GetName() != "nginx-fips" || changed.GetDescription() != "A web server" {
			t.Errorf("%s: changed %v, want Name 'nginx-fips' and Description 'A web server'", protocol, changed)
		}
		must[proto.Message](t)(c.repos.DeleteRepo(t.Context(), &registryv2.DeleteRepoRequest{Uid: made.GetUid()}))
		_, err := c.repos.GetRepo(t.Context(), &registryv2.GetRepoRequest{Uid: made.GetUid()})
		info := detail[*errdetails.ResourceInfo](t, expectError(t, err, connect.CodeNotFound))
		if info.GetResourceType() != "registry.atrium.dev/Repo" || info.GetResourceName() != made.GetUid() {
			t.Errorf("%s: it says %v is missing", protocol, info)
		}
	}
}

func TestAMaskOfAMessageIsReadGenerously(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	for _, x := range []struct {
		name string
		mask *fieldmaskpb.FieldMask
		sent *registryv2.Repo
		want *registryv2.Repo
	}{
		{"an empty mask is none", mask(), &registryv2.Repo{Description: "new"}, &registryv2.Repo{Name: "one", Description: "new", Bundles: []string{"b"}}},
		{"camelCase is taken too", mask("catalogTier"), &registryv2.Repo{}, &registryv2.Repo{Name: "one", Description: "old", Bundles: []string{"b"}}},
		{"white space is ignored", mask(" name ", "uid"), &registryv2.Repo{Name: "two"}, &registryv2.Repo{Name: "two", Description: "old", Bundles: []string{"b"}}},
	} {
		made := must[*registryv2.Repo](t)(c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{
			Parent: w.org, Repo: &registryv2.Repo{Name: "one", Description: "old", Bundles: []string{"b"}},
		}))
		x.sent.Uid = made.GetUid()
		got := must[*registryv2.Repo](t)(c.repos.UpdateRepo(t.Context(), &registryv2.UpdateRepoRequest{Repo: x.sent, UpdateMask: x.mask}))
		x.want.Uid, x.want.CreateTime, x.want.UpdateTime = made.GetUid(), made.GetCreateTime(), got.GetUpdateTime()
		if !proto.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
		must[proto.Message](t)(c.repos.DeleteRepo(t.Context(), &registryv2.DeleteRepoRequest{Uid: made.GetUid()}))
	}
}

func TestViolationsAreThoseOfREST(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	repo := must[*registryv2.Repo](t)(c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{Name: "one"}}))
	for want, call := range map[string]func() error{
		"name": func() error {
			_, err := c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org})
			return err
		},
		"parent name description": func() error {
			_, err := c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: "x", Repo: &registryv2.Repo{Description: "a\nb"}})
			return err
		},
		"sync_config.source": func() error {
			_, err := c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{Name: "a", SyncConfig: &registryv2.SyncConfig{}}})
			return err
		},
		"catalogTier": func() error { // No version of the contract has this field number.
			_, err := c.repos.CreateRepo(t.Context(), &registryv2.CreateRepoRequest{Parent: w.org, Repo: &registryv2.Repo{Name: "a", CatalogTier: 99}})
			return err
		},
		"updateMask": func() error {
			_, err := c.repos.UpdateRepo(t.Context(), &registryv2.UpdateRepoRequest{Repo: &registryv2.Repo{Uid: repo.GetUid()}, UpdateMask: mask("createTime")})
			return err
		},
		"name page_size skip order_by": func() error {
			_, err := c.repos.ListRepos(t.Context(), &registryv2.ListReposRequest{Name: proto.String(""), PageSize: -1, OrderBy: "size", Skip: -1})
			return err
		},
		"page_token": func() error {
			_, err := c.repos.ListRepos(t.Context(), &registryv2.ListReposRequest{PageToken: "forged"})
			return err
		},
		"updated_since": func() error {
			_, err := c.tags.ListTags(t.Context(), &registryv2.ListTagsRequest{UpdatedSince: &timestamppb.Timestamp{Seconds: 1 << 60}})
			return err
		},
		"relationship_type": func() error {
			_, err := c.identities.ListIdentities(t.Context(), &iamv2.ListIdentitiesRequest{RelationshipType: 7})
			return err
		},
		"staticKeys.expirationTime": func() error { // JSON cannot represent this time.
			_, err := c.identities.CreateIdentity(t.Context(), &iamv2.CreateIdentityRequest{Parent: w.org, Identity: &iamv2.Identity{
				Relationship: &iamv2.Identity_StaticKeys_{StaticKeys: &iamv2.Identity_StaticKeys{ExpirationTime: &timestamppb.Timestamp{Seconds: 1 << 60}}},
			}})
			return err
		},
		"requests[1].parent": func() error {
			_, err := c.bindings.BatchCreateRoleBindings(t.Context(), &iamv2.BatchCreateRoleBindingsRequest{
				Parent: w.org, Requests: []*iamv2.CreateRoleBindingRequest{{Parent: w.org}, {Parent: "elsewhere"}},
			})
			return err
		},
		"requests": func() error {
			_, err := c.bindings.BatchCreateRoleBindings(t.Context(), &iamv2.BatchCreateRoleBindingsRequest{
				Parent: w.org, Requests: make([]*iamv2.CreateRoleBindingRequest, iam.MaxBatchBindings+1),
			})
			return err
		},
	} {
		if got := violations(t, expectError(t, call(), connect.CodeInvalidArgument)); got != want {
			t.Errorf("it names %q, want %q", got, want)
		}
	}
}

func TestAnInviteHasATimeToLiveAndIsAcceptedByItsCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	made := must[*iamv2.GroupInvite](t)(c.invites.CreateGroupInvite(t.Context(), &iamv2.CreateGroupInviteRequest{
		Parent: w.org, GroupInvite: &iamv2.GroupInvite{RoleUid: string(iam.ViewerRole), Ttl: durationpb.New(time.Hour), SingleUse: true},
	}))
	if got := made.GetExpirationTime().AsTime().Sub(made.GetCreateTime().AsTime()); got != time.Hour || made.GetRole().GetName() != "viewer" {
		t.Errorf("made %v, want %v and Name 'viewer'", made, time.Hour)
	}
	binding := must[*iamv2.RoleBinding](t)(w.clientsAs("a guest", "gRPC").invites.AcceptGroupInvite(t.Context(), &iamv2.AcceptGroupInviteRequest{Code: made.GetCode()}))
	if binding.GetRole().GetName() != "viewer" || binding.GetGroup().GetUid() != w.org || binding.GetIdentity().GetSubject() != "a guest" {
		t.Errorf("the guest is bound by %v", binding)
	}
}

func TestTheSecretOfAProviderIsStoredAndNeverShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.owner()
	provider := func(secret string) *iamv2.IdentityProvider {
		return &iamv2.IdentityProvider{Name: "sso", DefaultRole: string(iam.ViewerRole), Configuration: &iamv2.IdentityProvider_Oidc{
			Oidc: &iamv2.IdentityProvider_OIDC{Issuer: "https://sso.example.com", ClientId: "atrium", ClientSecret: secret},
		}}
	}
	made := must[*iamv2.IdentityProvider](t)(c.providers.CreateIdentityProvider(t.Context(), &iamv2.CreateIdentityProviderRequest{
		Parent: w.org, IdentityProvider: provider("s3cret"),
	}))
	if made.GetOidc().GetClientId() != "atrium" || made.GetOidc().GetClientSecret() != "" {
		t.Errorf("made %v, want ClientId 'atrium' and ClientSecret \"\"", made)
	}
	stored, err := w.p.IdentityProviders.Get(core.WithActor(t.Context(), core.NewOperator("test")), core.UID(made.GetUid()))
	if err != nil || len(stored.EncryptedSecret) == 0 {
		t.Errorf("what is stored is %+v (%v)", stored, err)
	}
}
