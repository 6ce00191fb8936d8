package events

import (
	"testing"
	"time"

	"atrium/platform/core"
)

func TestPartitionsAreATwelfthOfTheRetention(t *testing.T) {
	t.Parallel()
	for retention, want := range map[time.Duration]time.Duration{
		90 * core.Day:   7 * core.Day,
		365 * core.Day:  30 * core.Day,
		96 * time.Hour:  8 * time.Hour,
		15 * core.Day:   core.Day,
		12 * time.Hour:  time.Hour,
		2 * time.Minute: time.Hour,
	} {
		if got := partitionWidth(retention, eventPartitions); got != want {
			t.Errorf("the partitions of %s cover %s, want %s", retention, got, want)
		}
	}
	if got := partitionWidth(30*core.Day, deliveryPartitions); got != 7*core.Day {
		t.Errorf("the partitions of deliveries cover %s, want 7 days", got)
	}
}
