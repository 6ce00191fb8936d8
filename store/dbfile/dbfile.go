// Package dbfile manages the files of embedded databases: only their owner may
// read them, and only one server at a time may use them.
package dbfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// mode lets only the owner read the files, because they contain keys.
const mode = 0o600

// Create creates an empty file if there is none. A file created by SQLite would be
// readable by everybody. SQLite's side files (-wal, -shm) get the mode of the file. A
// symbolic link may lead to a file that does not exist yet. The caller has the turn, because
// closing a file releases all locks that SQLite holds on it in this process.
func Create(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if _, err := os.Readlink(path); err == nil {
		path = Resolve(path)
	}
	if err := checkFolder(path); err != nil {
		return err
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if err == nil {
		err = made.Close()
	} else if errors.Is(err, fs.ErrExist) { // another process has created it
		_, err = os.Stat(path)
	}
	if err != nil {
		return fmt.Errorf("cannot create the database %s: %w", path, err)
	}
	return nil
}

// checkFolder fails if the folder of a file does not exist, which is often a typing
// error.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot create the database %s: the folder %s does not exist; create it, or correct the path", path, folder)
	}
	return nil
}

// An ExposedFile is a file that users other than its owner may read or write.
type ExposedFile struct {
	Path string
	Mode fs.FileMode
}

// FindExposed finds the exposed files of a database.
func FindExposed(path string) []ExposedFile {
	var found []ExposedFile
	for _, suffix := range sideFiles {
		if info, err := os.Stat(path + suffix); err == nil && info.Mode().Perm()&^mode != 0 {
			found = append(found, ExposedFile{path + suffix, info.Mode().Perm()})
		}
	}
	return found
}

// ErrInUse is the error for a database that another server uses.
var ErrInUse = errors.New("another server uses it")

// Acquire locks a database for one server until release is called or the process
// ends. Commands that run beside the server do not need the lock.
func Acquire(path string) (release func() error, err error) {
	path = Resolve(path) // two names of one file have one lock
	if err := checkFolder(path); err != nil {
		return nil, err
	}
	lock, err := openLock(path, lockSuffix)
	if err != nil {
		return nil, err
	}
	switch err := lockFile(lock, false); {
	case errors.Is(err, ErrInUse):
		err = fmt.Errorf("the database %s is in use: %w; stop that server first, or use PostgreSQL for several", path, err)
		return nil, errors.Join(err, lock.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot lock the database %s: %w", path, err), lock.Close())
	}
	return lock.Close, nil
}

// sideFiles are the suffixes of the files of a database: its own and those that
// SQLite adds.
var sideFiles = []string{"", "-wal", "-shm", "-journal"}

// lockSuffix is the suffix of the file that Acquire locks.
const lockSuffix = ".lock"

// lockFiles are the suffixes of the files that processes lock. They stay, because a process may wait for them.
var lockFiles = []string{lockSuffix, nextSuffix, turnSuffix}

// IsFileOf reports whether a path names a file of a database, which may not exist yet: its
// own, one that SQLite adds, or one of its locks. Both paths may contain symbolic links.
func IsFileOf(database, path string) bool {
	database, resolved := Resolve(database), Resolve(path)
	for _, suffix := range slices.Concat(sideFiles, lockFiles) {
		if database+suffix == resolved || isSame(database+suffix, path) {
			return true
		}
	}
	return false
}

// maxLinks limits how many links lead to a file, as systems do.
const maxLinks = 40

// Resolve resolves the symbolic links of a path, also if the file does not exist.
func Resolve(path string) string {
	for range maxLinks {
		if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(folder, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if err != nil { // path is no link
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// isSame reports whether two paths lead to one file, which may have several names.
func isSame(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// FindLog finds the file with changes that SQLite has not written into the database itself
// yet. It is there while a program uses the database, or if the last one was killed. SQLite
// would apply the changes to any file under the name of the database.
func FindLog(path string) (log string, found bool) {
	for _, s := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(Resolve(path) + s); err == nil {
			return path + s, true
		}
	}
	return "", false
}

// FindSuffix returns the wanted suffix, or one with a number after it, under which the
// database has no file, so that Replace overwrites nothing.
func FindSuffix(wanted, path string) string {
	isTaken := func(suffix string) bool {
		return slices.ContainsFunc(sideFiles, func(s string) bool {
			_, err := os.Lstat(path + suffix + s)
			return err == nil
		})
	}
	suffix := wanted
	for n := 2; isTaken(suffix); n++ {
		suffix = fmt.Sprintf("%s-%d", wanted, n)
	}
	return suffix
}

// Replace replaces a database by another file. Nobody may use the database in the
// meantime. The old database is kept under the returned name; it is "" if there was
// none.
func Replace(path, by, suffix string) (kept string, err error) {
	for _, s := range sideFiles {
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

// Copy copies a file into the folder of path. Only the owner may read the copy. It
// returns the name of the copy.
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
		return "", fmt.Errorf("cannot create a file in %s: %w", filepath.Dir(path), errors.Unwrap(err))
	}
	_, err = io.Copy(made, source)
	if err := errors.Join(err, made.Sync(), made.Close()); err != nil {
		return "", errors.Join(err, os.Remove(made.Name()))
	}
	return made.Name(), nil
}

// Remove removes a database that nobody else uses.
func Remove(path string) {
	for _, s := range slices.Concat(sideFiles, lockFiles) {
		_ = os.Remove(path + s)
	}
}
