package rest

import "atrium/platform"

func advisoryRoutes(p *platform.Platform) []route {
	return []route{
		listAll("/advisory/v2/metadata", p.Vulnerabilities,
			text("id", func(f *platform.VulnerabilityFilter) *string { return &f.ID }),
			texts("ids", func(f *platform.VulnerabilityFilter) *[]string { return &f.IDs })),
	}
}
