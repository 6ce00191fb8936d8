// Package core has what all areas of the platform share: what a resource, a list, a change, a caller and
// an event are, and what the database must do for them. It imports the standard library and fieldmask.
//
// Begin with Kind (kind.go), which has the facts about a type of resource as data; with Collection
// (collection.go), which lists, creates, updates and deletes the resources of a kind; and with Kind.Scope
// (access.go), which decides what a caller may see before anything is read.
//
// # Files
//
// Resources and operations on them:
//
//	core.go        Core, which the operations of all areas have
//	kind.go        the facts about a kind, as data; kind_info.go has those without its types
//	collection.go  the resources of a kind, and what of that callers may use
//	uid.go         a UID contains the path of its resource; path.go reads a resource
//	               by names; reference.go checks UIDs that name another resource
//	read.go        get; list.go lists, also for many scopes at once; named.go explains an empty list,
//	               facet.go counts the rows of lists by values
//	write.go       create, update and delete; batch.go does so with many resources
//	search.go      finds resources of several kinds by words; search_text.go decides
//	               which words match
//	page.go        page sizes and orders; token.go seals page tokens
//	query.go       what a list asks the database for; relation_condition.go has conditions on what
//	               belongs to rows
//	activity.go    the intervals in which changes are counted
//	check.go       what names and texts may contain; label.go has labels, severity.go ratings,
//	               time.go times, time_zone.go zones
//	import.go      stores many records at once
//	error.go       errors; response_memory.go limits the memory of responses
//
// Callers and their rights:
//
//	actor.go       a caller: identities and grants
//	access.go      what a caller may see and do, decided from paths; caller.go answers
//	               that for one object, access_checks.go records it so that callers with the
//	               same access can share an answer
//	capability.go  all capabilities
//	denial.go      records rejected changes
//	conditions.go  what a client asks of a change beside its content: ETags, and changes that are only checked
//	idempotency.go creations with a key, which are made once
//
// Events, the database and the process:
//
//	event.go       the record of a change; event_id.go makes ids, event_change.go the changed
//	               fields, event_mention.go the resources that events name, event_burst.go has
//	               those that a feed delivers together
//	store.go       what a database must do for all areas; walk.go reads a long list part by part
//	background.go  marks work that must leave room for requests; turn.go lets the reads of a
//	               request wait for connections; precedence.go lets it give way to callers, and
//	               ends.go and rounds.go let callers wait for it
//	trace.go       facts about a request for logs and metrics
package core
