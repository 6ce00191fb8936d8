package events_test

import (
	"testing"
)

func TestASinkReceivesTheEventOfEveryWrite(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		w.deliver()
		uids := w.write(200)
		await(t, "every event", func() bool { return sink.has(uids) == len(uids) })
		for id, d := range w.ended(s) {
			if d.State != "DELIVERED" || d.Attempts != 1 || d.LastStatus != 200 {
				t.Errorf("the delivery of %s is %s after %d attempts, the last with %d", id, d.State, d.Attempts, d.LastStatus)
			}
		}
	})
}
