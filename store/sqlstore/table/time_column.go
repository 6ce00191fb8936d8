package table

import (
	"database/sql"
	"fmt"
	"time"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// timeOrNull is a time that no list is sorted by; "no time" is NULL.
type timeOrNull struct{ timeColumn }

// A deadlineColumn is a time by which lists are sorted, and in which "no time" comes last: see core.NoDeadline.
type deadlineColumn struct{ timeColumn }

// ScanTime reads a time.
func (c deadlineColumn) ScanTime(micros int64) {
	c.timeColumn.ScanTime(micros)
	c.unset()
}

// Scan reads a time from either engine.
func (c deadlineColumn) Scan(src any) error {
	err := c.timeColumn.Scan(src)
	c.unset()
	return err
}

func (c deadlineColumn) unset() {
	if c.to.Equal(core.NoDeadline.Time) {
		*c.to = core.Time{}
	}
}

// timeColumn scans a time from either engine.
type timeColumn struct{ to *core.Time }

var _ sql.Scanner = timeColumn{}

// ScanTime reads a time.
func (c timeColumn) ScanTime(micros int64) {
	if *c.to = (core.Time{}); micros != 0 {
		*c.to = core.At(time.UnixMicro(micros))
	}
}

func (c timeColumn) Scan(src any) error {
	var t time.Time
	switch src := src.(type) {
	case nil: // a join has found no row
		t = dbconn.NoTime
	case time.Time:
		t = src
	case int64:
		t = time.UnixMilli(src)
	default:
		return fmt.Errorf("cannot read a time from %T", src)
	}
	if t.Equal(dbconn.NoTime) {
		*c.to = core.Time{}
	} else {
		*c.to = core.At(t)
	}
	return nil
}

// TimeOf returns the scan destination of a time.
func TimeOf(t *core.Time) sql.Scanner { return timeColumn{t} }

// DeadlineOf returns the scan destination of a time by which lists are sorted, and in which "no time" comes last.
func DeadlineOf(t *core.Time) sql.Scanner { return deadlineColumn{timeColumn{t}} }

// TimeOrNullOf returns the scan destination of a time that no list is sorted by; "no time" is NULL.
func TimeOrNullOf(t *core.Time) sql.Scanner { return timeOrNull{timeColumn{t}} }
