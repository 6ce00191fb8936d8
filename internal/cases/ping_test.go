package cases

// Ping is no kind, but has its row as all operations have.
var _ = newKind(kind{
	name: "Ping", ref: "ping", area: "ping",
	extra: []call{{rpc: "Ping"}},
	rows:  []row{{name: "ping", do: call{rpc: "Ping"}, want: resource(fields{"response": "pong"})}},
})
