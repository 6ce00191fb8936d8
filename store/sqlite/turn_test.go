//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// openImpatient opens a file with a writer that SQLite never lets wait: a statement that meets the lock of another process fails.
func openImpatient(t *testing.T, path string) *Engine {
	t.Helper()
	e, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if _, err := e.writer.ExecContext(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	return e
}

// add adds a row in a transaction that ends after hold.
func add(ctx context.Context, e *Engine, by string, hold func()) error {
	return e.Write(ctx, func(c dbconn.TxConn) error {
		defer hold()
		return c.Run(ctx, &dbconn.Statement{SQL: "INSERT INTO write (by) VALUES (?)", Args: []any{by}})
	})
}

// listWrites lists who has written, in order.
func listWrites(t *testing.T, e *Engine) (by []string) {
	t.Helper()
	err := e.Run(t.Context(), &dbconn.Statement{SQL: "SELECT by FROM write ORDER BY n", Row: func(scan func(...any) error) error {
		by = append(by, "")
		return scan(&by[len(by)-1])
	}})
	if err != nil {
		t.Fatal(err)
	}
	return by
}

// newWrites makes a database in which writes are counted.
func newWrites(t *testing.T) (path string, e *Engine) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	e = openImpatient(t, path)
	for _, sql := range []string{"CREATE TABLE goose_db_version (a)", "CREATE TABLE write (n INTEGER PRIMARY KEY, by TEXT)"} {
		if err := e.Write(t.Context(), func(c dbconn.TxConn) error { return c.Run(t.Context(), &dbconn.Statement{SQL: sql}) }); err != nil {
			t.Fatal(err)
		}
	}
	return path, e
}

// otherFile is the variable with the file for a process that otherProcess starts, and otherWrites the one with how often it writes.
const (
	otherFile   = "ATRIUM_TEST_FILE"
	otherWrites = "ATRIUM_TEST_WRITES"
)

// TestWriteAsAnotherProcess is what another process runs. It says that it writes, and waits for a line before it ends a transaction.
func TestWriteAsAnotherProcess(t *testing.T) {
	path, writes := os.Getenv(otherFile), 1
	if path == "" {
		t.Skip("this is for the tests below")
	}
	isMany, _ := fmt.Sscan(os.Getenv(otherWrites), &writes)
	lines := bufio.NewScanner(os.Stdin)
	for i := range writes {
		e := openImpatient(t, path)
		err := add(t.Context(), e, "other", func() {
			if isMany == 0 || i == 0 {
				fmt.Println("writes")
				lines.Scan()
			}
		})
		if err := errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// An otherProcess runs TestWriteAsAnotherProcess.
type otherProcess struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startOther starts another process and waits until it writes.
func startOther(t *testing.T, path, writes string) *otherProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "-test.run=^TestWriteAsAnotherProcess$", "-test.timeout=0") //nolint:gosec // this program
	command.Env = append(os.Environ(), otherFile+"="+path, otherWrites+"="+writes)
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if err := errors.Join(inErr, outErr, command.Start()); err != nil {
		t.Fatal(err)
	}
	o := &otherProcess{command, in, bufio.NewScanner(out)}
	if !o.out.Scan() || o.out.Text() != "writes" {
		t.Fatalf("the other process says %q", o.out.Text())
	}
	return o
}

// end lets the process end, and expects that it succeeds.
func (o *otherProcess) end(t *testing.T) {
	t.Helper()
	said := ""
	_, _ = io.WriteString(o.in, "end\n") // it may have ended
	for o.out.Scan() {
		said += o.out.Text() + "\n"
	}
	if err := o.Wait(); err != nil {
		t.Errorf("the other process fails: %v\n%s", err, said)
	}
}

// isWaiting reports whether callers of a process wait.
func (l *fairLock) isWaiting(callers int) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.waiting) == callers
}

// awaitQueue waits until callers of an engine wait, or one of them has ended.
func awaitQueue(e *Engine, callers int, ended <-chan error) error {
	for !e.turn.isWaiting(callers) {
		select {
		case err := <-ended:
			return fmt.Errorf("a writer did not wait for the other: %w", err)
		default:
			runtime.Gosched()
		}
	}
	return nil
}

// However long another process writes, a writer waits for it, and not for a limited time.
func TestAWriterWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	path, e := newWrites(t)
	other, ended := startOther(t, path, ""), make(chan error, 1)
	go func() { ended <- add(t.Context(), e, "this", func() {}) }()
	if err := awaitQueue(e, 1, ended); err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = awaitQueue(e, 2, nil)
		cancel()
	}()
	if err := add(ctx, e, "nobody", func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("one that gives up gets %v, want %v", err, context.Canceled)
	}
	other.end(t)
	if err := <-ended; err != nil {
		t.Errorf("the writer fails: %v", err)
	}
	if by := listWrites(t, e); !slices.Equal(by, []string{"other", "this"}) {
		t.Errorf("%v have written, want [other this]", by)
	}
}

// Another program takes no turns. A writer says that it has locked the database, in a way that lets an import try again.
func TestTheLockOfAnotherProgramIsToldFromOtherTrouble(t *testing.T) {
	t.Parallel()
	path, e := newWrites(t)
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = add(t.Context(), e, "this", func() {})
	if !errors.Is(err, core.ErrLocked) || !errors.Is(err, &core.Error{Code: core.CodeUnavailable}) {
		t.Errorf("while another program writes, a writer gets %v, want %v", err, core.ErrLocked)
	}
	if err := errors.Join(held.Rollback(), add(t.Context(), e, "this", func() {})); err != nil {
		t.Error(err)
	}
}

// A process that ends has no turn, and what it had not committed is not there.
func TestAProcessThatIsKilledDelaysNobody(t *testing.T) {
	t.Parallel()
	path, e := newWrites(t)
	// The system may end the locks of SQLite a moment after the turn of the process.
	if _, err := e.writer.ExecContext(t.Context(), "PRAGMA busy_timeout = 60000"); err != nil {
		t.Fatal(err)
	}
	other, ended := startOther(t, path, ""), make(chan error, 1)
	go func() { ended <- add(t.Context(), e, "this", func() {}) }()
	if err := awaitQueue(e, 1, ended); err != nil {
		t.Error(err)
		return
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if err := <-ended; err != nil {
		t.Errorf("the writer fails: %v", err)
	}
	if by := listWrites(t, e); !slices.Equal(by, []string{"this"}) {
		t.Errorf("%v have written, want [this]", by)
	}
}

// Processes that write, open and close the same file do not meet.
func TestManyProcessesWriteInTurns(t *testing.T) {
	t.Parallel()
	const others, writers, writes = 2, 4, 25
	path, e := newWrites(t)
	var running []*otherProcess
	for range others {
		o := startOther(t, path, fmt.Sprint(writes))
		running = append(running, o)
		if _, err := io.WriteString(o.in, "go on\n"); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range writes {
				if err := add(t.Context(), e, "this", func() {}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, o := range running {
		o.end(t)
	}
	group.Wait()
	by := listWrites(t, e)
	if n := strings.Count(strings.Join(by, " "), "other"); n != others*writes || len(by) != (others+writers)*writes {
		t.Errorf("%d of %d writes are of the others, want %d of %d", n, len(by), others*writes, (others+writers)*writes)
	}
}

// awaitNext waits until a process waits for the turn that another one has: then nobody else can take the turn after it.
func awaitNext(t *testing.T, path string) {
	t.Helper()
	for {
		next, err := os.OpenFile(path+".next", os.O_RDWR, 0)
		if err == nil {
			err = syscall.Flock(int(next.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			_ = next.Close()
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		runtime.Gosched()
	}
}

// The writers that wait when the turn of their process comes have it together, and those that come later have the turn after that
// of another process.
func TestProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	path, first := newWrites(t)
	second := openImpatient(t, path)
	ended := make(chan error, 10)
	var group sync.WaitGroup
	start := func(e *Engine, by string, hold func()) {
		group.Go(func() {
			if err := add(t.Context(), e, by, hold); err != nil {
				t.Errorf("%s: %v", by, err)
				ended <- err
			}
		})
	}
	held := make(chan struct{})
	start(first, "1a", func() {
		close(held)
		for i, by := range []string{"1b", "1c", "1d"} {
			start(first, by, func() {})
			_ = awaitQueue(first, i+1, ended)
		}
		start(second, "2a", func() {
			awaitNext(t, path) // the first process waits
			start(second, "2b", func() {})
			_ = awaitQueue(second, 1, ended)
		})
		awaitNext(t, path)
	})
	<-held
	group.Wait()
	if by := listWrites(t, first); !slices.Equal(by, []string{"1a", "2a", "1b", "1c", "1d", "2b"}) {
		t.Errorf("they write in the order %v, want 1a 2a 1b 1c 1d 2b", by)
	}
}
