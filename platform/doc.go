// Package platform is the product: the kinds of a cloud platform's v2 API,
// their rules, every operation on them, and who may do what. It imports the
// standard library only; protocols are adapters above it, databases below.
//
// # Map
//
// A file per kind tells one noun whole: its type, rules, filter and
// operations. group.go, identity.go, role.go and role_binding.go decide who
// may do what; identity_provider.go, external_group_role_mapping.go and
// group_invite.go, how more people come in; account_association.go and
// terms.go are notes on a group; repo.go, tag.go and image.go are the registry;
// advisory.go and vulnerability.go come from feeds, severity.go rates them,
// advisory_match.go says what they are of, advisory_summary.go counts them,
// advisory_document.go and resolved_vulnerability.go are views of them;
// repo_facet.go tells how repos are spread; artifact.go and artifact_version.go
// are the catalogue of libraries, whose versions sort by version.go;
// subscription.go asks for events, and delivery.go tells what became of each.
//
// What kinds share:
//
//	uid.go         a resource's name is its path; path.go reads one by names
//	kind.go        what is known of a kind, as data; kinds.go lists all kinds
//	read.go        the recipes that kinds share: get,
//	list.go        list, also of many scopes at once,
//	write.go       create, update, delete,
//	batch.go       and many at once; tag_batch.go makes tags so
//	mask.go        what a caller sends, and which fields it is for;
//	               mask_part.go names parts of them, json.go reads JSON
//	search.go      what is found by words, of several kinds at once;
//	               search_text.go says which words find what
//	page.go        page sizes and orders; token.go seals page tokens
//	check.go       what names and texts must be
//	actor.go       who asks: identities and their grants; presumption.go has it
//	               proven by the statements of the request itself
//	claim.go       which tokens act as an identity; rule_key.go finds its rules
//	               by an index, pattern.go bounds their expressions;
//	               sign_in.go lets new people in
//	issuer.go      which organisations may decide about callers of an issuer:
//	               those that have proven it (issuer_proof.go) or whom the
//	               operator has allowed it (issuer_operator.go)
//	access.go      what they may see and do, decided from paths; viewer.go tells it
//	               of each object
//	capability.go  the ledger of rights
//	event.go       the record of each change, event_type.go what there may be;
//	               denial.go records the changes that were refused;
//	               event_feed.go gives events live, from event_broadcast.go,
//	               which reads them once for all feeds, with what callers hold
//	               by event_holders.go; audit_log.go reads them later, with the
//	               denials; retention.go ends them
//	               event_change.go tells what updates changed, and activity.go
//	               counts day by day
//	webhook.go     events on their way to sinks; delivery_attempt.go what follows
//	               from an attempt, replica.go which processes deliver
//	error.go       what is answered instead of a result
//	store.go       what a database must do for all this, query.go what it is
//	               asked for; background.go marks
//	               what must leave it to requests
//	import.go      many records at once
//	keys.go        what replicas share to sign and to seal; encryption.go hides
//	               it and other secrets in the store, encryption_change.go from
//	               one key to another
//
// # Four ways through the program
//
// A REST list, GET /registry/v2/repos. New in rest/rest.go routes to the route that
// registryRoutes lists (rest/registry.go). run (rest/route.go) decodes the query
// and calls the operation: Repos.List, which is resources.List (list.go). That
// checks the request, decides the scope from the grants of the caller (access.go),
// and reads the table (store.go). Here the store begins: reader.List in
// store/sqlstore/list.go builds one statement, and Run of the connection sends it.
// That connection is a chain in store/sqlstore/store.go: measure, gather with what
// others read (level.go), prove the caller (presumption.go), limit background work
// (share.go), report (observe.go), and the driver in store/postgres or store/sqlite.
//
// A nested GraphQL list, { groups { nodes { repos { nodes { name } } } } }. The
// endpoint (graphql/transport) hands the operation to graphql/execute, which plans
// it once and reads it level by level. For each field that reads it calls the
// generated entry (graph/fields.generated.go), which calls the resolver with all
// objects of the level: groups.Repos in resolvers/group.go. That calls
// resources.ListEach (list.go), which decides a scope for each group and reads all
// pages with one statement (store/sqlstore/each.go).
//
// A mutation, createRepo. The executor calls mutations.CreateRepo in
// resolvers/repo.go with the decoded input, as REST and gRPC do with their bodies.
// Repos.Create is resources.create (write.go): authorizeCreate checks the rights and
// the fields (mask.go, check.go). insert then opens a transaction (Write in
// store/sqlstore/store.go), which first proves the caller, writes the row
// (store/sqlstore/write.go), and records its event. The event and the counters are
// written last, in one round trip, before the commit.
//
// An event on its way to a webhook. Webhooks.Relay (webhook.go) reads new events and
// writes a delivery for each subscription that wants one. relayEvents
// (events/relay.go) puts deliveries that are ready into the queue. The queue calls
// Work (events/worker.go): BeginAttempt (webhook.go) reads what to send, Send
// (events/sender.go) signs and sends it, and EndAttempt records what came of it and
// says when to try again.
//
// # Adding a kind
//
// A kind Widget of the area registry, step by step. internal/house checks each
// step, and says which file to write and shows the line to copy.
//
//	platform/widget.go      type Widget, WidgetFilter, var widgetKind = Kind[Widget]{Own: true, ...}:
//	                        name, area, capabilities, fields, what is required, orders,
//	                        the verbs of its events; type Widgets of its operations
//	platform/kinds.go       Widgets in Operations, &widgetKind in the list of kinds
//	platform/capability.go  its capabilities, with names and numbers; role.go has the
//	                        built-in roles: owner holds all, viewer those that only read
//	store/sqlstore/widget.go          var widgets = newTable(table[platform.Widget, platform.WidgetFilter]{...})
//	store/sqlstore/store.go           widgets in the list of tables
//	store/sqlstore/migrations/        its DDL and indexes, the next number
//	schema/widget.graphqls            its GraphQL contract; then make generate
//	schema/capability.graphqls        its capabilities, and in event.graphqls its event types
//	resolvers/widget.go               its resolvers and its loader
//	resolvers/node.go                 its type in nodeReaders
//	schema/proto/platform/registry/   its messages and service; in iam/v2/capability.proto its
//	                                  capabilities; then make generate
//	rest/registry.go                  its routes: list, get, create, update, remove
//	rpc/registry.go                   its procedures, messages and service
//	internal/cases/widget_test.go     what it takes and answers, by every protocol
//	internal/house/ledger_test.go     its number, names and orders, which never change
package platform
