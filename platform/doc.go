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
// # Adding a kind
//
// A kind Widget of the area registry, step by step. internal/house checks each
// step, and says which file to write and shows the line to copy.
//
//	platform/widget.go      type Widget, WidgetFilter, var widgetKind = Kind[Widget]{...}:
//	                        name, area, capabilities, fields, what is required, orders,
//	                        the verbs of its events; type Widgets of its operations
//	platform/kinds.go       Widgets in Operations, &widgetKind in the list of kinds
//	platform/capability.go  its capabilities, and the roles that hold them
//	store/sqlstore/widget.go          var widgets = newTable(table[platform.Widget, platform.WidgetFilter]{...})
//	store/sqlstore/store.go           widgets in the list of tables
//	store/sqlstore/migrations/        its DDL and indexes, the next number
//	schema/widget.graphqls            its GraphQL contract; then make generate
//	resolvers/widget.go               its resolvers and its loader
//	resolvers/node.go                 its type in nodeReaders
//	schema/proto/platform/registry/   its messages and service; then make generate
//	rest/registry.go                  its routes: list, get, create, update, remove
//	rpc/registry.go                   its procedures, messages and service
//	internal/cases/widget_test.go     what it takes and answers, by every protocol
//	internal/house/ledger_test.go     its number, names and orders, which never change
package platform
