package resolvers

import (
	"context"

	"atrium/platform"
)

func (images) Size(_ context.Context, i *platform.Image, architecture *string) (*int64, error) {
	size, _ := i.Size(or(architecture))
	return &size.Size, nil
}
