package core

import (
	"errors"
	"strings"
	"time"
	_ "time/tzdata" // the zones, for machines that have no files of them
)

// maxTimeZone limits the length of the name of a time zone.
const maxTimeZone = 64

var errTimeZone = errors.New("must be the name of a time zone of the IANA database, such as Europe/Berlin")

var errBrowserZone = errors.New("must be the name of a time zone of the IANA database: `browser` means the time zone of the viewer, which the server cannot find out, so choose the zone by its name in the dashboard")

// loadTimeZone returns the time zone with a name; nil means UTC. Local, the zone of this machine, is no name.
func loadTimeZone(name *string) (*time.Location, error) {
	switch {
	case name == nil || strings.EqualFold(*name, "UTC"):
		return time.UTC, nil
	case *name == "browser": // what Grafana has for the zone of the viewer
		return nil, errBrowserZone
	case *name == "" || *name == "Local" || len(*name) > maxTimeZone:
		return nil, errTimeZone
	}
	zone, err := time.LoadLocation(*name)
	if err != nil {
		return nil, errTimeZone
	}
	return zone, nil
}

// startOfDay returns the first moment of a date in a zone. That is not always midnight: clocks can skip it, or show it twice.
func startOfDay(date time.Time, zone *time.Location) Time {
	year, month, dayOfMonth := date.Date()
	t := time.Date(year, month, dayOfMonth, 0, 0, 0, 0, zone)
	isBefore := func(t time.Time) bool {
		y, m, d := t.Date()
		return time.Date(y, m, d, 12, 0, 0, 0, time.UTC).Before(time.Date(year, month, dayOfMonth, 12, 0, 0, 0, time.UTC))
	}
	changed, next := t.ZoneBounds()
	if isBefore(t) { // clocks skip midnight
		return At(next)
	}
	// If the clocks were changed after the first midnight, that one is as much earlier as they were set back.
	if !changed.IsZero() {
		_, was := changed.Add(-time.Second).Zone()
		_, is := t.Zone()
		if first := t.Add(time.Duration(is-was) * time.Second); first.Before(changed) && !isBefore(first) {
			return At(first)
		}
	}
	return At(t)
}
