// Package webhooks has event subscriptions, and brings events to their sinks. It imports core, secrets, iam,
// inventory, events and fieldmask.
//
// Begin with Subscriptions.Create (subscription.go); with Webhooks.Relay (relay.go), which makes deliveries of
// events; and with Webhooks.EndAttempt (attempt.go), which decides what follows an attempt. Package
// internal/webhook sends.
//
//	area.go           Area, which has the operations, and what it needs of the database
//	subscription.go   who receives events; sink.go says where they may be delivered to, and format.go in which
//	                  form and how often; test.go sends one and waits for the answer
//	delivery.go       the result of each delivery
//	webhook.go        events on their way to sinks: relay.go makes deliveries of them, queue.go says which
//	                  are due and gives them to processes, attempt.go is for attempts, and outcome.go
//	                  decides what follows an attempt; message.go tells people what has happened
package webhooks
