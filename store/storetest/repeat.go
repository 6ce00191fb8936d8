package storetest

import (
	"context"
	"errors"

	"atrium/platform"
	"atrium/platform/core"
)

// A RepeatingStore rolls back the first run of every transaction, as after a conflict, so that
// each unit runs twice.
type RepeatingStore struct{ platform.Store }

// Write runs unit in a transaction that is rolled back, and then in another one.
func (s RepeatingStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	conflict := errors.New("conflict")
	err := s.Store.Write(ctx, func(tx core.Tx) error {
		if err := unit(tx); err != nil {
			return err
		}
		return conflict
	})
	if !errors.Is(err, conflict) {
		return err
	}
	return s.Store.Write(ctx, unit)
}
