// Package message writes messages for people: for Slack and the chats that take its messages, for Microsoft Teams,
// and as mail. What a message tells is decided by package platform/webhooks.
//
//	document.go  what a message says, in lines whose texts have no markup yet
//	slack.go     a document in the Block Kit of Slack, with a text for Mattermost and Rocket.Chat
//	teams.go     a document as an adaptive card
//	mail.go      a document as a subject, a plain text and HTML
//
// Names of repos, tags, packages and people come from those who write them. No text of a document is markup, a mention or
// a link in any format: only the spans of a document with a URL are links, and they lead to the console.
package message
