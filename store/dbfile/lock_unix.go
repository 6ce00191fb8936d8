//go:build unix

package dbfile

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed.
func lockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor is small
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrInUse
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}
