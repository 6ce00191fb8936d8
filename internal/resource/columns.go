package resource

import (
	"slices"
	"strings"
)

// A Column is a column of a table.
type Column struct {
	Header string
	Field  string // path of the field in an item, such as severity.rating
	Wide   bool   // whether only the wide table and CSV have it
	Form   Form
}

// A Form says how a value is shown, where its schema does not say it.
type Form int

// The forms of values.
const (
	Plain  Form = iota // as the schema says: ages of times, words of enums
	Place              // the path of the group or repo with this uid
	Parent             // the path of the group or repo that contains the resource with this uid
	Until              // the time from now until it comes
	Short              // the type of an event without what all types have in common
)

// chosen are the columns of kinds of which people want to see other fields than those that their schemas have in common. A Place and a
// Parent are asked from the server, all of a page at once.
var chosen = map[string][]Column{
	"findings": {
		{Header: "severity", Field: "severity.rating"}, {Header: "vulnerability", Field: "vulnerabilityId"}, {Header: "package", Field: "package"},
		{Header: "version", Field: "installedVersion"}, {Header: "fixed in", Field: "fixedVersions"}, {Header: "state", Field: "state"},
		{Header: "repo", Field: "repo", Form: Place}, {Header: "age", Field: "firstSeenTime"},
		{Header: "score", Field: "severity.score", Wide: true}, {Header: "epss", Field: "epss", Wide: true}, {Header: "known exploited", Field: "knownExploited", Wide: true},
		{Header: "ecosystem", Field: "ecosystem", Wide: true}, {Header: "due", Field: "dueTime", Form: Until, Wide: true}, {Header: "image", Field: "digest", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
	},
	"advisories": {
		{Header: "advisory", Field: "advisoryId"}, {Header: "severity", Field: "severity.rating"}, {Header: "package", Field: "componentName"}, {Header: "type", Field: "componentType"},
		{Header: "artifact", Field: "artifactName"}, {Header: "aliases", Field: "aliases"}, {Header: "age", Field: "createTime"}, {Header: "score", Field: "severity.score", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
	},
	"tags": {
		{Header: "repo", Field: "uid", Form: Parent}, {Header: "tag", Field: "name"}, {Header: "digest", Field: "digest"}, {Header: "deprecated", Field: "deprecated"}, {Header: "updated", Field: "updateTime"},
		{Header: "bundles", Field: "bundles", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
	},
	"packages": {{Header: "name", Field: "name"}, {Header: "ecosystem", Field: "ecosystem"}, {Header: "uid", Field: "uid"}},
	"package-versions": {
		{Header: "package", Field: "package.name"}, {Header: "version", Field: "version"}, {Header: "ecosystem", Field: "package.ecosystem"}, {Header: "uid", Field: "uid", Wide: true},
	},
	"role-bindings":           bindingColumns,
	"effective-role-bindings": bindingColumns,
	"sources": {
		{Header: "name", Field: "name"}, {Header: "type", Field: "type"}, {Header: "state", Field: "state"}, {Header: "last read", Field: "lastSuccessTime"}, {Header: "next", Field: "nextRunTime", Form: Until},
		{Header: "paused", Field: "paused"}, {Header: "error", Field: "lastRun.error"}, {Header: "url", Field: "url", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
	},
	"subscriptions": {
		{Header: "sink", Field: "sink"}, {Header: "format", Field: "format"}, {Header: "digest", Field: "digest"}, {Header: "types", Field: "types"}, {Header: "group", Field: "uid", Form: Parent},
		{Header: "age", Field: "createTime"}, {Header: "uid", Field: "uid", Wide: true},
	},
	"audit-log": {
		{Header: "age", Field: "time"}, {Header: "type", Field: "type", Form: Short}, {Header: "who", Field: "actor.subject"}, {Header: "subject", Field: "subject"}, {Header: "denied", Field: "denied"},
		{Header: "group", Field: "group", Form: Place}, {Header: "id", Field: "id", Wide: true},
	},
	"group-invites": {
		{Header: "email", Field: "email"}, {Header: "role", Field: "role.name"}, {Header: "group", Field: "uid", Form: Parent}, {Header: "ends", Field: "expirationTime", Form: Until},
		{Header: "single use", Field: "singleUse"}, {Header: "uid", Field: "uid", Wide: true},
	},
	"artifacts": {
		{Header: "name", Field: "name"}, {Header: "ecosystem", Field: "ecosystem"}, {Header: "latest", Field: "latestVersion"}, {Header: "versions", Field: "versionCount"}, {Header: "age", Field: "createTime"}, {Header: "uid", Field: "uid"},
	},
	"external-group-role-mappings": {
		{Header: "external group", Field: "externalGroupId"}, {Header: "role", Field: "roleUid"}, {Header: "scope", Field: "scope"}, {Header: "age", Field: "createTime"}, {Header: "uid", Field: "uid", Wide: true},
	},
	"terms-acceptances":      {{Header: "document", Field: "docId"}, {Header: "accepted by", Field: "acceptedBy"}, {Header: "age", Field: "createTime"}},
	"resolved-vulns-reports": {{Header: "date", Field: "date"}, {Header: "image", Field: "imageRef.repo"}, {Header: "resolved", Field: "resolvedVulns"}},
}

var bindingColumns = []Column{
	{Header: "identity", Field: "identity.name"}, {Header: "role", Field: "role.name"}, {Header: "group", Field: "group.name"}, {Header: "ends", Field: "expireTime", Form: Until},
	{Header: "reviewed", Field: "reviewTime"}, {Header: "age", Field: "createTime"}, {Header: "email", Field: "identity.email", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
}

// usual are fields that tables have if a kind has them, in this order.
var usual = []Column{
	{Header: "name", Field: "name"}, {Header: "id", Field: "id"}, {Header: "group", Field: "uid", Form: Parent},
	{Header: "tier", Field: "catalogTier"}, {Header: "email", Field: "email"}, {Header: "role", Field: "roleUid"}, {Header: "summary", Field: "summary"}, {Header: "description", Field: "description"},
	{Header: "version", Field: "version"}, {Header: "seen", Field: "lastSeenTime"}, {Header: "updated", Field: "updateTime"},
	{Header: "age", Field: "createTime", Wide: true}, {Header: "uid", Field: "uid", Wide: true},
}

// columnsOf returns the columns of a kind.
func columnsOf(kind *Kind) []Column {
	if own, ok := chosen[kind.Name]; ok {
		return own
	}
	var columns []Column
	for _, column := range usual {
		if kind.parts.find(kind.schema, column.Field) != nil {
			columns = append(columns, column)
		}
	}
	return columns
}

// selectColumns returns the columns of a table.
func (k *Kind) selectColumns(wide bool) []Column {
	return slices.DeleteFunc(slices.Clone(k.Columns), func(c Column) bool { return c.Wide && !wide })
}

// NameField returns the field that people call an item by.
func (k *Kind) NameField() string {
	for _, name := range []string{"name", "vulnerabilityId", "advisoryId", "id", "docId", "email", "uid"} {
		if k.parts.find(k.schema, name) != nil {
			return name
		}
	}
	return strings.TrimSpace(k.key)
}
