package postgres

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"atrium/store/sqlstore/dbconn"
)

// A decoder scans rows from the bytes that the server sent. It makes one string of
// all texts of a row. Columns of unknown types are left to pgx.
type decoder struct {
	types   *pgtype.Map
	fields  []pgconn.FieldDescription
	formats []int16  // formats of the fields
	raw     [][]byte // values of the row, as the server sent them
	text    []byte   // texts of the row, one after another
	texts   []textColumn
	scanner func(to ...any) error
	held    *heldRows // nil means that rows are passed on as they arrive
}

// pass passes the current row on, or holds it.
func (d *decoder) pass(row func(scan func(...any) error) error) error {
	if d.held == nil {
		return row(d.scanRow())
	}
	return d.held.add(d, row)
}

// end passes on the rows that were held until their statement ended. err is the error of
// the statement.
func (d *decoder) end(row func(scan func(...any) error) error, err error) error {
	if d.held == nil {
		return err
	}
	return d.held.end(d, row, err)
}

// scanRow returns scan.
func (d *decoder) scanRow() func(to ...any) error {
	if d.scanner == nil {
		d.scanner = d.scan
	}
	return d.scanner
}

// A textColumn is the range of a column's text in the text of a row.
type textColumn struct {
	to         any // a *string or a dbconn.TextScanner
	start, end int
}

// scan scans the columns of a row.
func (d *decoder) scan(to ...any) error {
	if len(d.raw) != len(to) || len(d.fields) != len(to) {
		return fmt.Errorf("cannot read %d columns into %d", len(d.raw), len(to))
	}
	d.text, d.texts = d.text[:0], d.texts[:0]
	for i := range to {
		known, err := d.decode(d.fields[i].DataTypeOID, d.formats[i], d.raw[i], to[i])
		if !known && err == nil {
			err = d.types.Scan(d.fields[i].DataTypeOID, d.formats[i], d.raw[i], to[i])
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", d.fields[i].Name, err)
		}
	}
	text := string(d.text)
	for _, t := range d.texts {
		switch to := t.to.(type) {
		case *string:
			*to = text[t.start:t.end]
		case dbconn.TextScanner:
			to.SetText(text[t.start:t.end])
		}
	}
	return nil
}

// decode decodes one column, and reports whether it knows the type.
func (d *decoder) decode(oid uint32, format int16, raw []byte, to any) (known bool, err error) {
	isBinary := format == pgtype.BinaryFormatCode
	isBytes := isText(oid) || oid == pgtype.ByteaOID && isBinary
	switch to := to.(type) {
	case *string:
		if raw == nil || !isText(oid) {
			return false, nil
		}
		d.addText(to, append(d.text, raw...))
		return true, nil
	case dbconn.TextScanner:
		if raw != nil && !isBytes {
			return false, nil
		}
		text, err := to.AppendText(d.text, raw)
		if err != nil {
			return true, err
		}
		d.addText(to, text)
		return true, nil
	case dbconn.BytesScanner:
		if raw == nil || !isBytes {
			return false, nil
		}
		return true, to.ScanBytes(raw)
	}
	return isBinary && decodeNumber(oid, raw, to), nil
}

// addText records the range of the text that was appended for a column.
func (d *decoder) addText(to any, text []byte) {
	d.texts = append(d.texts, textColumn{to, len(d.text), len(text)})
	d.text = text
}

func isText(oid uint32) bool {
	return oid == pgtype.TextOID || oid == pgtype.VarcharOID || oid == pgtype.UnknownOID
}

// decodeNumber decodes a type of fixed length, and reports whether it knows the type.
func decodeNumber(oid uint32, raw []byte, to any) bool {
	switch to := to.(type) {
	case *bool:
		if len(raw) != 1 || oid != pgtype.BoolOID {
			return false
		}
		*to = raw[0] != 0
	case *int64:
		n, ok := wholeNumber(oid, raw)
		*to = n
		return ok
	case *int32:
		n, ok := wholeNumber(oid, raw)
		*to = int32(n) //nolint:gosec // the next line checks
		return ok && int64(*to) == n
	case dbconn.TimeScanner:
		if raw == nil && oid == pgtype.TimestamptzOID { // no time
			to.ScanTime(0)
			return true
		}
		micros, ok := int64(0), len(raw) == 8 && oid == pgtype.TimestamptzOID
		if ok {
			micros = int64(binary.BigEndian.Uint64(raw)) //nolint:gosec // two's complement
		}
		if !ok || micros == math.MinInt64 || micros == math.MaxInt64 { // infinity
			return false
		}
		to.ScanTime(micros + microsecondsTo2000)
	default:
		return false
	}
	return true
}

// microsecondsTo2000 is the difference between the epochs of Unix and PostgreSQL.
const microsecondsTo2000 = 946_684_800 * 1_000_000

func wholeNumber(oid uint32, raw []byte) (int64, bool) {
	switch {
	case oid == pgtype.Int8OID && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true //nolint:gosec // two's complement
	case oid == pgtype.Int4OID && len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true //nolint:gosec // two's complement
	case oid == pgtype.Int2OID && len(raw) == 2:
		return int64(int16(binary.BigEndian.Uint16(raw))), true //nolint:gosec // two's complement
	default:
		return 0, false
	}
}
