package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/platform/core"
)

// This file has the differences in spelling between the schema and REST.

// enumPrefixes has the prefixes that REST adds to the values of an enum.
var enumPrefixes = map[string]string{
	"OrgKind": "ORG_KIND_", "OrgStatus": "ORG_STATUS_", "RelationshipType": "RELATIONSHIP_TYPE_", "CatalogTier": "CATALOG_TIER_", "SubscriptionFormat": "SUBSCRIPTION_FORMAT_", "SubscriptionDigest": "SUBSCRIPTION_DIGEST_", "OperationState": "OPERATION_STATE_",
	"AdvisoryState": "ADVISORY_STATE_", "SeverityRating": "SEVERITY_RATING_", "SeveritySource": "SEVERITY_SOURCE_",
	"ReviewState": "REVIEW_STATE_", "AdvisoryEventType": "EVENT_TYPE_FILTER_",
	"FalsePositiveType": "TYPE_", "SeverityType": "TYPE_", "ReferenceType": "TYPE_",
	"CorrelationRule": "CORRELATION_RULE_", "ArtifactEcosystem": "ECOSYSTEM_",
	"FindingBasis": "FINDING_BASIS_", "FindingState": "FINDING_STATE_", "FindingDecision": "FINDING_STATE_", "PackageScope": "PACKAGE_SCOPE_",
	"SourceType": "SOURCE_TYPE_", "CheckVerdict": "CHECK_VERDICT_", "UpgradeReason": "UPGRADE_REASON_", "GroupSourceType": "SOURCE_TYPE_", "SourceState": "SOURCE_STATE_",
}

// fieldNames has the names in REST, and "" for fields that REST does not have.
var fieldNames = map[string]string{
	"Repo.syncConfig": "sync_config", "VulnerabilityMetadata.vulnerabilityId": "id", "AdvisoryEvent.type": "", "AdvisoryEvent.raw": "findings", "Severity.vector": "score", "ReportedImageRef.repoUid": "repo", "ReportedImageRef.repo": "", "PlatformServices.services": "",
	"EventActivity.made": "changes", "EventActivity.refused": "denials", "AcceptanceRule.withinUid": "within", "AcceptanceRule.within": "", "DuePolicy.withinUid": "within", "DuePolicy.within": "",
	"IdentityProvider.defaultRoleUid": "defaultRole", "ExternalGroupRoleMapping.scopeUid": "scope",
	"AdvisoryDocument.documentId": "id", "DocumentAdvisory.advisoryId": "id", "DocumentEvent.type": "", "ResolvedVulnerability.advisoryId": "id",
}

// inputNames has the names of inputs by the name in REST.
var inputNames = map[string]string{"sync_config": "syncConfig"}

// argumentNames has the arguments of lists by the parameter in REST. A name inside `where`
// contains it. The graph has one word for a place; listArguments adds `directOnly` for children.
var argumentNames = map[string]string{
	"page_size": "first", "page_token": "after", "order_by": "orderBy",
	"uidp.descendants_of": "within", "uidp.children_of": "within", "uidp.in_root": "directOnly", "uidp.ids": "where.uids",
}

// filterNames has the filters with another name in the schema.
var filterNames = map[string]string{
	"ListDocuments.id": "documentId", "ListVulnerabilityMetadata.id": "vulnerabilityIds", "ListVulnerabilityMetadata.ids": "vulnerabilityIds",
	"ListExternalGroupRoleMappings.identity_provider_uid": "identityProvider",
}

// selections has the selections of types whose links to other kinds REST shows in part, or whose lists it has elsewhere.
var selections = map[string]string{
	"Package": `{ uid name ecosystem }`, "PackageVersion": `{ uid version package { uid name ecosystem } }`,
	"Finding": `{ uid repo { uid } digest advisory { uid } sources disputedBy vulnerabilityId package ecosystem installedVersion binaryPackages { name version }
		scope direct fixedVersions severity { rating score vector version source } knownExploited epss basis state decidedBy justification note assignee { uid }
		dueTime expireTime firstSeenTime resolvedTime updateTime newInRepo }`,
	"Source": `{ uid name type url ecosystems patterns prune interval credentials { username hasPassword } paused createTime updateTime state nextRunTime lastRunTime
		lastSuccessTime failingSince failures lastRun { number state startTime endTime error isUnchanged bytes unreadable problems problemCount } }`,
	"RoleBinding": `{ uid createTime expireTime group { uid name description } role { uid name description }
		identity { uid name description email claimMatch { issuer subject } staticKeys { issuer subject } } }`,
	"GroupInvite": `{ uid roleUid role { uid name description capabilities } email expirationTime singleUse code keyId createTime }`,
}

// violationNames has the names of arguments in violations of single operations that
// differ from those in REST.
var violationNames = map[string]string{
	"ListIdentities.relationshipType": "relationship_type", "ListExternalGroupRoleMappings.identityProvider": "identity_provider_uid",
	"BatchDeleteExternalGroupRoleMappings.uids": "names", "ListResolvedVulnsReports.images": "imageRefs",
	"ListTermsAcceptances.within": "group", "AcceptTerms.parent": "group", "UpdateFindings.uids": "uids", "Redeliver.uids": "uids",
	"ListVulnerabilityMetadata.vulnerabilityIds": "ids", "ListResolvedVulnsReports.startTime": "start_time", "ListResolvedVulnsReports.endTime": "end_time",
}

// restNames returns a function that converts a field name in a violation of a call to its name in REST.
func restNames(c call) func(field string) string {
	return func(field string) string {
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		top, path := field[:end], field[end:]
		if name, ok := violationNames[c.rpc+"."+top]; ok {
			return name + path
		}
		if top == "within" {
			if c.params["within"] != nil {
				return field
			}
			if c.params["uidp.descendants_of"] != nil {
				return "uidp.descendants_of"
			}
			return "uidp.children_of"
		}
		for _, names := range []map[string]string{argumentNames, inputNames} {
			for rest, graphql := range names {
				if strings.TrimPrefix(graphql, "where.") == top {
					return rest + path
				}
			}
		}
		return field
	}
}

func (p graphQL) typeOf(object *ast.Definition, field string) string {
	if object == nil || object.Fields.ForName(field) == nil {
		return ""
	}
	return object.Fields.ForName(field).Type.Name()
}

// onlyInGraph has the types of fields that REST does not show.
var onlyInGraph = map[string]bool{"Image": true, "AdvisorySummary": true, "FindingSummary": true, "AffectedVersions": true, "Exploitation": true, "VulnerabilityExposure": true}

// selection selects every field of a type that is not a link to another kind.
func (p graphQL) selection(name string) string {
	definition := p.schema.Types[name]
	if written, ok := selections[name]; ok || definition == nil {
		return written
	}
	var selected []string
	for _, field := range definition.Fields {
		fieldType := p.schema.Types[field.Type.Name()]
		global := field.Name == "etag" || field.Name == "id" && slices.Contains(definition.Interfaces, "Node")
		switch {
		case len(field.Arguments) > 0 || strings.HasPrefix(field.Name, "__") || field.Name == "viewerCapabilities" || field.Name == "path" || global: // Only GraphQL has these fields.
		case fieldType.IsLeafType():
			selected = append(selected, field.Name)
		case fieldType.Kind == ast.Union:
			selected = append(selected, field.Name+" "+p.members(fieldType))
		case fieldType.Kind != ast.Object || onlyInGraph[fieldType.Name] || strings.HasSuffix(fieldType.Name, "Edge") || slices.Contains(fieldType.Interfaces, "Node"):
		default:
			selected = append(selected, field.Name+" "+p.selection(fieldType.Name))
		}
	}
	return "{ " + strings.Join(selected, " ") + " }"
}

// members selects every field of each type of a union.
func (p graphQL) members(union *ast.Definition) string {
	selected := "{ __typename"
	for _, name := range union.Types {
		selected += " ... on " + name + " " + p.selection(name)
	}
	return selected + " }"
}

// variants has the field of an event of an advisory in REST that a type of its detail is.
var variants = map[string]string{
	"AdvisoryDetection": "detection", "AdvisoryTruePositive": "truePositiveDetermination", "AdvisoryFix": "fixed", "AdvisoryFalsePositive": "falsePositiveDetermination",
	"AdvisoryAnalysisNotPlanned": "analysisNotPlanned", "AdvisoryFixNotPlanned": "fixNotPlanned", "AdvisoryPendingUpstreamFix": "pendingUpstreamFix", "AdvisoryPatch": "patched",
	"DocumentDetection": "detection", "DocumentFix": "fixed",
}

func (p graphQL) payload(mutation string) string {
	payload := p.schema.Types[p.typeOf(p.schema.Mutation, mutation)]
	if payload == nil {
		return ""
	}
	selected := payload.Fields[0].Name + " " + p.selection(payload.Fields[0].Type.Name())
	for _, field := range payload.Fields[1:] {
		if p.schema.Types[field.Type.Name()].IsLeafType() {
			selected += " " + field.Name
		}
	}
	return "{ " + selected + " }"
}

// shown converts a value to the form of REST: it omits null and empty lists, and adds the
// prefixes of enums.
func (p graphQL) toREST(typeName string, value any) any {
	definition := p.schema.Types[typeName]
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = p.toREST(typeName, v[i])
		}
		return all
	case map[string]any:
		if typeName == "LabelCondition" {
			if v["value"] == nil {
				return v["key"]
			}
			return fmt.Sprint(v["key"], "=", v["value"])
		}
		switch definition.Kind {
		case ast.Object:
		case ast.Union:
			name := fmt.Sprint(v["__typename"])
			delete(v, "__typename")
			return fields{variants[name]: p.toREST(name, v)}
		default: // This is a scalar for JSON.
			return v
		}
		object := fields{}
		for name, member := range v {
			field := definition.Fields.ForName(name)
			rest, renamed := fieldNames[typeName+"."+name]
			if list, isList := member.([]any); member == nil || isList && len(list) == 0 || renamed && rest == "" {
				continue
			}
			if !renamed {
				rest = name
			}
			object[rest] = p.toREST(field.Type.Name(), member)
		}
		return reshape(typeName, object)
	case string:
		if definition.Kind == ast.Enum {
			return p.wireName(typeName, v)
		}
	case float64:
		if typeName == "ByteCount" {
			return fmt.Sprintf("%.0f", v)
		}
	}
	return value
}

// reshape converts objects to the form of REST if renaming is not enough.
func reshape(typeName string, object fields) fields {
	switch typeName {
	case "GitHubAccount":
		apps := fields{}
		list, _ := object["appInstallations"].([]any)
		for _, app := range list {
			app, _ := app.(fields)
			apps[fmt.Sprint(app["appId"])] = app.without("appId")
		}
		if len(apps) > 0 {
			object["appInstallations"] = apps
		}
	case "Repo", "Group":
		list, _ := object["labels"].([]any)
		labels := fields{}
		for _, label := range list {
			label, _ := label.(fields)
			labels[fmt.Sprint(label["key"])] = label["value"]
		}
		if delete(object, "labels"); len(labels) > 0 {
			object["labels"] = labels
		}
	case "AcceptanceConditions":
		for _, flag := range []string{"withoutFix", "includeKnownExploited"} {
			if object[flag] == false {
				delete(object, flag)
			}
		}
	case "Finding":
		for _, named := range []string{"repo", "advisory", "assignee"} {
			if other, ok := object[named].(fields); ok {
				object[named] = other["uid"]
			}
		}
		if object["newInRepo"] == false {
			delete(object, "newInRepo")
		}
	case "EventSubscription": // REST omits the defaults
		for name, usual := range map[string]string{"format": "SUBSCRIPTION_FORMAT_CLOUDEVENTS", "digest": "SUBSCRIPTION_DIGEST_IMMEDIATE"} {
			if object[name] == usual {
				delete(object, name)
			}
		}
	case "AdvisoryDocument": // GraphQL pages the advisories, too
		page, _ := object["advisories"].(fields)
		object["advisories"] = page["nodes"]
	case "AdvisoryEvent", "DocumentEvent":
		if detail, isDetail := object["detail"].(fields); isDetail {
			delete(object, "detail")
			maps.Copy(object, detail)
		}
	case "ArtifactCount":
		object["totalCount"] = fmt.Sprint(object["totalCount"])
	case "AdvisoryDetection", "DocumentDetection":
		if len(object) == 0 {
			object["manual"] = fields{}
		}
	case "RoleBinding":
		identity, _ := object["identity"].(fields)
		for _, rule := range []string{"claimMatch", "staticKeys"} {
			if claims, ok := identity[rule].(fields); ok {
				maps.Copy(identity, claims)
				delete(identity, rule)
			}
		}
	}
	return object
}

func (p graphQL) wireName(enum, value string) string {
	if enum == "FindingJustification" {
		return strings.ToLower(value)
	}
	if enum != "Capability" {
		return enumPrefixes[enum] + value
	}
	for _, c := range core.Capabilities() {
		if strings.ToUpper(strings.ReplaceAll(string(c), ".", "_")) == value {
			return c.WireName()
		}
	}
	return value
}
