package iam

import "atrium/platform/core"

func (g *Group) searchTexts() []core.FieldText {
	return []core.FieldText{{Field: core.SearchName, Text: g.Name}, {Field: core.SearchDescription, Text: g.Description}}
}

func (i *Identity) searchTexts() []core.FieldText {
	return []core.FieldText{{Field: core.SearchName, Text: i.Name}, {Field: core.SearchDescription, Text: i.Description}, {Field: core.SearchEmail, Text: i.Email}, {Field: core.SearchEmail, Text: i.EmailUnverified}}
}

func (r *Role) searchTexts() []core.FieldText {
	return []core.FieldText{{Field: core.SearchName, Text: r.Name}, {Field: core.SearchDescription, Text: r.Description}}
}

// SearchText returns the text that searches look at, which is not folded.
func (g *Group) SearchText() string { return core.JoinSearchText(g.searchTexts()) }

// SearchText returns the text that searches look at, which is not folded.
func (i *Identity) SearchText() string { return core.JoinSearchText(i.searchTexts()) }

// SearchText returns the text that searches look at, which is not folded.
func (r *Role) SearchText() string { return core.JoinSearchText(r.searchTexts()) }
