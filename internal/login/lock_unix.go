//go:build unix

package login

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, and reports whether it did.
func tryLock(file *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor is small
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return err == nil, err
		}
	}
}
