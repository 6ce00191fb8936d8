package cases

import (
	"fmt"
	"strings"
)

// wireDocuments has the documents of the operations of package wire, which have names of their own in the schema.
var wireDocuments = map[string]func(graphQL, call) document{
	"SummarizeFindings": func(p graphQL, c call) document {
		selection := p.selection("FindingSummary")
		if days := c.params["days"]; days != nil {
			selection = strings.TrimSuffix(selection, "}") + "openByAge" + literals(fields{"days": days}) + " " + p.selection("FindingAge") + " }"
		}
		return document{"query", "findingSummary", inCamelCase(c.params.without("days")), selection, readObject("FindingSummary")}
	},
	"CountFindings": func(p graphQL, c call) document {
		selection := "{ facets { severities { value count } states { value count } ecosystems { value count } repos { value count } groups { value count }"
		facets, _ := normalize(c.params["facets"]).([]any)
		for _, facet := range facets {
			selection += " " + strings.ToLower(strings.TrimPrefix(fmt.Sprint(facet), "FINDING_FACET_")) + " { value count }"
		}
		return document{"query", "findings", p.listArguments("ListFindings", p.schema.Query.Fields.ForName("findings"), c.params.without("facets")), selection + " } }", func(p graphQL, value any, _ call) answer {
			connection, _ := value.(map[string]any)
			counted := asFields(p.toREST("FindingFacets", connection["facets"]))
			for of, prefix := range map[string]string{"ecosystems": "", "assignees": "", "severities": "SEVERITY_RATING_", "states": "FINDING_STATE_"} {
				list, _ := counted[of].([]any)
				for _, facet := range list { // REST has no null, and the names of enums in full
					facet := facet.(fields)
					value, _ := facet["value"].(string)
					facet["value"] = prefix + value
				}
			}
			return answer{resource: counted}
		}}
	},
	"CountPackages": func(p graphQL, c call) document {
		selection := "{ facets " + p.selection("PackageFacets") + " }"
		return document{"query", "packages", p.listArguments("ListPackages", p.schema.Query.Fields.ForName("packages"), c.params), selection, func(p graphQL, value any, _ call) answer {
			connection, _ := value.(map[string]any)
			return answer{resource: asFields(p.toREST("PackageFacets", connection["facets"]))}
		}}
	},
	"ListPackageVersions": func(p graphQL, c call) document {
		arguments := p.listArguments(c.rpc, p.schema.Types["Package"].Fields.ForName("versions"), c.params)
		return document{"query", "package", fields{"uid": c.target}, "{ versions" + literals(arguments) + " " + p.connection("PackageVersion") + " }", func(p graphQL, value any, _ call) answer {
			held, _ := value.(map[string]any)
			return p.readPage("PackageVersion", held["versions"])
		}}
	},
	"GetVulnerabilityExposure": showing("query", "vulnerability", "{ name names }", func(c call) fields { return c.params }),
	"SummarizeAdvisories": func(p graphQL, c call) document {
		return document{"query", "advisorySummary", inCamelCase(c.params), p.selection("AdvisorySummary"), readObject("AdvisorySummary")}
	},
	"GetAdvisoryActivity": activityDocument("advisoryActivity"),
	"GetEventActivity":    activityDocument("eventActivity"),
	"GetAuditLogSummary": func(_ graphQL, c call) document {
		const selection = "{ made refused complete countedSince actors { value count made refused } kinds { value count } groups { value count } }"
		return document{"query", "auditLogSummary", c.params, selection, readObject("AuditLogSummary")}
	},
	"GetAuditLogRuns": showing("query", "auditLogRuns", "{ runs: nodes { newest { type subject time count } oldestTime count } }", func(c call) fields { return c.params }),
	"GetAuditLog":     showing("query", "auditLog", "{ events: nodes { type subject time count } }", func(c call) fields { return c.params }),
	"ListEffectiveRoleBindings": func(p graphQL, c call) document {
		arguments := p.listArguments(c.rpc, p.schema.Types["Group"].Fields.ForName("effectiveBindings"), c.params)
		return document{"query", "group", fields{"uid": c.target}, "{ effectiveBindings" + literals(arguments) + " " + p.connection("RoleBinding") + " }", func(p graphQL, value any, _ call) answer {
			group, _ := value.(map[string]any)
			return p.readPage("RoleBinding", group["effectiveBindings"])
		}}
	},
	"GetEffectiveCapabilities": func(_ graphQL, c call) document {
		return document{"query", "viewer", nil, fmt.Sprintf("{ capabilities(within: %q) }", c.params["within"]), readObject("Viewer")}
	},
	"GetAccessAt":      showing("query", "accessAt", "{ grants: nodes { bindingUid } }", func(c call) fields { return c.params }),
	"GetAccessChanges": showing("query", "accessChanges", "{ changes: nodes { after { groupUid roleName } } }", func(c call) fields { return c.params }),
	"ConfirmRoleBindings": showing("mutation", "confirmRoleBindings", "{ roleBindings { uid } }", func(c call) fields {
		seen, _ := normalize(c.fields["roleBindings"]).([]any)
		for i, one := range seen {
			if binding := one.(fields); binding["neverExpires"] == true && binding["expireTime"] == nil { // null says it there
				seen[i] = binding.without("neverExpires").with(fields{"expireTime": nil})
			}
		}
		return fields{"input": fields{"requests": seen, "note": c.fields["note"]}}
	}),
	"Search":        showing("query", "search", "{ hits: nodes { ... on Group { uid name } } }", func(c call) fields { return c.params }),
	"CompareImages": showing("query", "compareImages", "{ addedCount removedCount changedCount findingsGoneCount findingsNewCount }", func(c call) fields { return c.fields }),
	"CheckImage": func(p graphQL, c call) document {
		asked := c.params
		if asked["fixableOnly"] != nil {
			asked = asked.with(fields{"fixableOnly": asked["fixableOnly"] == "true", "failOn": p.enumName("SeverityRating", fmt.Sprint(asked["failOn"]))})
		}
		const selection = "{ verdict reason failing { total } findings { vulnerabilityId } upgrades { to } feedsAsOf }"
		return document{"query", "checkImage", asked, selection, readObject("ImageCheck")}
	},
	"BatchUpdateRepos":         batchDocument("batchUpdateRepos", "repo", "{ repos { uid description } }"),
	"BatchCreateTags":          batchDocument("batchCreateTags", "tag", "{ tags { name digest } }"),
	"BatchCreateIdentities":    batchDocument("batchCreateIdentities", "identity", "{ identities { uid createTime } }"),
	"BatchCreateGroupInvites":  batchDocument("batchCreateGroupInvites", "groupInvite", "{ groupInvites { uid roleUid } }"),
	"BatchCreateSubscriptions": batchDocument("batchCreateSubscriptions", "subscription", "{ subscriptions { uid createTime } }"),
	"BatchDeleteTags":          deletionDocument("batchDeleteTags"),
	"BatchDeleteIdentities":    deletionDocument("batchDeleteIdentities"),
	"BatchDeleteGroupInvites":  deletionDocument("batchDeleteGroupInvites"),
	"BatchDeleteRoleBindings":  deletionDocument("batchDeleteRoleBindings"),
	"BatchDeleteSubscriptions": deletionDocument("batchDeleteSubscriptions"),
	"GetFindingActivity":       activityDocument("findingActivity"),
	"GetRemediationActivity":   activityDocument("remediationActivity"),
	"GetTopVulnerabilities":    rankingDocument("topVulnerabilities"),
	"GetTopPackages":           rankingDocument("topPackages"),
	"GetUpgrades":              rankingDocument("upgrades"),
	"UpdateFindings": func(p graphQL, c call) document {
		finding, _ := normalize(c.fields["finding"]).(fields)
		input := p.input(p.inputType("updateFindings"), finding.with(c.fields.without("finding")))
		return document{"mutation", "updateFindings", fields{"input": input}, "{ updatedCount findings " + p.selection("Finding") + " operation " + p.selection("Operation") + " }", readObject("UpdateFindingsPayload")}
	},
	"GetAcceptanceRules": func(p graphQL, c call) document {
		return document{"query", "acceptanceRules", c.params, p.selection("AcceptanceRule"), readWhole("acceptanceRules", "AcceptanceRule")}
	},
	"CreateAcceptanceRule": func(p graphQL, c call) document {
		input := p.input(p.inputType("createAcceptanceRule"), c.fields)
		input["within"] = c.target
		return document{"mutation", "createAcceptanceRule", fields{"input": input}, p.payload("createAcceptanceRule"), readPayload}
	},
	"PreviewAcceptanceRule": func(p graphQL, c call) document {
		where := p.input(p.schema.Types["AcceptanceConditionsInput"], normalize(c.fields["where"]).(fields))
		return document{"query", "acceptanceRulePreview", fields{"within": c.fields["within"], "where": where}, "{ nodes " + p.selection("Finding") + " totalCount }", func(p graphQL, value any, _ call) answer {
			connection, _ := value.(map[string]any)
			return answer{resource: fields{"totalCount": fmt.Sprint(connection["totalCount"]), "findings": normalize(p.toREST("Finding", connection["nodes"]))}}
		}}
	},
	"GetDuePolicy": func(p graphQL, c call) document {
		return document{"query", "duePolicy", c.params, p.selection("DuePolicy"), readWhole("policy", "DuePolicy")}
	},
	"SetDuePolicy": func(p graphQL, c call) document {
		input := p.input(p.inputType("setDuePolicy"), c.fields)
		return document{"mutation", "setDuePolicy", fields{"input": input}, "{ policy " + p.selection("DuePolicy") + " }", readObject("SetDuePolicyPayload")}
	},
}

// activityDocument returns the document of counts by interval.
func activityDocument(field string) func(graphQL, call) document {
	return func(p graphQL, c call) document {
		node := p.typeOf(p.schema.Query, field)
		return document{"query", field, inCamelCase(c.params), p.selection(node), readWhole("activity", node)}
	}
}

// rankingDocument returns the document of a ranking.
func rankingDocument(field string) func(graphQL, call) document {
	return func(p graphQL, c call) document {
		arguments, list := fields{}, p.schema.Query.Fields.ForName(field)
		for name, value := range p.listArguments("", list, c.params) {
			switch name {
			case "by":
				arguments[name] = strings.ToUpper(value.(string))
			default:
				arguments[name] = value
			}
		}
		node := p.typeOf(p.schema.Types[list.Type.Name()], "nodes")
		return document{"query", field, arguments, "{ totalCount rows: nodes " + p.selection(node) + " }", func(p graphQL, value any, _ call) answer {
			ranking, _ := value.(map[string]any)
			return answer{resource: fields{"totalCount": ranking["totalCount"], "rows": normalize(p.toREST(node, ranking["rows"]))}}
		}}
	}
}

func inCamelCase(params fields) fields {
	arguments := fields{}
	for name, value := range params {
		arguments[camelCase(name)] = value
	}
	return arguments
}

// readObject reads a result that REST shows in the same form.
func readObject(typeName string) func(graphQL, any, call) answer {
	return func(p graphQL, value any, _ call) answer {
		return answer{resource: asFields(p.toREST(typeName, value))}
	}
}

// readWhole reads a result that REST shows as the only member of an object.
func readWhole(member, typeName string) func(graphQL, any, call) answer {
	return func(p graphQL, value any, _ call) answer {
		if value == nil {
			return answer{resource: fields{}}
		}
		return answer{resource: fields{member: normalize(p.toREST(typeName, value))}}
	}
}

// showing returns the document of an operation whose selection has the names of REST.
func showing(operation, field, selection string, arguments func(call) fields) func(graphQL, call) document {
	return func(_ graphQL, c call) document {
		return document{operation, field, arguments(c), selection, readShown}
	}
}

func readShown(_ graphQL, value any, _ call) answer { return answer{resource: asFields(value)} }

// batchDocument returns the document of a batch, whose requests have the fields of the body instead of the body.
func batchDocument(field, body, selection string) func(graphQL, call) document {
	return func(p graphQL, c call) document {
		var requests []any
		list, _ := normalize(c.fields["requests"]).([]any)
		for _, request := range list {
			whole, _ := request.(fields)
			inner, _ := whole[body].(fields)
			requests = append(requests, whole.without(body).with(inner))
		}
		input := p.input(p.inputType(field), fields{"requests": requests})
		return document{"mutation", field, fields{"input": input}, selection, readShown}
	}
}

func deletionDocument(field string) func(graphQL, call) document {
	return func(_ graphQL, c call) document {
		return document{"mutation", field, fields{"input": c.fields}, "{ uids: deletedUids }", func(_ graphQL, value any, _ call) answer {
			payload, _ := value.(map[string]any)
			return answer{resource: fields{"uids": normalize(payload["uids"])}}
		}}
	}
}
