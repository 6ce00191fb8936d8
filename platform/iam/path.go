package iam

import (
	"context"

	"atrium/platform/core"
)

// GetByPath reads the group of a path. It returns NOT_FOUND if the group does not
// exist, or the caller may not see it or a group above it: an answer would confirm the
// names of groups that are hidden from the caller. It returns PERMISSION_DENIED if the
// caller may see no group at all.
func (s Groups) GetByPath(ctx context.Context, path string) (*Group, error) {
	return core.GetByPath(ctx, s.rows, path, 1, s.area.Tables.GroupsOfPath)
}
