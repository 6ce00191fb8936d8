package cases

import (
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// An image has no UID and no list: it is read by repo and digest. {image} is a repo with a
// tag for an image, digest(1).
var _ = newKind(kind{
	name: "Image", ref: "image", area: "registry", in: "{group}", put: putImage,
	minimal: fields{"name": "image-{n}"},
	extra:   []call{architectures("{image}", digest(1)), size("{image}", digest(1), "")},
	rows: []row{
		{name: "architectures", do: architectures("{image}", digest(1)), want: resource(fields{"architectures": []string{"arm64", "amd64", "riscv64"}})},
		{name: "architectures of an unknown image", do: architectures("{image}", digest(2)), want: notFound("registry/Image", "{image}@"+digest(2)),
			instead: inGraphQL(resource(fields{"architectures": []string{}}), "an image is an edge of a tag there, without architectures where they are not known")},
		{name: "architectures in a missing repo", do: architectures("{group}/00000000000000ff", digest(1)),
			want:    notFound("registry/Image", "{group}/00000000000000ff@"+digest(1)),
			instead: inGraphQL(notFound("registry/Repo", "{group}/00000000000000ff"), "the tags of the repo are asked for")},
		{name: "architectures in no UID", do: architectures("nope", digest(1)), want: invalid("repoUid"),
			instead: inGraphQL(invalid("uidp.children_of"), "the tags of the repo are asked for")},
		{name: "architectures of no digest", do: architectures("{image}", "latest"), want: invalid("digest")},

		{name: "size of amd64, if none is named", do: size("{image}", digest(1), ""), want: resource(fields{"size": "1099511627776", "architecture": "amd64"}),
			instead: onlySize("1099511627776")},
		{name: "size of an architecture", do: size("{image}", digest(1), "arm64"), want: resource(fields{"size": "7", "architecture": "arm64"}),
			instead: onlySize("7")},
		{name: "size of an architecture by its name among the official images", do: size("{image}", digest(1), "arm64v8"),
			want: resource(fields{"size": "7", "architecture": "arm64"}), instead: onlySize("7")},
		{name: "size of an architecture by its name among kernels", do: size("{image}", digest(1), "AARCH64"),
			want: resource(fields{"size": "7", "architecture": "arm64"}), instead: onlySize("7")},
		{name: "size that is not known", do: size("{image}", digest(1), "riscv64"), want: notFound("registry/Size", "{image}@"+digest(1)), instead: noSize},
		{name: "size of another architecture", do: size("{image}", digest(1), "s390x"), want: notFound("registry/Size", "{image}@"+digest(1)), instead: noSize},
		{name: "size of an unknown image", do: size("{image}", digest(2), ""), want: notFound("registry/Image", "{image}@"+digest(2)), instead: noSize},
		{name: "size of no digest", do: size("{image}", "latest", ""), want: invalid("digest")},
	},
})

func architectures(repo, digest string) call {
	return call{rpc: "GetArchitectures", target: repo, params: fields{"digest": digest}}
}

func size(repo, digest, architecture string) call {
	c := call{rpc: "GetSize", target: repo, params: fields{"digest": digest}}
	if architecture != "" {
		c.params["architecture"] = architecture
	}
	return c
}

func onlySize(bytes string) map[string]otherAnswer {
	return inGraphQL(resource(fields{"size": bytes}), "the field is asked for one architecture and is its size")
}

var noSize = inGraphQL(resource(nil), "a size that is not known is null")

func putImage(e *env, group string, given fields) fields {
	e.Helper()
	repo := e.mustCall(call{rpc: "CreateRepo", target: group, fields: given}).resource
	e.mustCall(call{rpc: "CreateTag", target: keyOf(repo), fields: fields{"name": "one", "digest": digest(1)}})
	e.mustCall(call{rpc: "CreateTag", target: keyOf(repo), fields: fields{"name": "two", "digest": digest(2)}})
	if _, err := e.w.p.Registry.ImportImages(e.operator(), []*inventory.Image{{Repo: core.UID(keyOf(repo)), Digest: digest(1), Architectures: []inventory.Architecture{
		{Name: "arm64v8", Size: 7}, {Name: "amd64", Size: 1 << 40}, {Name: "riscv64"},
	}}}); err != nil {
		e.Fatal(err)
	}
	return repo
}
