//go:build unix

package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lockFile locks a file until it is unlocked or closed. It waits for others that have locked it, or fails with ErrInUse.
func lockFile(file *os.File, waits bool) error {
	how := syscall.LOCK_EX
	if !waits {
		how |= syscall.LOCK_NB
	}
	return flock(file, how)
}

func unlockFile(file *os.File) error { return flock(file, syscall.LOCK_UN) }

// flock keeps the file from being closed in the meantime, so that its descriptor stays its own.
func flock(file *os.File, how int) (err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), how); !errors.Is(err, syscall.EINTR) { //nolint:gosec // a descriptor is small
				return
			}
		}
	})
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return errors.Join(failed, err)
}

// shareOwner gives a file that root has made to the owner of another one.
func shareOwner(file *os.File, like fs.FileInfo) error {
	stat, known := like.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}

// countNames counts the hard links of a file.
func countNames(info fs.FileInfo) uint64 {
	if stat, known := info.Sys().(*syscall.Stat_t); known {
		return uint64(stat.Nlink) //nolint:unconvert // Nlink has another type on other systems
	}
	return 1
}
