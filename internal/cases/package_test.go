package cases

// Only GraphQL has packages, because the reference does not have them. Tests of resolvers ask
// for them.
var _ = newKind(kind{name: "Package", plural: "Packages", ref: "package", area: "registry", in: "{org}"})
