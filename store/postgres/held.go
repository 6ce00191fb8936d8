package postgres

import "atrium/store/postgres/standby"

// The rows from a standby are buffered until their statement has ended: it may fail at
// any row, since the replay of a later change may remove what it reads. Then the statement
// runs on the primary, and none of its rows has been passed on.

// heldRows buffers the rows of a statement.
type heldRows struct {
	bytes    []byte
	ends     []int32 // the end of each value in bytes, or isNull
	columns  int     // number of values of a row
	passesOn bool    // whether rows were passed on before their statement ended, because there were too many
}

// maxHeldBytes limits the held rows of a statement. The pages of almost all lists are
// smaller.
const maxHeldBytes = 4 << 20

const isNull = -1

// add holds the current row of d, or passes it on if there are too many.
func (h *heldRows) add(d *decoder, row func(scan func(...any) error) error) error {
	if h.passesOn {
		return standby.MakeFinal(row(d.scanRow()))
	}
	if len(h.ends) == 0 {
		h.columns = len(d.raw)
	}
	for _, value := range d.raw {
		if value == nil {
			h.ends = append(h.ends, isNull)
			continue
		}
		h.bytes = append(h.bytes, value...)
		h.ends = append(h.ends, int32(len(h.bytes))) //nolint:gosec // a row has at most 1 GB, and no more are held
	}
	if len(h.bytes) < maxHeldBytes {
		return nil
	}
	h.passesOn = true
	return h.release(d, row)
}

// end passes on the rows of a statement that has ended with err.
func (h *heldRows) end(d *decoder, row func(scan func(...any) error) error, err error) error {
	switch {
	case err != nil && h.passesOn:
		return standby.MakeFinal(translate(err))
	case err != nil:
		return err
	}
	h.passesOn = false
	return h.release(d, row)
}

// release passes on the rows that are held.
func (h *heldRows) release(d *decoder, row func(scan func(...any) error) error) error {
	defer func() { h.bytes, h.ends = h.bytes[:0], h.ends[:0] }()
	start := 0
	for ends := h.ends; len(ends) > 0; ends = ends[h.columns:] {
		values := d.raw[:0]
		for _, end := range ends[:h.columns] {
			if end == isNull {
				values = append(values, nil)
				continue
			}
			values = append(values, h.bytes[start:end:end])
			start = int(end)
		}
		d.raw = values
		if err := row(d.scanRow()); err != nil {
			return standby.MakeFinal(err)
		}
	}
	return nil
}
