package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"atrium/store/pgpool"
	"atrium/store/sqlstore/dbconn"
)

// A standbyDriver reads from standbys as the engine reads from the primary, but holds the rows.
type standbyDriver struct{}

func (standbyDriver) Read(ctx context.Context, pool *pgpool.Pool, limit time.Duration, statements []*dbconn.Statement) error {
	within, cancel := limitTime(ctx, limit)
	defer cancel()
	c := conn{querier: pool, prepares: pool.Prepares, plansOnce: pool.PlansOnce, held: &heldRows{}}
	_, err := c.runOnce(within, pool, statements)
	return err
}

func (standbyDriver) ResponseTimeout(config *pgx.ConnConfig) time.Duration {
	return findResponseTimeout(config)
}

func (standbyDriver) IsConflict(err error) bool { return errors.Is(err, errConflict) }

func (standbyDriver) Explain(config *pgconn.Config, err error) error {
	return explainError(config, err)
}
