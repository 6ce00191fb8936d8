package inventory

import "atrium/platform/core"

func (r *Repo) searchTexts() []core.FieldText {
	texts := []core.FieldText{{Field: core.SearchName, Text: r.Name}, {Field: core.SearchDescription, Text: r.Description}}
	for _, alias := range r.Aliases {
		texts = append(texts, core.FieldText{Field: core.SearchAliases, Text: alias})
	}
	return texts
}

func (t *Tag) searchTexts() []core.FieldText {
	return []core.FieldText{{Field: core.SearchName, Text: t.Name}}
}

// SearchText returns the text that searches look at, which is not folded.
func (r *Repo) SearchText() string { return core.JoinSearchText(r.searchTexts()) }
