package cases

// reading returns the rows of Get<Kind>.
func (k *kind) readRows() []row {
	get := func(uid string) call { return call{rpc: "Get" + k.name, target: uid} }
	return []row{
		{name: "one", do: get(k.existing()), want: expectedResource{like: k.existing()}},
		{name: "one with all there is", do: get("{full " + k.ref + "}"), want: expectedResource{like: "{full " + k.ref + "}"}},
		{name: "a missing one", do: get(k.missing()), want: notFound(k.resource(), k.missing())},
		{name: "no UID", do: get("nope"), want: invalid("uid")},
		{name: "a UID in capitals", do: get("7872E984573B3A80D1D5DCF9AC7FD799D10A760C"), want: invalid("uid")},
		{name: "one of another kind", do: get(k.stranger()), want: notFound(k.resource(), k.stranger())},
	}
}

// deletion returns the rows of Delete<Kind>.
func (k *kind) deleteRows() []row {
	remove := func(uid string) call { return call{rpc: "Delete" + k.name, target: uid} }
	return []row{
		{name: "one", do: remove(k.existing())},
		{name: "one with all there is", do: remove("{full " + k.ref + "}")},
		{name: "a missing one", do: remove(k.missing()), want: notFound(k.resource(), k.missing())},
		{name: "one that is gone", setup: []call{remove(k.existing())}, do: remove(k.existing()), want: notFound(k.resource(), k.existing())},
		{name: "no UID", do: remove("nope"), want: invalid("uid")},
		{name: "one of another kind", do: remove(k.stranger()), want: notFound(k.resource(), k.stranger())},
	}
}

// stranger returns a resource of another kind.
func (k *kind) stranger() string {
	if k.ref == "identity" {
		return "{role}"
	}
	return "{identity}"
}
