package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/platform"
)

// What the schema spells otherwise than REST does.

// enumPrefixes are what REST puts in front of the values of an enum.
var enumPrefixes = map[string]string{
	"OrgKind": "ORG_KIND_", "OrgStatus": "ORG_STATUS_", "RelationshipType": "RELATIONSHIP_TYPE_", "CatalogTier": "CATALOG_TIER_",
	"SeverityRating": "SEVERITY_RATING_", "SeveritySource": "SEVERITY_SOURCE_",
	"ReviewState": "REVIEW_STATE_", "AdvisoryEventType": "EVENT_TYPE_FILTER_",
	"FalsePositiveType": "TYPE_", "SeverityType": "TYPE_", "ReferenceType": "TYPE_",
	"CorrelationRule": "CORRELATION_RULE_", "Ecosystem": "ECOSYSTEM_",
}

// fieldNames are those of REST, "" for fields that it does not have.
var fieldNames = map[string]string{
	"Repo.syncConfig": "sync_config", "VulnerabilityMetadata.vulnerabilityId": "id", "AdvisoryEvent.type": "",
	"IdentityProvider.defaultRoleUid": "defaultRole", "ExternalGroupRoleMapping.scopeUid": "scope",
	"AdvisoryDocument.documentId": "id", "DocumentAdvisory.advisoryId": "id", "DocumentEvent.type": "", "ResolvedVulnerability.advisoryId": "id",
}

// inputNames are those of inputs, by the name of REST.
var inputNames = map[string]string{"sync_config": "syncConfig"}

// argumentNames are the arguments of lists, by the parameter of REST. What lies
// in `where` is written so.
var argumentNames = map[string]string{
	"page_size": "first", "page_token": "after", "order_by": "orderBy",
	"uidp.descendants_of": "descendantsOf", "uidp.children_of": "childrenOf",
	"uidp.ancestors_of": "where.ancestorsOf", "uidp.in_root": "where.inRoot", "uidp.ids": "where.uids",
}

// filterNames are filters that the schema has another name for.
var filterNames = map[string]string{
	"ListVulnerabilityMetadata.id": "vulnerabilityIds", "ListVulnerabilityMetadata.ids": "vulnerabilityIds",
	"ListExternalGroupRoleMappings.identity_provider_uid": "identityProvider",
}

// selections are those of types whose ways to other kinds REST shows a part of.
var selections = map[string]string{
	"RoleBinding": `{ uid createTime group { uid name description } role { uid name description }
		identity { uid name description email claimMatch { issuer subject } staticKeys { issuer subject } } }`,
	"GroupInvite": `{ uid roleUid role { uid name description capabilities } email expirationTime singleUse code keyId createTime }`,
}

// violationNames are what operations call arguments that REST has another name
// for, where no other operation does.
var violationNames = map[string]string{
	"ListIdentities.relationshipType": "relationship_type", "ListExternalGroupRoleMappings.identityProvider": "identity_provider_uid",
	"BatchDeleteExternalGroupRoleMappings.uids": "names", "ListResolvedVulnsReports.images": "imageRefs",
	"ListVulnerabilityMetadata.vulnerabilityIds": "ids", "ListResolvedVulnsReports.startTime": "start_time", "ListResolvedVulnsReports.endTime": "end_time",
}

// spelledAsREST gives REST's name of a field that a violation of an operation
// names.
func spelledAsREST(rpc string) func(field string) string {
	return func(field string) string {
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		top, below := field[:end], field[end:]
		if name, ok := violationNames[rpc+"."+top]; ok {
			return name + below
		}
		for _, names := range []map[string]string{argumentNames, inputNames} {
			for rest, graphql := range names {
				if strings.TrimPrefix(graphql, "where.") == top {
					return rest + below
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

// selection asks for every field of a type that is not a way to another kind.
func (p graphQL) selection(name string) string {
	definition := p.schema.Types[name]
	if written, ok := selections[name]; ok || definition == nil {
		return written
	}
	var selected []string
	for _, field := range definition.Fields {
		of := p.schema.Types[field.Type.Name()]
		global := field.Name == "id" && slices.Contains(definition.Interfaces, "Node")
		switch {
		case len(field.Arguments) > 0 || strings.HasPrefix(field.Name, "__") || field.Name == "viewerCapabilities" || global: // which only GraphQL has
		case of.IsLeafType():
			selected = append(selected, field.Name)
		case of.Kind != ast.Object || of.Name == "Image" || of.Name == "AdvisorySummary" || strings.HasSuffix(of.Name, "Edge") || slices.Contains(of.Interfaces, "Node"):
		default:
			selected = append(selected, field.Name+" "+p.selection(of.Name))
		}
	}
	return "{ " + strings.Join(selected, " ") + " }"
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

// shown is a value as REST shows it: what is null or an empty list is left
// out, values of enums have their prefix.
func (p graphQL) shown(of string, value any) any {
	definition := p.schema.Types[of]
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = p.shown(of, v[i])
		}
		return all
	case map[string]any:
		if definition.Kind != ast.Object { // a scalar of JSON
			return v
		}
		object := fields{}
		for name, member := range v {
			field := definition.Fields.ForName(name)
			rest, renamed := fieldNames[of+"."+name]
			if list, isList := member.([]any); member == nil || isList && len(list) == 0 || renamed && rest == "" {
				continue
			}
			if !renamed {
				rest = name
			}
			object[rest] = p.shown(field.Type.Name(), member)
		}
		return reshaped(of, object)
	case string:
		if definition.Kind == ast.Enum {
			return p.wireName(of, v)
		}
	case float64:
		if of == "ByteCount" {
			return fmt.Sprintf("%.0f", v)
		}
	}
	return value
}

// reshaped gives objects the form of REST that no renaming gives them.
func reshaped(of string, object fields) fields {
	switch of {
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
	if enum != "Capability" {
		return enumPrefixes[enum] + value
	}
	for _, c := range platform.Capabilities() {
		if strings.ToUpper(strings.ReplaceAll(string(c), ".", "_")) == value {
			return c.WireName()
		}
	}
	return value
}
