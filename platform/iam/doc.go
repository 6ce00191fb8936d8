// Package iam has access control: groups, identities, roles, and who is bound to which role. It also finds
// out who the bearer of a token is. It imports core, secrets and fieldmask.
//
// Begin with Group (group.go), which is one kind from its type to its operations; with Area.Authenticate
// (authenticate.go), which makes the caller of a request from a token; and with RoleBindings (role_binding.go).
//
// The kinds:
//
//	group.go, identity.go, role.go, role_binding.go    who may do what;
//	               role_binding_lists.go lists bindings in other ways,
//	               role_binding_batch.go makes and deletes many, role_binding_review.go
//	               confirms them, role_binding_expiry.go ends them
//	identity_provider.go, external_group_role_mapping.go, group_invite.go
//	               how more people can sign in
//	account_association.go, terms.go   cloud accounts and accepted terms of a group
//
// What they share:
//
//	area.go        Area, which has the operations, and what it needs of the database
//	facet.go       counts the rows of lists by values; path.go finds groups by names, and
//	               search_text.go has the texts that searches look at
//	authenticate.go  finds the caller of a request; presumption.go proves the caller together with
//	               the statements of the request
//	claim.go       which tokens act as an identity; rule_key.go finds claim rules by an
//	               index, pattern.go limits their patterns; sign_in.go admits new users
//	issuer.go      which organizations may decide about callers of an issuer:
//	               issuer_proof.go checks a proof, issuer_operator.go is for the operator
package iam
