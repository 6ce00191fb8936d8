package sqlstore

import (
	"context"

	"atrium/platform"
)

var tags = table[platform.Tag, platform.TagFilter]{
	name: "tag", number: 6,
	uid:         func(t *platform.Tag) platform.UID { return t.UID },
	enclosed:    parent,
	quietParent: true,
	columns: []column[platform.Tag]{
		{"t.uid", "", func(t *platform.Tag) any { return (*string)(&t.UID) }},
		{"t.name", "", func(t *platform.Tag) any { return &t.Name }},
		{"t.digest", "digest", func(t *platform.Tag) any { return &t.Digest }},
		{"t.deprecated", "deprecated", func(t *platform.Tag) any { return &t.Deprecated }},
		{"t.bundles", "bundles", func(t *platform.Tag) any { return jsonColumn{&t.Bundles} }},
		{"t.class", "", func(t *platform.Tag) any { return (*string)(&t.Class) }},
		{"t.create_time", "", func(t *platform.Tag) any { return timeColumn{&t.CreateTime} }},
		{"t.update_time", "", func(t *platform.Tag) any { return timeColumn{&t.UpdateTime} }},
	},
	where: func(f platform.TagFilter, s *statement) {
		s.name(f.Name)
		anyOf(s, "name", f.Names)
		if !f.UpdatedSince.IsZero() {
			s.add(" AND t.update_time >= ?", f.UpdatedSince)
		}
		if f.Digest != "" {
			s.add(" AND t.digest = ?", f.Digest)
		}
		if f.Deprecated != nil {
			s.add(" AND t.deprecated = ?", *f.Deprecated)
		}
		for _, class := range f.Without {
			s.add(" AND t.class <> ?", string(class))
		}
	},
}

// TagsNamed reads tags by repo and name, each by one look into the index.
func (s tables) TagsNamed(ctx context.Context, names platform.TagNames) ([]*platform.Tag, error) {
	wanted := names.Names()
	repos, texts := make([]string, len(wanted)), make([]string, len(wanted))
	for i, n := range wanted {
		repos[i], texts[i] = string(n.Repo), n.Name
	}
	return pairs(ctx, s, &tags, repos, texts, "t.parent = p.k AND t.name = p.inside")
}
