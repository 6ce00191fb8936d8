// Package platform is the core: the kinds of a cloud platform's v2 API, their rules,
// all operations on them, and who may do what. Apart from the orders of versions in affected, which are
// those of a library, it imports only the standard library.
// The protocols are adapters that call it, and the databases implement its Store.
//
// # Map
//
// The core has a package for each area of the API. An area uses those before it in this list, and no others:
//
//	core        what all areas share: kinds, lists, changes, callers, errors, the record of an event
//	secrets     keys that replicas share, and the encryption of secrets
//	iam         groups, identities, roles, bindings; who the bearer of a token is
//	libraries   artifacts of libraries (uses core and ecosystem only)
//	inventory   repos, tags, images, packages, SBOMs; advisories, vulnerabilities, findings
//	feeds       imports of what feeds say: advisories, metadata of vulnerabilities, catalogs of exploitation
//	registry    imports of registries: repos, tags and images by name, their SBOMs, and pruning
//	reports     answers made of several kinds: documents of advisories, what there was by interval, comparisons of images, what was fixed on which day, files of whole lists
//	events      live feeds, the audit log, access in the past, retention
//	webhooks    subscriptions, deliveries, the queue
//	operations  work that goes on after its request was answered (uses core only)
//	intake      sources: what the server reads by itself: feeds, registries, documents
//
// The doc.go of each says what its files are for. One kind is one file, with its type, rules, filter and
// operations: the role is platform/iam/role.go, and resolvers/role.go, store/sqlstore/role.go,
// schema/role.graphqls and internal/cases/role_test.go are the same kind on other floors. This package makes one of all:
//
//	platform.go    Platform, which has all operations of all kinds, its Options, and New
//	kinds.go       the list of all kinds
//	tables.go      the tables of all areas; store.go is what a database must do
//	observer.go    receives measurements of background work
//
// Its leaves know nothing of the core:
//
//	affected       which versions of a package an advisory affects
//	ecosystem      how ecosystems of packages order versions and compare names; names of architectures
//	fieldmask      what a request sets of a resource: a body of JSON and a field mask
//
// # Four ways through the program
//
// A REST list, GET /registry/v2/repos. New in internal/rest/rest.go routes to the route that
// registryRoutes lists (internal/rest/registry.go). run (internal/rest/route.go) decodes the query
// and calls the operation: Repos.List, which is Collection.List (platform/core/list.go). That
// checks the request, decides the scope from the grants of the caller (platform/core/access.go),
// and reads the table (platform/core/store.go). Here the store begins: reader.List in
// store/sqlstore/table/list.go builds one statement, and Run of the database
// (store/sqlstore/dbconn/database.go) hands it to wrappers, which send it together with those of
// the same level (store/sqlstore/dbconn/level.go) and with the proof of who the caller is (store/sqlstore/dbconn/prove.go), through
// the engine in store/postgres or store/sqlite. The get of a row shares its round trip with
// those of other requests (store/sqlstore/dbconn/quick.go), unless there are read replicas, or a
// pooler that does not support prepared statements.
//
// A nested GraphQL list, { groups { nodes { repos { nodes { name } } } } }. ServeHTTP
// in internal/graphql/transport reads the request, and Prepare in internal/graphql/execute has it checked
// by internal/graphql/limit. Query (internal/graphql/execute/engine.go) then plans the operation once and
// reads it level by level (internal/graphql/execute/run.go). For each field that reads, resolve calls the
// generated entry (graph/fields.generated.go), which calls the resolver with all
// objects of the level: groups.Repos in resolvers/group.go. That calls
// Collection.ListEach (platform/core/list.go), which decides a scope for each group and reads all
// pages with one statement (store/sqlstore/table/each.go). What needs only the UID of an object that the
// document names, such as the lists in { repo(uid: "...") { name tags { nodes { name } } } }, is
// read in the same level as the object (internal/graphql/execute/expect.go).
//
// A mutation, createRepo. Mutate (internal/graphql/execute/engine.go) executes the fields one after the other
// and calls mutations.CreateRepo in resolvers/repo.go, which decodes the input and calls
// the operation, as REST and gRPC do with their bodies.
// Repos.Create is Collection.Create (platform/core/write.go): AuthorizeCreate checks the rights and
// the fields (fieldmask, platform/core/check.go). Insert then calls Write (store/sqlstore/store.go), which
// opens a transaction. Its first round trip begins it, proves the caller and writes the row
// (store/sqlstore/table/write.go, store/sqlstore/dbconn/tx.go). Insert records the event, which is written
// last, in one round trip with the counters and the commit.
//
// An event on its way to a webhook. Webhooks.Relay (platform/webhooks/relay.go) reads new events and
// writes a delivery for each subscription that wants one. claimDue (internal/webhook/worker.go)
// finds those that are due (Due in platform/webhooks/queue.go), and claims as many as it has slots
// for. In each attempt, BeginAttempt (platform/webhooks/attempt.go) reads what to send, Send
// (internal/webhook/sender.go) signs and sends it, and EndAttempt records what came of it and
// when to try again.
//
// # A handler may run twice
//
// A request begins with the caller that its token had last time, without asking the database
// (platform/iam/presumption.go). The first statements of the request also prove that nothing about the caller has
// changed. If something has, internal/auth drops the response and runs the handler again, for the
// caller as it is now. So a handler may run twice. What follows for whoever writes one:
//
//   - It has no effect except through Store.Write, which commits nothing before the caller is proven, and
//     through the response, which is held back until then. It sends no message, counts nothing and
//     keeps nothing in memory.
//   - What it decides from the grants of the caller before its first read may be decided again, with
//     another result.
//   - It may read its body twice, which is repeated for it, and it never answers by itself with what
//     belongs to the first run.
//   - Work that outlives the request, such as a stream, begins with Prove.
//
// TestAHandlerOfAPresumedCallerMayRunTwice in internal/server holds this.
//
// # When the rights of a caller change
//
// If a role binding is removed while a request of its bearer runs, the moment of the proof decides
// (docs/decisions/3-proof-in-the-round-trip.md says why):
//
//   - Before the proof: the handler runs again, with the rights that are left.
//   - After it: the request ends with the rights that it began with, also in later levels of a
//     GraphQL document and in a transaction that is not committed yet.
//   - A request with a token that the process does not know, the second run of a handler, and each
//     operation on a websocket presume nothing. They read the rights first, and are not proven later.
//
// A live feed, and so a GraphQL subscription, reads events in batches, and then the rights again
// (platform/events/callers.go). So it delivers no event that the caller may no longer see. It stays open even
// if the caller has no right left. It ends if its token expires, or has lost one of its identities.
//
// # Adding a kind
//
// A kind Widget of the area registry, step by step. Copy the files of role or repo.
// internal/house checks each step: run `go test ./internal/house` after each, which says
// which file to write and shows the line to copy.
//
//	platform/inventory/widget.go  type Widget, WidgetFilter, var WidgetKind = core.Kind[*Widget]{Own: true, ...}:
//	                        name, area, capabilities, fields, what is required, orders,
//	                        the verbs of its events; widgetKeyFilter, which finds the widget
//	                        with the same unique key; type Widgets of its operations, and before
//	                        it WidgetQueries, if it reads or writes in other ways than a Table does
//	platform/inventory/area.go    Widgets in Area and in New; in Tables also WidgetQueries
//	platform/kinds.go       &inventory.WidgetKind in the list of kinds
//	platform/platform.go    Widgets in Operations, and in New
//	platform/core/capability.go   its capabilities, with names and numbers; platform/iam/role.go has the
//	                        built-in roles: owner holds all, viewer those that only read
//	store/sqlstore/widget.go          var widgets = table.New(&table.Definition[*inventory.Widget, *inventory.WidgetFilter]{...}),
//	                                  and the methods that the platform needs
//	store/sqlstore/tables.go          widgets in kinds, and in Tables
//	store/sqlstore/migrations/        its DDL for both engines, the next number: a unique index
//	                                  of what is unique in a group, and for each order of its
//	                                  lists an index by root and by parent, for the default
//	                                  also by g2 and by g3; 00001_schema.sql has those of all
//	                                  kinds
//	schema/widget.graphqls            its GraphQL contract: create inputs require what the
//	                                  kind requires, update inputs have an updateMask; then
//	                                  make generate
//	schema/capability.graphqls        its capabilities, and in schema/event.graphqls its event types
//	resolvers/widget.go               its resolvers and its loader
//	resolvers/node.go                 its type in nodeReaders
//	schema/proto/platform/registry/   its messages and service; in schema/proto/platform/iam/v2/capability.proto its
//	                                  capabilities; then make generate. Its comments are the
//	                                  texts of the OpenAPI document, unless internal/rest/texts has others
//	internal/rest/registry.go         its routes: list, get, create, update, remove
//	internal/rpc/registry.go          its procedures, messages and service
//	internal/cases/widget_test.go     what it takes and answers, by every protocol: values
//	                                  that fit the patterns of its fields, each field in full,
//	                                  and a change of each that an update can change
//	internal/house/ledger_test.go     its number, names and orders, which never change
//
// If a group should list its widgets, add a field to schema/group.graphqls and its
// resolver to resolvers/group.go.
package platform
