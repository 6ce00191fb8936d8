package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// A resourceClient reads resources over REST, and finds out over GraphQL what paths are of which uids.
type resourceClient struct{ *graphqlClient }

// Read returns the answer to a GET.
func (c resourceClient) Read(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.read(ctx, http.MethodGet, path, query, nil)
}

const findQuery = `query Find($path: String) { group(path: $path) { uid } repo(path: $path) { uid } }`

// Find returns the uid of the group or the repo at a path, or "" if there is none that the caller may see.
func (c resourceClient) Find(ctx context.Context, path string) (string, error) {
	a, err := c.ask(ctx, question{findQuery, map[string]string{"path": path}})
	if err != nil {
		return "", err
	}
	var found struct{ Group, Repo struct{ UID string } }
	if err := json.Unmarshal(a.Data, &found); err != nil {
		return "", a.err()
	}
	switch {
	case found.Group.UID != "":
		return found.Group.UID, nil
	case found.Repo.UID != "":
		return found.Repo.UID, nil
	}
	return "", a.failure()
}

const pathsQuery = `query Paths($uids: [UID!]!) {
  groups(where: {uids: $uids}, first: 200) { nodes { uid path } }
  repos(where: {uids: $uids}, first: 200) { nodes { uid path } }
}`

// maxAsked is how many paths are asked for at once.
const maxAsked = 200

// Paths returns the paths of groups and repos by their uids. What the caller may not see is left out.
func (c resourceClient) Paths(ctx context.Context, uids []string) (map[string]string, error) {
	type nodes struct{ Nodes []struct{ UID, Path string } }
	paths := map[string]string{}
	for some := range slices.Chunk(uids, maxAsked) {
		a, err := c.ask(ctx, question{pathsQuery, map[string]any{"uids": some}})
		if err != nil {
			return nil, err
		}
		var found struct{ Groups, Repos nodes }
		if err := json.Unmarshal(a.Data, &found); err != nil {
			return nil, a.err()
		}
		for _, node := range append(found.Groups.Nodes, found.Repos.Nodes...) {
			if node.Path != "" {
				paths[node.UID] = node.Path
			}
		}
	}
	return paths, nil
}
