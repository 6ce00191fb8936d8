package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// A Context is a server with the token of a person there.
type Context struct {
	Name   string `json:"-"`      // name of its file
	Server string `json:"server"` // scheme and host
	Token  string `json:"token"`

	// Expires is when the token ends; zero means that it does not say so.
	Expires time.Time `json:"expires,omitzero"`

	// RefreshToken gives the next token; "" means that a new sign-in does.
	RefreshToken string `json:"refreshToken,omitempty"`

	// Provider is who gave the tokens; nil means that the token was given by hand.
	Provider *Provider `json:"provider,omitempty"`

	// Audiences are the names of the server in tokens, as it has said at the sign-in.
	Audiences []string `json:"audiences,omitempty"`
}

// A Folder has the files of contexts, which only their owner can read.
type Folder struct{ path string }

// FindFolder returns the folder of the user whose environment it is. XDG_CONFIG_HOME is for all systems.
func FindFolder(env func(name string) string) (*Folder, error) {
	parent := env("XDG_CONFIG_HOME")
	switch home := env("HOME"); {
	case parent != "" && !filepath.IsAbs(parent):
		return nil, errors.New("the path in $XDG_CONFIG_HOME must be absolute")
	case parent != "":
	case runtime.GOOS == "windows":
		parent = env("AppData")
	case runtime.GOOS == "darwin" && home != "":
		parent = filepath.Join(home, "Library", "Application Support")
	case home != "":
		parent = filepath.Join(home, ".config")
	}
	if parent == "" {
		return nil, errors.New("there is no folder for contexts: set $XDG_CONFIG_HOME or $HOME")
	}
	return &Folder{filepath.Join(parent, "atrium", "contexts")}, nil
}

const (
	extension   = ".json"
	currentFile = "current"
	lockFile    = "lock"

	// maxFileBytes is much more than two tokens.
	maxFileBytes = 256 << 10
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName fails for a text that cannot be the name of a context.
func CheckName(name string) error {
	if !namePattern.MatchString(name) || strings.HasSuffix(name, extension) {
		return errors.New("must be a name of letters, digits, dots, dashes and underscores, at most 100")
	}
	return nil
}

// NameOf returns the name of a context that has none yet: the host of its server.
func NameOf(server *url.URL) string {
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9.-]+`).ReplaceAllString(server.Host, "_"), "_.-")
	return strings.TrimSuffix(name[:min(len(name), 100)], extension)
}

// ErrNoContext is the error for a name that no context has.
var ErrNoContext = errors.New("there is no such context; `atrium context list` prints all")

// Load reads a context.
func (f *Folder) Load(name string) (*Context, error) {
	if CheckName(name) != nil {
		return nil, ErrNoContext
	}
	text, err := f.read(name + extension)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoContext
	}
	if err != nil {
		return nil, err
	}
	c := &Context{Name: name}
	if err := json.Unmarshal(text, c); err != nil || c.Server == "" || c.Token == "" {
		return nil, fmt.Errorf("%s is damaged; remove it, and sign in again", filepath.Join(f.path, name+extension))
	}
	return c, nil
}

// Current returns the name of the current context; "" means none.
func (f *Folder) Current() (string, error) {
	name, err := f.read(currentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(name)), err
}

// List returns the names of all contexts, sorted.
func (f *Folder) List() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		if name, found := strings.CutSuffix(entry.Name(), extension); found && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// Use makes a context the current one.
func (f *Folder) Use(name string) error {
	if _, err := f.Load(name); err != nil {
		return err
	}
	return f.write(currentFile, []byte(name+"\n"))
}

// Save stores a context, and makes it the current one.
func (f *Folder) Save(ctx context.Context, c *Context) error {
	return f.withLock(ctx, func() error {
		if err := f.store(c); err != nil {
			return err
		}
		return f.write(currentFile, []byte(c.Name+"\n"))
	})
}

// Remove forgets a context.
func (f *Folder) Remove(ctx context.Context, name string) error {
	if CheckName(name) != nil {
		return ErrNoContext
	}
	return f.withLock(ctx, func() error {
		err := os.Remove(filepath.Join(f.path, name+extension))
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNoContext
		}
		if current, _ := f.Current(); err == nil && current == name {
			err = os.Remove(filepath.Join(f.path, currentFile))
		}
		return err
	})
}

func (f *Folder) store(c *Context) error {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ") //nolint:gosec // the file is for its secrets
	if err != nil {
		return err
	}
	return f.write(c.Name+extension, append(text, '\n'))
}

// read reads a file that only its owner can read, in a folder that only its owner can write.
func (f *Folder) read(name string) ([]byte, error) {
	path := filepath.Join(f.path, name)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := errors.Join(f.check(), checkMode(file, path)); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxFileBytes))
}

const (
	othersRead  fs.FileMode = 0o077
	othersWrite fs.FileMode = 0o022
)

// check fails if others can put files into the folder.
func (f *Folder) check() error {
	info, err := os.Stat(f.path)
	if err == nil && runtime.GOOS != "windows" && info.Mode()&othersWrite != 0 { // Windows has no such bits, and a profile is for its user.
		return fmt.Errorf("others can write into %s; run `chmod 700 %[1]s`, and sign in again", f.path)
	}
	return err
}

func checkMode(file *os.File, path string) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode()&othersRead != 0:
		return fmt.Errorf("others can read %s, which has tokens; run `chmod 600 %[1]s`, and sign in again, because they may have read it", path)
	}
	return nil
}

// write replaces a file in one step, so that no reader sees half of it.
func (f *Folder) write(name string, text []byte) error {
	if err := f.make(); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.path, "."+name+"-*") // which only its owner can read
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.path, name))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // The error that counts is there.
	}
	return err
}

func (f *Folder) make() error {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	return f.check()
}

// lockEvery is how often a process asks for the lock that another one has.
const lockEvery = 50 * time.Millisecond

// withLock calls do while no other process does.
func (f *Folder) withLock(ctx context.Context, do func() error) error {
	if err := f.make(); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(f.path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() // which unlocks it
	for {
		locked, err := tryLock(file)
		if err != nil {
			return err
		}
		if locked {
			return do()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockEvery):
		}
	}
}
