// Package webhook delivers recorded events to the sinks of subscriptions.
// Who gets which event, when it is sent again and when it is given up, is decided by
// package platform; events sends, and must not read or change a kind by itself.
//
//	deliverer.go the Deliverer and its options; it renews leases
//	relay.go     turns recorded events into deliveries
//	worker.go    claims deliveries that are due, and makes an attempt of each
//	slots.go     limits attempts, and shares them fairly between organizations
//	sender.go    the Sender: one attempt is one POST, or one mail
//	mailer.go    hands mail over to the server of the operator; package message writes messages for people
//	message.go   an event in the HTTP binding of CloudEvents
//	token.go     the bearer token of a delivery
//	keys.go      the keys that sign the tokens, and the endpoints that publish them
//	signature.go the signature headers of Standard Webhooks
//	failure.go   texts that tell the subscriber why a sink gave no answer
//
// # The queue
//
// The rows of the table delivery are the queue; there is no other. A delivery is queued
// (webhooks.StageQueued) until it has ended. A queued delivery has the time at which its
// next attempt is due and, while a process attempts it, the end of a lease:
//
//	recorded   relayEvents: one transaction writes a queued delivery of each event for
//	           each subscription, due at once, and the position of the relay
//	due        claimDeliveries: a claim gives the delivery a lease and the next ticket
//	leased     work: BeginAttempt reads what to send, Send sends it, and EndAttempt
//	           records the result; renewLeases extends the lease meanwhile
//	planned    after a failed attempt: the next one is due later, and the lease is removed
//	ended      the delivery has arrived, or was given up; Redeliver makes it due again
//
// Any number of processes do this with one database. Only its clock decides what is due
// and which leases have ended, so clocks of processes may differ. If a process dies
//
//	before the relay commits        another process relays the events
//	after that                      the deliveries are due, and another process claims them
//	after a claim, before it sends  the lease ends, and another process sends
//	after it has sent               the lease ends, and another process sends again: this
//	                                is why a sink can receive an event twice
//	after the result is recorded    nothing is left to do
//
// A process that was only slow, so that its lease has ended, finds that its ticket is not the
// newest any more. Its result is ignored. A process that ends regularly stops to claim,
// waits for its attempts, and releases the leases of those that it interrupts.
//
// Processes learn of new events by Platform.Changed. They also poll, because a pooler
// may prevent that, and because leases end without a notification.
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
package webhook
