// Package events delivers recorded events to the sinks of subscriptions.
// Who gets which event, and what becomes of a delivery, is decided by package
// platform; events sends, and must not read or change a kind by itself.
//
//	deliverer.go what delivers, and its settings
//	feed.go     from recorded events to deliveries in the queue
//	worker.go   from the queue to one attempt, and what follows from it
//	replica.go  who takes over from a process that is gone
//	database.go where the queue is kept
//	calm.go     the log of the queue, without repetitions
//	sender.go   one attempt: a POST, and what came of it
//	message.go  an event as CloudEvents writes it over HTTP
//	token.go    the bearer token of a delivery
//	keys.go     the keys that sign it, and where receivers find them
//	signature.go what Standard Webhooks asks for
//	failure.go  why there was no answer, in words for the subscriber
//
// What is delivered, when it is tried again and when it is given up is said by
// platform.Webhooks, and stored with the events. The queue only says who does
// it and wakes them in time: all that is in it can be lost.
//
// # What a sink receives
//
// A POST of an event in the binary mode of CloudEvents 1.0:
//
//	Content-Type: application/json
//	ce-specversion: 1.0
//	ce-id           of the event: the same on every attempt
//	ce-source       the public URL of the service
//	ce-type         such as dev.atrium.api.iam.group.created.v1
//	ce-subject      uid of the resource that changed
//	ce-time         of the change
//	ce-group        uid of the group that the resource lies in
//	ce-audience     customer
//	ce-bodytype     what body is, by area and kind: iam.Group
//	ce-identityprovider  of external group role mappings: uid of their provider
//
// Its data is the same on every attempt, byte for byte:
//
//	{"actor": {"subject": "...", "act": {...}}, "body": {...}}
//
// Data of more than 1 MiB goes without the body: {"actor": {...}, "body":
// null, "bodyOmitted": true}; the API has the resource.
//
// # How a sink knows who sent it
//
// In two ways, of which either is enough. The token in Authorization is an
// OpenID Connect one of the service (discovery under /.well-known/), for the
// audience customer, of the subject webhook:<group uid of the subscription>,
// and its claim webhook is an object whose member digest is sha256:<hex> of the
// data:
//
//	{"iss": "...", "sub": "webhook:...", "webhook": {"digest": "sha256:..."}, ...}
//
// The headers webhook-id, webhook-timestamp and webhook-signature are those of
// Standard Webhooks, by each secret of the subscription: two during a rotation.
package events
