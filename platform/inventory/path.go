package inventory

import (
	"context"

	"atrium/platform/core"
)

// GetByPath reads the repo of a path, with the errors of iam.Groups.GetByPath. A path can be
// ambiguous, because names of repos may contain slashes. Then it names the repo in
// the deepest group that the caller may see.
func (s Repos) GetByPath(ctx context.Context, path string) (*Repo, error) {
	return core.GetByPath(ctx, s.rows, path, 2, s.area.tables.ReposOfPath)
}
