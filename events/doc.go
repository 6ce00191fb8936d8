// Package events delivers recorded events to the sinks of subscriptions.
// Who gets which event, and what becomes of a delivery, is decided by package
// platform; events sends, and must not read or change a kind by itself.
//
//	deliverer.go the Deliverer and its options
//	relay.go     turns recorded events into deliveries and queues them
//	worker.go    takes a delivery from the queue and makes one attempt
//	replica.go   heartbeats, and taking over from processes that have stopped
//	database.go  the tables of the queue
//	log.go       the log of the queue, without repeated messages
//	sender.go    the Sender: one attempt is one POST
//	message.go   an event in the HTTP binding of CloudEvents
//	token.go     the bearer token of a delivery
//	keys.go      the keys that sign the tokens, and the endpoints that publish them
//	signature.go the signature headers of Standard Webhooks
//	failure.go   texts that tell the subscriber why a sink gave no answer
//
// platform.Webhooks decides what is delivered, when it is retried and when it is
// given up, and stores that with the events. The queue only distributes and schedules
// the work: everything in it may be lost and is then queued again.
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
//	ce-bodytype     area and kind of the resource in body: iam.Group
//	ce-identityprovider  of external group role mappings: uid of their provider
//
// Its data is the same on every attempt, byte for byte:
//
//	{"actor": {"subject": "...", "act": {...}}, "body": {...}}
//
// Data of more than 1 MiB is sent without the body: {"actor": {...}, "body":
// null, "bodyOmitted": true}. The receiver can read the resource from the API.
//
// # How a sink knows who sent it
//
// There are two ways; either is enough. First, the token in Authorization is an
// OpenID Connect token that the service issues (discovery under /.well-known/).
// Its audience is customer, its subject is webhook:<group uid of the
// subscription>, and its claim webhook is an object whose member digest is
// sha256:<hex> of the data:
//
//	{"iss": "...", "sub": "webhook:...", "webhook": {"digest": "sha256:..."}, ...}
//
// Second, the headers webhook-id, webhook-timestamp and webhook-signature follow
// Standard Webhooks. The signature header has one signature for each secret of
// the subscription; during a rotation there are two.
package events
