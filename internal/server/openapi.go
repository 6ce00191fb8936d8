package server

import "atrium/internal/rest"

// OpenAPI returns the OpenAPI document of the routes, as JSON. What depends on a server, such as its version, are placeholders.
func OpenAPI() []byte { return rest.Document() }
