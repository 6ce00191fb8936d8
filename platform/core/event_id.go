package core

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// NewEventID returns a UUID of version 7, which sorts by time.
func NewEventID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[6:])
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16|uint64(b[6])<<8|uint64(b[7]))
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return eventIDOf(b)
}

func eventIDOf(b [16]byte) string {
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// IsEventID reports whether id has the form of an event id.
func IsEventID(id string) bool {
	return len(id) == len(FirstEventID(Time{})) && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' &&
		isLowerHex(strings.ReplaceAll(id, "-", ""))
}

// EventTime returns the time in the id of an event, or zero if id does not have that form.
func EventTime(id string) Time {
	if !IsEventID(id) {
		return Time{}
	}
	ms, _ := strconv.ParseInt(id[:8]+id[9:13], 16, 64) // 12 digits always fit
	return At(time.UnixMilli(ms))
}

// FirstEventID returns the smallest id of events recorded at t or later.
func FirstEventID(t Time) string {
	ms := max(t.UnixMilli(), 0)
	return eventIDOf([16]byte{
		byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms),
	})
}
