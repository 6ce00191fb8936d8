package resource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Client asks a server.
type Client interface {
	// Read returns the answer to a GET.
	Read(ctx context.Context, path string, query url.Values) ([]byte, error)
	// Find returns the uid of the group or the repo at a path, such as acme/shop, or "" if there is none that the caller may see.
	Find(ctx context.Context, path string) (uid string, err error)
	// Paths returns the paths of groups and repos by their uids, as far as the caller may see them.
	Paths(ctx context.Context, uids []string) (map[string]string, error)
}

// A Query says which items of a list are wanted.
type Query struct {
	Group      string // uid of the group or the repo; "" means everywhere
	DirectOnly bool   // only what is directly in the group; without one, what is in none
	Filters    map[string][]string
	OrderBy    string
	Limit      int // 0 means all
}

// A Fault is a flag whose value a list does not take.
type Fault struct{ Flag, Text string }

// Check returns what is wrong with a query, as far as that is known without the server.
func (k *Kind) Check(q Query) (faults []Fault) {
	for _, f := range k.Filters {
		if f.Required && len(q.Filters[f.Flag]) == 0 {
			faults = append(faults, Fault{f.Flag, "is required"})
		}
		for _, given := range q.Filters[f.Flag] {
			if _, err := f.Value(given); err != nil {
				faults = append(faults, Fault{f.Flag, err.Error()})
				break
			}
		}
	}
	for one := range strings.SplitSeq(q.OrderBy, ",") {
		field, direction, _ := strings.Cut(strings.TrimSpace(one), " ")
		if q.OrderBy != "" && (!slices.Contains(k.Orders, field) || !slices.Contains([]string{"", "asc", "desc"}, direction)) {
			faults = append(faults, Fault{"order-by", "must be fields, each with asc or desc after it if wanted, of " + strings.Join(k.Orders, ", ")})
			break
		}
	}
	return faults
}

// ask returns the path and the parameters of a query.
func (k *Kind) ask(q Query) (path string, values url.Values) {
	path, values = k.Path, url.Values{}
	for _, f := range k.Filters {
		for _, given := range q.Filters[f.Flag] {
			value, _ := f.Value(given) // Check has refused others.
			if f.Parameter == "" {
				path = path[:strings.IndexByte(path, '{')] + url.PathEscape(value) + path[strings.IndexByte(path, '}')+1:]
				continue
			}
			values.Add(f.Parameter, value)
		}
	}
	if q.OrderBy != "" {
		values.Set(orderParameter, q.OrderBy)
	}
	switch {
	case k.scope == pathScope:
		path = strings.Replace(path, groupVariable, q.Group, 1)
	case k.scope == placeScope && q.Group != "":
		values.Set(withinParameter, q.Group)
	case k.scope == treeScope && q.Group != "" && q.DirectOnly:
		values.Set(childrenParameter, q.Group)
	case k.scope == treeScope && q.Group != "":
		values.Set(belowParameter, q.Group)
	case k.scope == treeScope && q.DirectOnly:
		values.Set(rootParameter, "true")
	}
	return path, values
}

// maxPage is how many items servers give at once.
const maxPage = 200

// A Page is a part of a list.
type Page struct {
	Items []*Item
	Total int // how many the list has; -1 means that the server does not tell
	More  bool
}

// List calls take with the pages of a list, until it has had the items that are wanted.
func (k *Kind) List(ctx context.Context, client Client, q Query, take func(Page) error) error {
	path, values := k.ask(q)
	for left := q.Limit; ; {
		size := maxPage
		if q.Limit > 0 {
			size = min(size, left)
		}
		values.Set(sizeParameter, strconv.Itoa(size))
		answer, err := client.Read(ctx, path, values)
		if err != nil {
			return err
		}
		page, token, err := k.readPage(answer)
		if err != nil {
			return err
		}
		left -= len(page.Items)
		isLast := token == "" || q.Limit > 0 && left <= 0
		if err := take(page); err != nil || isLast {
			return err
		}
		values.Set(tokenParameter, token)
	}
}

func (k *Kind) readPage(answer []byte) (page Page, token string, err error) {
	var members map[string]json.RawMessage
	var all []json.RawMessage
	var total string
	if err := json.Unmarshal(answer, &members); err != nil {
		return page, "", fmt.Errorf("the answer is not a list of %s: %w", k.Name, err)
	}
	for name, into := range map[string]any{k.key: &all, "nextPageToken": &token, "totalCount": &total} {
		if members[name] == nil {
			continue
		}
		if err := json.Unmarshal(members[name], into); err != nil {
			return page, "", fmt.Errorf("the answer is not a list of %s: %w", k.Name, err)
		}
	}
	page.More, page.Total = token != "", -1
	if n, err := strconv.Atoi(total); err == nil {
		page.Total = n
	}
	for _, raw := range all {
		item, err := newItem(raw)
		if err != nil {
			return page, "", err
		}
		page.Items = append(page.Items, item)
	}
	return page, token, nil
}

// An Item is a resource as the server shows it.
type Item struct {
	raw    json.RawMessage
	fields map[string]any
}

func newItem(raw []byte) (*Item, error) {
	item := &Item{raw: bytes.TrimSpace(raw)}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // the numbers stay as the server writes them
	return item, decoder.Decode(&item.fields)
}

// UID returns the uid of the item, or "" if it has none.
func (i *Item) UID() string {
	uid, _ := i.fields["uid"].(string)
	return uid
}

// Name returns what people call the item.
func (i *Item) Name(k *Kind) string { return formatValue(i.find(k.NameField()), true) }

// Get returns one item, by its uid, or by its name: alone, or after the path of the group or the repo that contains it.
func (k *Kind) Get(ctx context.Context, client Client, named, group string) (*Item, error) {
	if k.isUID(named) {
		answer, err := client.Read(ctx, k.item+named, nil)
		if err != nil {
			return nil, err
		}
		return newItem(answer)
	}
	filter := k.nameFilter()
	if filter == nil {
		return nil, fmt.Errorf("%s: %s can be read only by uid, which `atrium list %s -q` prints", named, k.Name, k.Name)
	}
	found, err := k.findNamed(ctx, client, filter, named, Query{Group: group})
	for end := len(named); err == nil && len(found) == 0 && group == "" && k.scope == treeScope; {
		if end = strings.LastIndexAny(named[:end], "/:"); end <= 0 {
			break
		}
		var place string
		if place, err = client.Find(ctx, named[:end]); err == nil && place != "" {
			found, err = k.findNamed(ctx, client, filter, named[end+1:], Query{Group: place, DirectOnly: true})
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("%s: there is no such %s that you may see", named, strings.ReplaceAll(k.Singular, "-", " "))
	case len(found) > 1:
		return nil, k.ambiguous(ctx, client, named, found)
	}
	return found[0], nil
}

// isUID reports whether a text has the form of the uids of the kind.
func (k *Kind) isUID(text string) bool {
	uid := k.parts.find(k.schema, "uid")
	if k.item == "" || uid == nil {
		return false
	}
	pattern, err := regexp.Compile(cmp.Or(uid.Pattern, "."))
	return err == nil && pattern.MatchString(text)
}

// maxNamed is how many items of one name are told.
const maxNamed = 10

// findNamed returns the items with a name.
func (k *Kind) findNamed(ctx context.Context, client Client, filter *Filter, name string, q Query) (found []*Item, err error) {
	q.Filters, q.Limit = map[string][]string{filter.Flag: {name}}, maxNamed
	err = k.List(ctx, client, q, func(page Page) error {
		found = append(found, page.Items...)
		return nil
	})
	return found, err
}

func (k *Kind) ambiguous(ctx context.Context, client Client, named string, found []*Item) error {
	var parents []string
	for _, item := range found {
		parents = append(parents, parentOf(item.UID()))
	}
	paths, err := client.Paths(ctx, parents)
	if err != nil {
		return err
	}
	lines := make([]string, len(found))
	for i, item := range found {
		lines[i] = strings.TrimSpace(item.UID() + " " + paths[parents[i]])
	}
	return fmt.Errorf("%s: several %s have this name; name one by its path or its uid, or give --group:\n  %s", named, strings.ReplaceAll(k.Name, "-", " "), strings.Join(lines, "\n  "))
}

func parentOf(uid string) string { return uid[:max(strings.LastIndexByte(uid, '/'), 0)] }
