package cases

// Only GraphQL has versions of packages, because the reference does not have them. Tests of
// resolvers ask for them.
var _ = newKind(kind{name: "PackageVersion", plural: "PackageVersions", ref: "package_version", area: "registry", in: "{package}"})
