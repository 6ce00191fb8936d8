package resolvers

import (
	"context"

	"atrium/platform"
)

func (images) Size(_ context.Context, all []*platform.Image, architecture *string) ([]*int64, error) {
	return keysOf(all, func(i *platform.Image) *int64 {
		size, _ := i.Size(or(architecture))
		return &size.Size
	}), nil
}
