package resolvers

import (
	"context"

	"atrium/platform"
)

func (images) Size(_ context.Context, all []*platform.Image, architecture *string) ([]*int64, error) {
	return mapEach(all, func(i *platform.Image) *int64 {
		size, _ := i.Size(valueOrZero(architecture))
		return &size.Size
	}), nil
}
