package cases

// Ping is not a kind, but it has a row, like all operations.
var _ = newKind(kind{
	name: "Ping", ref: "ping", area: "ping",
	extra: []call{{rpc: "Ping"}},
	rows:  []row{{name: "ping", do: call{rpc: "Ping"}, want: resource(fields{"response": "pong"})}},
})
