package platform

import (
	"testing"
	"time"
)

func TestPartitionsAreATwelfthOfTheRetention(t *testing.T) {
	t.Parallel()
	for retention, want := range map[time.Duration]time.Duration{
		90 * day:        7 * day,
		365 * day:       30 * day,
		96 * time.Hour:  8 * time.Hour,
		15 * day:        day,
		12 * time.Hour:  time.Hour,
		2 * time.Minute: time.Hour,
	} {
		if got := partitionWidth(retention, eventPartitions); got != want {
			t.Errorf("the partitions of %s cover %s, want %s", retention, got, want)
		}
	}
	if got := partitionWidth(30*day, deliveryPartitions); got != 7*day {
		t.Errorf("the partitions of deliveries cover %s, want 7 days", got)
	}
}
