// Package platform is the core: the kinds of a cloud platform's v2 API, their rules,
// all operations on them, and who may do what. It imports only the standard library and its own leaves.
// The protocols are adapters that call it, and the databases implement its Store.
//
// # Map
//
// There is one file per kind, with its type, rules, filter and operations:
//
//	group.go, identity.go, role.go, role_binding.go    who may do what;
//	               role_binding_lists.go lists bindings in other ways,
//	               role_binding_batch.go makes and deletes many, role_binding_review.go
//	               confirms them, role_binding_expiry.go ends them
//	identity_provider.go, external_group_role_mapping.go, group_invite.go
//	               how more people can sign in
//	account_association.go, terms.go   cloud accounts and accepted terms of a group
//	repo.go, tag.go, image.go          the registry; tag_batch.go creates many tags,
//	               repo_facet.go counts repos by what they have in common,
//	               image_condition.go has conditions on what images hold, and
//	               architecture.go the names of architectures
//	artifact.go, artifact_version.go   the catalogue of libraries
//	advisory.go, vulnerability.go      from feeds; severity.go rates them,
//	               advisory_match.go matches advisories with repos and tags,
//	               advisory_summary.go counts advisories; advisory_document.go and
//	               resolved_vulnerability.go are views of both
//	package.go, package_version.go     what images hold; sbom.go imports it, and
//	               image_package.go lists what one image holds
//	finding.go     which advisories affect which images: finding_task.go has what to look at
//	               again, finding_reconcile.go writes what follows from tags, packages and
//	               advisories, finding_image.go has what is known of an image,
//	               finding_match.go compares versions, finding_change.go notes what
//	               changes, for the events of finding_event.go; finding_update.go and
//	               finding_rule.go are what callers decide, finding_triage.go which decision
//	               counts; finding_summary.go counts, finding_activity.go has what was open
//	               at a time, exploitation.go has what catalogues say, export.go yields
//	               whole lists
//	subscription.go, delivery.go       who receives events, and the result of each delivery
//
// The other files hold what kinds share. Operations:
//
//	platform.go    Platform, which has all operations of all kinds
//	core.go        what operations share; iam_area.go, inventory_area.go, libraries_area.go,
//	               events_area.go and webhooks_area.go have the operations of each area
//	kind.go        the facts about a kind, as data: kind_info.go has those without its types;
//	               kinds.go lists all kinds
//	collection.go  reads and writes the resources of a kind, and says what of that callers may use
//	uid.go         a UID contains the path of its resource; path.go reads a resource
//	               by names; reference.go checks UIDs that name another resource
//	read.go        get; list.go lists, also for many scopes at once; named.go explains an empty list,
//	               facet.go counts the rows of lists by values
//	write.go       create, update and delete; batch.go does so with many resources
//	search.go      finds resources of several kinds by words; search_text.go decides
//	               which words match
//	page.go        page sizes and orders; token.go seals page tokens
//	check.go       what names and texts may contain; label.go has labels, time.go times,
//	               time_zone.go zones
//	import.go      stores many records at once: import_feed.go advisories,
//	               import_libraries.go artifacts, import_registry.go repos, tags and
//	               images; import_prune.go removes what vanished from a registry
//	error.go       errors; response_memory.go limits the memory of responses
//
// Callers and their rights:
//
//	actor.go       a caller: identities and grants; authenticate.go finds them, and
//	               presumption.go proves the caller together with the statements of the request
//	claim.go       which tokens act as an identity; rule_key.go finds claim rules by an
//	               index, pattern.go limits their patterns; sign_in.go admits new users
//	issuer.go      which organisations may decide about callers of an issuer:
//	               issuer_proof.go checks a proof, issuer_operator.go is for the operator
//	access.go      what a caller may see and do, decided from paths; caller.go answers
//	               that for one object, access_checks.go records it so that callers with the
//	               same access can share an answer
//	capability.go  all capabilities
//
// Events:
//
//	event.go       the record of a change; event_id.go makes ids, event_type.go lists
//	               the types, event_change.go the changed fields, event_mention.go the
//	               resources that events name, denial.go records
//	               rejected changes
//	event_feed.go  live events; event_broadcast.go reads them once for all feeds,
//	               event_burst.go has those that are delivered together,
//	               event_callers.go keeps the grants of their callers,
//	               event_anchor.go notices a database that lacks the newest events
//	audit_log.go   recorded events and denials; activity.go counts events by day or week,
//	               access_record.go tells who had access in the past, and how that
//	               changed, retention.go deletes old ones
//	webhook.go     events on their way to sinks: webhook_relay.go makes deliveries of
//	               them, webhook_queue.go says which are due and gives them to processes,
//	               webhook_attempt.go is for attempts; delivery_attempt.go decides what
//	               follows an attempt, sink.go where events may be delivered to
//
// The database and the process:
//
//	store.go       what a database must do for all areas, and platform_store.go in all; query.go describes a query,
//	               relation_condition.go has conditions on what belongs to rows
//	background.go  marks work that must leave room for requests; turn.go lets the reads of a
//	               request wait for connections
//	keys.go        the keys that replicas share; encryption.go encrypts secrets in the
//	               store, encryption_change.go changes the key
//	trace.go       facts about a request for logs and metrics; observer.go receives
//	               measurements of background work
//
// Its leaves are packages of their own, which know nothing of the core:
//
//	affected       which versions of a package an advisory affects
//	ecosystem      how ecosystems of packages order versions and compare names
//	fieldmask      what a request sets of a resource: a body of JSON and a field mask
//
// # Four ways through the program
//
// A REST list, GET /registry/v2/repos. New in internal/rest/rest.go routes to the route that
// registryRoutes lists (internal/rest/registry.go). run (internal/rest/route.go) decodes the query
// and calls the operation: Repos.List, which is resources.List (list.go). That
// checks the request, decides the scope from the grants of the caller (access.go),
// and reads the table (store.go). Here the store begins: reader.List in
// store/sqlstore/table/list.go builds one statement, and Run of the database
// (store/sqlstore/dbconn/database.go) hands it to wrappers, which send it together with those of
// the same level (level.go) and with the proof of who the caller is (prove.go), through
// the engine in store/postgres or store/sqlite. The get of a row shares its round trip with
// those of other requests (quick.go, shared_trip.go), unless there are read replicas, or a
// pooler that does not support prepared statements.
//
// A nested GraphQL list, { groups { nodes { repos { nodes { name } } } } }. ServeHTTP
// in internal/graphql/transport reads the request, and Prepare in internal/graphql/execute has it checked
// by internal/graphql/limit. Execute calls Query (engine.go) plans the operation once and
// reads it level by level (run.go). For each field that reads, resolve calls the
// generated entry (graph/fields.generated.go), which calls the resolver with all
// objects of the level: groups.Repos in resolvers/group.go. That calls
// resources.ListEach (list.go), which decides a scope for each group and reads all
// pages with one statement (store/sqlstore/table/each.go). What needs only the UID of an object that the
// document names, such as the lists in { repo(uid: "...") { name tags { nodes { name } } } }, is
// read in the same level as the object (internal/graphql/execute/expect.go).
//
// A mutation, createRepo. Mutate (engine.go) executes the fields one after the other
// and calls mutations.CreateRepo in resolvers/repo.go, which decodes the input and calls
// the operation, as REST and gRPC do with their bodies.
// Repos.Create is resources.create (write.go): authorizeCreate checks the rights and
// the fields (fieldmask, check.go). insert then calls Write (store/sqlstore/store.go), which
// opens a transaction. Its first round trip begins it, proves the caller and writes the row
// (store/sqlstore/table/write.go, store/sqlstore/dbconn/tx.go). insert records the event, which is written
// last, in one round trip with the counters and the commit.
//
// An event on its way to a webhook. Webhooks.Relay (webhook_relay.go) reads new events and
// writes a delivery for each subscription that wants one. claimDue (internal/webhook/worker.go)
// finds those that are due (Due in webhook_queue.go), and claims as many as it has slots
// for. In each attempt, BeginAttempt (webhook_attempt.go) reads what to send, Send
// (internal/webhook/sender.go) signs and sends it, and EndAttempt records what came of it and
// when to try again.
//
// # A handler may run twice
//
// A request begins with the caller that its token had last time, without asking the database
// (presumption.go). The first statements of the request also prove that nothing about the caller has
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
// (event_callers.go). So it delivers no event that the caller may no longer see. It stays open even
// if the caller has no right left. It ends if its token expires, or has lost one of its identities.
//
// # Adding a kind
//
// A kind Widget of the area registry, step by step. Copy the files of role or repo.
// internal/house checks each step: run `go test ./internal/house` after each, which says
// which file to write and shows the line to copy.
//
//	platform/widget.go      type Widget, WidgetFilter, var widgetKind = Kind[*Widget]{Own: true, ...}:
//	                        name, area, capabilities, fields, what is required, orders,
//	                        the verbs of its events; widgetKeyFilter, which finds the widget
//	                        with the same unique key; type Widgets of its operations, and before
//	                        it WidgetQueries, if it reads or writes in other ways than a Table does
//	platform/kinds.go       Widgets in Operations, &widgetKind in the list of kinds
//	platform/tables.go      Widgets in InventoryTables, and WidgetQueries
//	platform/capability.go  its capabilities, with names and numbers; role.go has the
//	                        built-in roles: owner holds all, viewer those that only read
//	store/sqlstore/widget.go          var widgets = table.New(&table.Definition[*platform.Widget, *platform.WidgetFilter]{...}),
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
//	schema/capability.graphqls        its capabilities, and in event.graphqls its event types
//	resolvers/widget.go               its resolvers and its loader
//	resolvers/node.go                 its type in nodeReaders
//	schema/proto/platform/registry/   its messages and service; in iam/v2/capability.proto its
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
