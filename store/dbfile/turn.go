package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Turn orders the processes that write to a database. A process ends its turn also by its own end. SQLite has locks too, but a
// process that waits for them only looks from time to time whether they are free, and gives up if it never sees that.
//
// The process that has the turn has locked the file turn, and the one that has it next has locked the file next. Who wants another
// turn must lock next first, so that nobody has two turns while another process waits.
type Turn struct{ next, turn *os.File }

// The suffixes of the files of a Turn.
const (
	nextSuffix = ".next"
	turnSuffix = ".turn"
)

// NewTurn returns the turn of a database, whose folder must exist. The caller must close it.
func NewTurn(path string) (*Turn, error) {
	path = Resolve(path) // two names of one file have one turn
	if err := checkFolder(path); err != nil {
		return nil, err
	}
	next, err := openLock(path, nextSuffix)
	if err != nil {
		return nil, err
	}
	turn, err := openLock(path, turnSuffix)
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return &Turn{next, turn}, nil
}

// Try takes the turn if no process has it or waits for it.
func (t *Turn) Try() (taken bool, err error) {
	if err = t.take(false); errors.Is(err, ErrInUse) {
		return false, nil
	}
	return err == nil, err
}

// Wait takes the turn when it comes.
func (t *Turn) Wait() error { return t.take(true) }

func (t *Turn) take(waits bool) error {
	if err := lockFile(t.next, waits); err != nil {
		return err
	}
	return errors.Join(lockFile(t.turn, waits), unlockFile(t.next))
}

// Pass ends the turn.
func (t *Turn) Pass() error { return unlockFile(t.turn) }

// Close closes the files, which ends the turn.
func (t *Turn) Close() error { return errors.Join(t.turn.Close(), t.next.Close()) }

// openLock opens a file beside a database that processes lock. It is for all who may use the database, as the other files that
// SQLite makes beside it.
func openLock(path, suffix string) (*os.File, error) {
	file, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if err == nil {
		if database, missing := os.Stat(path); missing == nil && database.Mode().IsRegular() {
			err = errors.Join(file.Chmod(database.Mode().Perm()), shareOwner(file, database))
		}
	} else if errors.Is(err, fs.ErrExist) {
		file, err = os.OpenFile(path+suffix, os.O_RDWR, mode)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock the database %s: %w", path, err)
	}
	return file, nil
}
