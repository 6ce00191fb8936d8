// Command restclient uses Atrium through the client that oapi-codegen writes for its OpenAPI document. It lists, pages and
// patches, and fails if an answer is not as expected. The suite e2e/suites/oapi-codegen.mjs generates the client in this
// folder and runs it, with ATRIUM_URL and ATRIUM_TOKEN set.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Getenv("ATRIUM_URL"), os.Getenv("ATRIUM_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, site, token string) error {
	authorized := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	client, err := NewClientWithResponses(site, WithRequestEditorFn(authorized))
	if err != nil {
		return err
	}
	repos, err := readAll(ctx, client)
	if err != nil {
		return err
	}
	return patch(ctx, client, repos[0])
}

// readAll reads the repos page by page, and checks that it sees each repo once.
func readAll(ctx context.Context, client *ClientWithResponses) ([]Repo, error) {
	var repos []Repo
	seen := map[string]bool{}
	size, order := int32(5), "name asc"
	for params := (&ListReposParams{PageSize: &size, OrderBy: &order}); ; {
		page, err := client.ListReposWithResponse(ctx, params)
		if err != nil {
			return nil, err
		}
		if page.JSON200 == nil {
			return nil, fmt.Errorf("list: %s %s", page.Status(), page.Body)
		}
		for _, repo := range page.JSON200.Repos {
			if seen[repo.Uid] {
				return nil, fmt.Errorf("%s was listed twice", repo.Uid)
			}
			seen[repo.Uid] = true
			repos = append(repos, repo)
		}
		if params.PageToken = page.JSON200.NextPageToken; params.PageToken != nil {
			continue
		}
		if total := strconv.Itoa(len(repos)); len(repos) <= int(size) || total != page.JSON200.TotalCount {
			return nil, fmt.Errorf("the list has %s repos, want %s", total, page.JSON200.TotalCount)
		}
		return repos, nil
	}
}

// patch changes a repo, reads it, and expects an error for a missing one.
func patch(ctx context.Context, client *ClientWithResponses, repo Repo) error {
	text, mask := "changed by oapi-codegen", "description"
	changed, err := client.UpdateRepoWithResponse(ctx, repo.Uid, &UpdateRepoParams{UpdateMask: &mask}, RepoUpdate{Description: &text})
	if err != nil {
		return err
	}
	if changed.JSON200 == nil {
		return fmt.Errorf("patch: %s %s", changed.Status(), changed.Body)
	}
	read, err := client.GetRepoWithResponse(ctx, repo.Uid, nil)
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.Description == nil || *read.JSON200.Description != text || read.JSON200.Name != repo.Name {
		return fmt.Errorf("read: %s %s", read.Status(), read.Body)
	}
	missing, err := client.GetRepoWithResponse(ctx, repo.Uid+"/0000000000000000", nil)
	if err != nil {
		return err
	}
	if missing.JSON404 == nil || missing.JSON404.Code != 5 {
		return fmt.Errorf("a missing repo: %s %s", missing.Status(), missing.Body)
	}
	info, err := missing.JSON404.Details[0].AsErrorInfo()
	if err != nil {
		return err
	}
	if info.Reason != "NOT_FOUND" {
		return errors.New("the first detail does not say NOT_FOUND: " + info.Reason)
	}
	return nil
}
