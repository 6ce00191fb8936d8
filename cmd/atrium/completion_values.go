package main

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atrium/internal/resource"
)

const (
	// completionWait is how long a person waits for words of a server.
	completionWait = 3 * time.Second
	// mostCompleted is how many names are asked for.
	mostCompleted = 200
)

// plainWord matches the words of a server that are given to a shell. bash runs what looks like a command in them.
var plainWord = regexp.MustCompile(`^[\p{L}\p{N}_./@:+-]+$`)

// completeValues lists the values that begin with the last word, where a value of a flag of a kind, or a name, is expected.
func completeValues(ctx context.Context, p program, model *kong.Node, words []string) []string {
	if len(words) < 3 || !isKindVerb(words[0]) {
		return nil
	}
	kind := findKind(words[1])
	if kind == nil {
		return nil
	}
	last, before := words[len(words)-1], words[len(words)-2]
	switch flag := strings.TrimPrefix(before, "--"); {
	case before == "-o" || flag == "output":
		return begins(resource.Formats, last)
	case flag == "order-by":
		return begins(kind.Orders, last)
	case flag == "group":
		return begins(namesFromServer(ctx, p, findKind("groups"), words), last)
	case strings.HasPrefix(before, "--") && words[0] == "list":
		for _, filter := range kind.Filters {
			if filter.Flag == flag {
				start := last[:strings.LastIndexByte(last, ',')+1]
				return begins(addPrefix(start, filter.Words), last)
			}
		}
	case words[0] == "get" && !strings.HasPrefix(last, "-") && !takesValue(model, words):
		return begins(namesFromServer(ctx, p, kind, words), last)
	}
	return nil
}

func findKind(name string) *resource.Kind {
	for _, kind := range allKinds() {
		if kind.Name == name || kind.Singular == name {
			return kind
		}
	}
	return nil
}

// takesValue reports whether the word before the last is a flag that needs a value.
func takesValue(model *kong.Node, words []string) bool {
	before := words[len(words)-2]
	for _, verb := range model.Children {
		for _, command := range verb.Children {
			if verb.Name != words[0] || command.Name != words[1] && !slices.Contains(command.Aliases, words[1]) {
				continue
			}
			for _, flag := range command.Flags {
				if !flag.IsBool() && (before == "--"+flag.Name || flag.Short != 0 && before == "-"+string(flag.Short)) {
					return true
				}
			}
		}
	}
	return false
}

func begins(words []string, start string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.HasPrefix(word, start) })
}

func addPrefix(start string, words []string) (made []string) {
	for _, word := range words {
		made = append(made, start+word)
	}
	return made
}

// namesFromServer returns the names of a kind: paths where items have them. Nobody reads errors while typing.
func namesFromServer(ctx context.Context, p program, kind *resource.Kind, words []string) (names []string) {
	args := []string{"list", kind.Name}
	for i, word := range words[:len(words)-1] {
		if slices.Contains([]string{"--url", "--context", "--token", "--config", "--database-url"}, word) {
			args = append(args, word, words[i+1])
		}
	}
	p.stdout, p.stderr = io.Discard, io.Discard
	picked, err := parse(args, p)
	list, isList := picked.(*listCommand)
	if err != nil || !isList {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	server, err := list.client(ctx)
	if err != nil {
		return nil
	}
	client := resourceClient{server}
	var uids []string
	_ = kind.List(ctx, client, resource.Query{Limit: mostCompleted}, func(page resource.Page) error {
		for _, item := range page.Items {
			names, uids = append(names, item.Name(kind)), append(uids, item.UID())
		}
		return nil
	})
	if paths, err := client.Paths(ctx, uids); err == nil {
		for i, uid := range uids {
			if paths[uid] != "" {
				names[i] = paths[uid]
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !plainWord.MatchString(name) })
}
