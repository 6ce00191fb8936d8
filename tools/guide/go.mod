// This module renders the guide. It is separate so that its requirements stay out of Atrium's go.mod. `make generate` runs it.
module atrium/scripts/tools/guide

go 1.26.0

require github.com/yuin/goldmark v1.8.7
