// Package dbfile looks after the files of embedded databases: only their owner
// may read them, and one server at a time uses them.
package dbfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// mode lets only the owner read: the files hold keys.
const mode = 0o600

// Create makes an empty file where there is none. SQLite would let everybody
// read a file that it makes; the files that it puts beside one (-wal, -shm) get
// the mode of that one.
func Create(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := checkFolder(path); err != nil {
		return err
	}
	// The file is made under another name and closed first: closing a file ends
	// all locks that SQLite holds on it in this process.
	made, err := os.CreateTemp(filepath.Dir(path), ".new-*.db") // with mode 0600
	if err != nil {
		return fmt.Errorf("the database %s cannot be made: %w", path, err)
	}
	defer func() { _ = os.Remove(made.Name()) }()
	err = errors.Join(made.Chmod(mode), made.Close())
	if err == nil {
		err = os.Link(made.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the database %s cannot be made: %w", path, err)
	}
	return nil
}

// checkFolder says so where the folder of a file is missing, which is most often
// mistyped.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the database %s cannot be made: there is no folder %s", path, folder)
	}
	return nil
}

// An Exposed is a file that others than its owner may read or write.
type Exposed struct {
	Path string
	Mode fs.FileMode
}

// FindExposed finds those among the files of a database.
func FindExposed(path string) []Exposed {
	var found []Exposed
	for _, suffix := range beside {
		if info, err := os.Stat(path + suffix); err == nil && info.Mode().Perm()&^mode != 0 {
			found = append(found, Exposed{path + suffix, info.Mode().Perm()})
		}
	}
	return found
}

// ErrTaken says that another server uses a database.
var ErrTaken = errors.New("another server uses it")

// Take takes a database for one server, until release is called or the process
// ends. Commands beside the server need not take it.
func Take(path string) (release func() error, err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // two names of one file have one lock
	}
	if err := checkFolder(path); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, mode)
	if err != nil {
		return nil, fmt.Errorf("the database %s cannot be locked: %w", path, err)
	}
	switch err := lockFile(lock); {
	case errors.Is(err, ErrTaken):
		err = fmt.Errorf("the database %s is in use: %w; stop that server first, or use PostgreSQL for several", path, err)
		return nil, errors.Join(err, lock.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("the database %s cannot be locked: %w", path, err), lock.Close())
	}
	return lock.Close, nil
}

// beside are the files that SQLite puts beside one.
var beside = []string{"", "-wal", "-shm", "-journal"}

// Replace puts another file in the place of a database, which nobody may use
// meanwhile. What was there is kept under the name that Replace gives; "" where
// nothing was.
func Replace(path, by, suffix string) (kept string, err error) {
	for _, s := range beside {
		old := path + s
		if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(old, path+suffix+s); err != nil {
			return kept, err
		}
		if s == "" {
			kept = path + suffix
		}
	}
	return kept, os.Rename(by, path)
}

// SetAside renames a database that is not wanted any more; nothing happens where
// there is none.
func SetAside(path, suffix string) error {
	for _, s := range beside {
		if err := os.Rename(path+s, path+suffix+s); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Copy makes a copy beside path of a file elsewhere, which only its owner may
// read, and gives its name.
func Copy(from, path string) (copied string, err error) {
	source, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer source.Close()
	if err := checkFolder(path); err != nil {
		return "", err
	}
	made, err := os.CreateTemp(filepath.Dir(path), ".restore-*.db")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(made, source)
	if err := errors.Join(err, made.Sync(), made.Close()); err != nil {
		return "", errors.Join(err, os.Remove(made.Name()))
	}
	return made.Name(), nil
}

// Remove removes a database.
func Remove(path string) {
	for _, s := range beside {
		_ = os.Remove(path + s)
	}
}
