package rest

import (
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
)

// batchRoutes returns the routes of changes of many resources at once, and of the comparison of images.
func batchRoutes(p *platform.Platform) []route {
	w := wire.New(p)
	compare := append(capabilityList(core.CapRepoList, core.CapManifestMetadataList), p.Findings.Kind().ReadCapabilities()...)
	return []route{
		send("BatchCreateIdentities", "/iam/v2/identities:batchCreate", w.BatchCreateIdentities, p.Identities.Kind().CreateCapabilities()...),
		send("BatchDeleteIdentities", "/iam/v2/identities:batchDelete", w.BatchDeleteIdentities, p.Identities.Kind().Delete),
		send("BatchCreateGroupInvites", "/iam/v2/groupInvites:batchCreate", w.BatchCreateGroupInvites, p.GroupInvites.Kind().CreateCapabilities()...),
		send("BatchDeleteGroupInvites", "/iam/v2/groupInvites:batchDelete", w.BatchDeleteGroupInvites, p.GroupInvites.Kind().Delete),
		send("BatchUpdateRepos", "/registry/v2/repos:batchUpdate", w.BatchUpdateRepos, p.Repos.Kind().UpdateCapabilities()...),
		send("BatchCreateTags", "/registry/v2/tags:batchCreate", w.BatchCreateTags, p.Tags.Kind().CreateCapabilities()...),
		send("BatchDeleteTags", "/registry/v2/tags:batchDelete", w.BatchDeleteTags, p.Tags.Kind().Delete),
		send("CompareImages", "/registry/v2/images:compare", w.CompareImages, compare...),
		send("BatchCreateSubscriptions", "/events/v2/subscriptions:batchCreate", w.BatchCreateSubscriptions, p.Subscriptions.Kind().CreateCapabilities()...),
		send("BatchDeleteSubscriptions", "/events/v2/subscriptions:batchDelete", w.BatchDeleteSubscriptions, p.Subscriptions.Kind().Delete),
	}
}
