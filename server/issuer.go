package server

import "atrium/auth"

// CheckIssuer fails if a server that allows the hosts would accept no tokens of an issuer,
// because it has plain http.
func CheckIssuer(issuer string, allowHosts []string) error {
	return auth.NewGuard(allowHosts).CheckIssuer(issuer)
}
