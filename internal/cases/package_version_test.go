package cases

// {heldversion} is a version of {package}.
var _ = newKind(kind{
	name: "PackageVersion", plural: "PackageVersions", ref: "heldversion", area: "registry", in: "{org}", ownRights: true,
	minimal: fields{"name": "package-{n}"}, full: fields{"name": "package-{n}"},
	put: func(e *env, org string, given fields) fields {
		e.Helper()
		return e.mustCall(call{rpc: "ListPackageVersions", target: keyOf(putPackage(e, org, given))}).items[0]
	},
})
