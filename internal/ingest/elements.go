package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxElements limits the elements of all lists of a record that are decoded. An element can take a
// hundred times the memory of its text.
const maxElements = 100_000

// elementLists are the names of the lists of an OSV record that are decoded.
var elementLists = []string{"affected", "ranges", "custom_ranges", "events", "aliases", "references", "severity", "imports", "versions"}

// checkElements fails if the lists of a document have too many elements. It takes no memory for
// them.
func checkElements(document []byte) error {
	const shortest = len("0,")
	if len(document) < maxElements*shortest || !json.Valid(document) { // decoding an invalid document fails before it takes memory
		return nil
	}
	c := elementCounter{decoder: json.NewDecoder(bytes.NewReader(document))}
	return c.count("")
}

// An elementCounter counts the elements of the lists of a valid document.
type elementCounter struct {
	decoder *json.Decoder
	found   int
}

// count reads the next value, which has a name in the object that contains it. Names are compared
// as decoding compares them, which ignores case.
func (c *elementCounter) count(name string) error {
	token, err := c.decoder.Token()
	if err != nil {
		return err
	}
	isCounted := slices.ContainsFunc(elementLists, func(list string) bool { return strings.EqualFold(list, name) })
	switch token {
	case json.Delim('{'):
		for err == nil && c.decoder.More() {
			if token, err = c.decoder.Token(); err == nil {
				field, _ := token.(string)
				err = c.count(field)
			}
		}
	case json.Delim('['):
		for err == nil && c.decoder.More() {
			if isCounted {
				c.found++
			}
			if c.found > maxElements {
				return errTooManyElements
			}
			err = c.count("")
		}
	default:
		return nil
	}
	if err == nil {
		_, err = c.decoder.Token() // the end of the object or the list
	}
	return err
}

var errTooManyElements = fmt.Errorf("has more than %d elements in its lists (affected, ranges, events, versions, aliases, references and severity); divide it into several records", maxElements)
