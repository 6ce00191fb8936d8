package cases

import (
	"fmt"
	"strings"
)

// documents has the documents of operations for which the schema has another shape.
var documents = map[string]func(graphQL, call) document{
	"Ping": func(graphQL, call) document {
		return document{"query", "ping", nil, "", func(_ graphQL, value any, _ call) answer {
			return answer{resource: fields{"response": value}}
		}}
	},
	"LookupIdentity": func(_ graphQL, c call) document {
		return document{"query", "lookupIdentity", c.params, "", func(_ graphQL, value any, _ call) answer {
			return answer{resource: fields{"uid": value}}
		}}
	},
	"BatchCreateRoleBindings": func(p graphQL, c call) document {
		input := p.input(p.inputType("batchCreateRoleBindings"), c.fields)
		return document{"mutation", "batchCreateRoleBindings", fields{"input": input}, p.payload("batchCreateRoleBindings"), readBatch}
	},
	"BatchDeleteExternalGroupRoleMappings": func(p graphQL, c call) document {
		input := fields{"parent": c.target, "uids": c.fields["names"]}
		selection := "{ externalGroupRoleMappings " + p.selection("ExternalGroupRoleMapping") + " deletedUids }"
		return document{"mutation", "batchDeleteExternalGroupRoleMappings", fields{"input": input}, selection, readDeletedBatch}
	},
	"AcceptTerms": func(p graphQL, c call) document {
		input := p.input(p.inputType("acceptTerms"), c.fields)
		input["parent"] = c.target
		return document{"mutation", "acceptTerms", fields{"input": input}, "{ groupUid documentIds }", func(_ graphQL, value any, _ call) answer {
			accepted, _ := value.(map[string]any)
			return answer{resource: fields{"group": accepted["groupUid"], "documentIds": accepted["documentIds"]}}
		}}
	},
	"ListTermsAcceptances": func(p graphQL, c call) document {
		d := p.list(c)
		d.arguments["within"] = c.target
		return d
	},
	// Versions are a field of their artifact.
	"ListArtifactVersions": func(p graphQL, c call) document {
		arguments := p.listArguments(c.rpc, p.schema.Types["Artifact"].Fields.ForName("versions"), c.params)
		selection := "{ versions" + literals(arguments) + " " + p.connection("ArtifactVersion") + " }"
		return document{"query", "artifact", fields{"uid": c.target}, selection, func(p graphQL, value any, _ call) answer {
			artifact, _ := value.(map[string]any)
			return p.readPage("ArtifactVersion", artifact["versions"])
		}}
	},
	// Deliveries are a field of their subscription.
	"ListDeliveries": func(p graphQL, c call) document {
		return document{"query", "subscription", fields{"uid": c.target}, "{ deliveries " + p.connection("Delivery") + " }", func(p graphQL, value any, _ call) answer {
			subscription, _ := value.(map[string]any)
			return p.readPage("Delivery", subscription["deliveries"])
		}}
	},
	// Runs are a field of their source.
	"GetSourceRuns": func(p graphQL, c call) document {
		return document{"query", "source", fields{"uid": c.target}, "{ runs " + p.selection("SourceRun") + " }", func(p graphQL, value any, _ call) answer {
			source, _ := value.(map[string]any)
			if runs, _ := source["runs"].([]any); len(runs) > 0 {
				return answer{resource: fields{"runs": normalize(p.toREST("SourceRun", runs))}}
			}
			return answer{resource: fields{}}
		}}
	},
	"Redeliver": func(_ graphQL, c call) document {
		input := fields{"uids": []string{c.target}}
		return document{"mutation", "redeliver", fields{"input": input}, "{ deliveries { uid } }", func(_ graphQL, value any, _ call) answer {
			return answer{resource: asFields(value)}
		}}
	},
	"TestSubscription": func(_ graphQL, c call) document {
		return document{"mutation", "testSubscription", fields{"input": fields{"uid": c.target}}, "{ eventId }", func(_ graphQL, value any, _ call) answer {
			return answer{resource: asFields(value)}
		}}
	},
	"GetArtifactCount": func(p graphQL, c call) document {
		arguments := fields{}
		if asked, ok := c.params["ecosystems"]; ok {
			arguments["ecosystems"] = p.inputValue(p.schema.Types["ArtifactEcosystem"], asked)
		}
		return document{"query", "artifactCounts", arguments, p.selection("ArtifactCount"), func(p graphQL, value any, _ call) answer {
			return answer{resource: fields{"counts": normalize(p.toREST("ArtifactCount", value))}}
		}}
	},
	"ListDocuments": func(p graphQL, c call) document {
		arguments := p.listArguments(c.rpc, p.schema.Query.Fields.ForName("advisoryDocuments"), c.params)
		selection := "{ documentId advisories(first: 3) { nodes " + p.selection("DocumentAdvisory") + " } }"
		return document{"query", "advisoryDocuments", arguments, connectionOf(selection), readConnection("AdvisoryDocument")}
	},
	"ListResolvedVulnsReports": func(p graphQL, c call) document {
		arguments := fields{}
		for name, value := range c.params {
			if arguments[camelCase(name)] = value; name == "imageRefs" {
				delete(arguments, name)
				arguments["images"] = imageRefs(value)
			}
		}
		return document{"query", "resolvedVulnerabilities", arguments, p.selection("ResolvedVulnerabilityReport"), readItems("ResolvedVulnerabilityReport")}
	},
	"GetRepoReadme": func(_ graphQL, c call) document {
		return document{"query", "repo", fields{"uid": c.target}, "{ uid readme }", func(_ graphQL, value any, _ call) answer {
			return answer{resource: readmeOf(value)}
		}}
	},
	"UpdateRepoReadme": func(p graphQL, c call) document {
		input := p.input(p.inputType("updateRepoReadme"), c.fields)
		input["uid"] = c.target
		if c.mask != nil {
			input["updateMask"] = c.mask
		}
		return document{"mutation", "updateRepoReadme", fields{"input": input}, "{ repo { uid readme } }", func(_ graphQL, value any, _ call) answer {
			payload, _ := value.(map[string]any)
			return answer{resource: readmeOf(payload["repo"])}
		}}
	},
	// An image is read through one of its tags.
	"GetArchitectures": func(_ graphQL, c call) document {
		return document{"query", "tags", tagsOf(c), "{ nodes { image { architectures } } }", func(_ graphQL, value any, _ call) answer {
			image := imageOf(value)
			if image == nil {
				return answer{resource: fields{}}
			}
			return answer{resource: fields{"architectures": normalize(image["architectures"])}}
		}}
	},
	"GetSize": func(_ graphQL, c call) document {
		digestArgument := ""
		if architecture, ok := c.params["architecture"]; ok {
			digestArgument = fmt.Sprintf("(architecture: %q)", architecture)
		}
		return document{"query", "tags", tagsOf(c), "{ nodes { image { size" + digestArgument + " } } }", func(_ graphQL, value any, c call) answer {
			size, known := imageOf(value)["size"].(float64)
			if !known {
				return answer{resource: fields{}}
			}
			return answer{resource: fields{"size": fmt.Sprintf("%.0f", size)}}
		}}
	},
}

func readBatch(p graphQL, value any, _ call) answer {
	payload, _ := value.(map[string]any)
	return answer{resource: fields{"roleBindings": normalize(p.toREST("RoleBinding", payload["roleBindings"]))}}
}

func readDeletedBatch(p graphQL, value any, c call) answer {
	payload, _ := value.(map[string]any)
	if !matches(normalize(payload["deletedUids"]), normalize(c.fields["names"])) {
		return answer{brokenRule: fmt.Sprintf("deleted %v and says %v", c.fields["names"], payload["deletedUids"])}
	}
	return answer{resource: fields{"parent": c.target, "externalGroupRoleMappings": normalize(p.toREST("ExternalGroupRoleMapping", payload["externalGroupRoleMappings"]))}}
}

// readItems returns a function that reads a list without pages.
func readItems(node string) func(graphQL, any, call) answer {
	return func(p graphQL, value any, _ call) answer {
		got := answer{items: []fields{}}
		list, _ := value.([]any)
		for _, item := range list {
			got.items = append(got.items, asFields(p.toREST(node, item)))
		}
		return got
	}
}

// imageRefs converts references to images from the form of REST, repo:tag,tag.
func imageRefs(spelled any) []any {
	var refs []any
	list, _ := spelled.([]any)
	for _, one := range list {
		repo, tags, tagged := strings.Cut(one.(string), ":")
		ref := fields{"repo": repo}
		if tagged {
			ref["tags"] = strings.Split(tags, ",")
		}
		refs = append(refs, ref)
	}
	return refs
}

func readmeOf(value any) fields {
	repo, _ := value.(map[string]any)
	readme := fields{"uid": repo["uid"]}
	if repo["readme"] != nil {
		readme["content"] = repo["readme"]
	}
	return readme
}

func tagsOf(c call) fields {
	return fields{"within": c.target, "directOnly": true, "first": 1, "where": fields{"digest": c.params["digest"]}}
}

func imageOf(tags any) map[string]any {
	connection, _ := tags.(map[string]any)
	nodes, _ := connection["nodes"].([]any)
	if len(nodes) == 0 {
		return nil
	}
	tag, _ := nodes[0].(map[string]any)
	image, _ := tag["image"].(map[string]any)
	return image
}
