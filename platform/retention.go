package platform

import (
	"context"
	"time"
)

const retentionInterval, retentionBatch = 10 * time.Minute, 1000

// purge removes what has been kept long enough, a batch at a time: recorded
// events, and deliveries that have ended.
func (p *Platform) purge(ctx context.Context) error {
	for _, old := range []struct {
		kept   time.Duration
		remove func(context.Context, Time, int) (int64, error)
	}{{p.options.AuditRetention, p.store.PurgeEvents}, {p.options.DeliveryRetention, p.store.PurgeDeliveries}} {
		for removed := int64(retentionBatch); removed == retentionBatch; {
			var err error
			if removed, err = old.remove(ctx, At(p.now().Add(-old.kept)), retentionBatch); err != nil {
				return err
			}
		}
	}
	return nil
}
