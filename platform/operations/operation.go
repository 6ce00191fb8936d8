package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
)

// An Operation is work that goes on after its request was answered.
type Operation struct {
	UID        core.UID        `json:"uid"` // below the group that it is about
	Kind       string          `json:"kind"`
	State      OperationState  `json:"state"`
	Done       bool            `json:"done"`
	Records    int             `json:"records"`         // that were done so far
	Progress   int             `json:"progressPercent"` // of what is to be done; 100 when it has ended well
	Response   json.RawMessage `json:"response,omitempty"`
	Error      *OperationError `json:"error,omitempty"`
	Creator    string          `json:"creator"`
	CreateTime core.Time       `json:"createTime"`
	UpdateTime core.Time       `json:"updateTime"`
	EndTime    core.Time       `json:"endTime,omitzero"`
	ExpireTime core.Time       `json:"expireTime"` // when it is forgotten
}

// An OperationError says why an operation has failed.
type OperationError struct {
	Code    core.Code `json:"code"`
	Message string    `json:"message"`
}

// Number returns the code as a number.
func (e *OperationError) Number() int { return int(e.Code) }

// UpdateFindings is the kind of decisions about findings. Other operations are imports.
const UpdateFindings = "update/findings"

// Capabilities of which a caller needs one to see and to cancel operations.
var (
	importCapabilities   = []core.Capability{core.CapSBOMsImport, core.CapVEXImport, core.CapAdvisoriesImport, core.CapRegistryImport}
	decisionCapabilities = []core.Capability{core.CapFindingsUpdate}
)

func (o *Operation) capabilities() []core.Capability {
	if o.Kind == UpdateFindings {
		return decisionCapabilities
	}
	return importCapabilities
}

// An OperationState is the state of an operation.
type OperationState string

// The states of an operation.
const (
	Running   OperationState = "OPERATION_STATE_RUNNING"
	Succeeded OperationState = "OPERATION_STATE_SUCCEEDED"
	Failed    OperationState = "OPERATION_STATE_FAILED"
	Cancelled OperationState = "OPERATION_STATE_CANCELLED"
)

// Values lists the states.
func (OperationState) Values() []string {
	return []string{string(Running), string(Succeeded), string(Failed), string(Cancelled)}
}

const (
	// keptFor is how long an operation can be read.
	keptFor = 24 * time.Hour
	// beat is how often a process says that it works on an operation, and looks whether it was cancelled. An operation of which
	// nobody says so for lostAfter was lost with its process.
	beat      = 2 * time.Second
	lostAfter = 30 * time.Second
	// maxStarted is how many operations Start lets run in an organization at once. Each keeps a goroutine, and the records that it was asked for.
	maxStarted = 10
)

// Queries read and write operations.
type Queries interface {
	// PutOperation stores a new operation, and forgets those whose time is over.
	PutOperation(ctx context.Context, tx core.Tx, o *Operation) error

	// Operation reads an operation, or nil if there is none.
	Operation(ctx context.Context, on core.Conn, uid core.UID) (*Operation, error)

	// UpdateOperation writes an operation that has not ended, and returns whether it was asked to stop. isRunning is false if it has ended
	// already, and then nothing is written.
	UpdateOperation(ctx context.Context, tx core.Tx, o *Operation) (isCancelled, isRunning bool, err error)

	// CancelOperation asks an operation to stop.
	CancelOperation(ctx context.Context, tx core.Tx, uid core.UID) error
}

// Operations are the operations on operations.
type Operations struct {
	core    *core.Core
	queries Queries
	running *running
}

// running has what stops the operations of this process.
type running struct {
	sync.Mutex
	stop    map[core.UID]context.CancelCauseFunc
	started map[core.UID]int // by organization
}

// New returns the operations.
func New(c *core.Core, queries Queries) Operations {
	return Operations{c, queries, &running{stop: map[core.UID]context.CancelCauseFunc{}, started: map[core.UID]int{}}}
}

// A Work is what an operation does. It may call progress at any time.
type Work func(ctx context.Context, progress func(records, percent int)) (response any, err error)

// Start begins an operation about a group or a repo, which goes on in the background for its caller. The caller must have been authorized for
// its work. It returns nil if the caller asks for nothing but a check.
func (s Operations) Start(ctx context.Context, kind string, on core.UID, work Work) (*Operation, error) {
	if err := core.Prove(ctx); err != nil {
		return nil, err
	}
	end, err := s.running.enter(on.Root())
	if err != nil {
		return nil, err
	}
	o, err := s.Begin(ctx, kind, on)
	if err != nil || core.OnlyValidates(ctx) {
		end()
		return nil, err
	}
	caller := *core.ActorOf(ctx)
	caller.Prover = nil
	shown := *o // Run does not change what the caller has.
	go func() {
		defer end()
		s.Run(core.InBackground(core.WithActor(context.Background(), &caller)), o, work)
	}()
	return &shown, nil
}

// enter counts an operation of an organization until end is called.
func (r *running) enter(root core.UID) (end func(), err error) {
	r.Lock()
	defer r.Unlock()
	if r.started[root] >= maxStarted {
		return nil, &core.Error{
			Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", RetryAfter: 5 * time.Second,
			Message: fmt.Sprintf("Resource exhausted: %d operations of the organization are running; wait until one has ended, or cancel one", maxStarted),
		}
	}
	r.started[root]++
	return func() {
		r.Lock()
		defer r.Unlock()
		if r.started[root]--; r.started[root] == 0 {
			delete(r.started, root)
		}
	}, nil
}

// Begin stores a new operation about a group or a repo. The caller must have been authorized for its work.
func (s Operations) Begin(ctx context.Context, kind string, on core.UID) (*Operation, error) {
	now := s.core.Now()
	o := &Operation{
		UID: on.NewChild(), Kind: kind, State: Running, Creator: core.ChangeActor(ctx, on).Subject,
		CreateTime: now, UpdateTime: now, ExpireTime: core.At(now.Add(keptFor)),
	}
	err := s.core.Store.Write(ctx, func(tx core.Tx) error { return s.queries.PutOperation(ctx, tx, o) })
	return o, err
}

var errCancelled = errors.New("the operation was canceled")

// Run does the work of an operation, and stores what came of it. It returns when the work has ended. ctx must outlive the request.
func (s Operations) Run(ctx context.Context, o *Operation, work Work) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.running.Lock()
	s.running.stop[o.UID] = stop
	s.running.Unlock()
	defer func() {
		s.running.Lock()
		delete(s.running.stop, o.UID)
		s.running.Unlock()
	}()
	var lock sync.Mutex // of what is shown of the operation
	shown := *o
	ended, beaten := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(beaten)
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			lock.Lock()
			now := shown
			lock.Unlock()
			if isCancelled, isRunning, err := s.save(ctx, &now); err == nil && (isCancelled || !isRunning) {
				stop(errCancelled)
			}
		}
	}()
	response, err := work(ctx, func(records, percent int) {
		lock.Lock()
		defer lock.Unlock()
		shown.Records, shown.Progress = records, min(percent, 99)
	})
	close(ended)
	<-beaten
	last := shown
	last.end(ctx, response, err)
	last.EndTime = s.core.Now()
	if last.State == Failed { // The caller sees no cause.
		s.core.Logger.Warn("an operation has failed", "operation", o.UID, "kind", o.Kind, "error", err)
	}
	if _, _, err := s.save(ctx, &last); err != nil {
		s.core.Logger.Error("the result of an operation could not be stored; it will be shown as lost", "operation", o.UID, "error", err)
	}
}

// end sets the result.
func (o *Operation) end(ctx context.Context, response any, err error) {
	if response != nil {
		o.Response, _ = json.Marshal(response) // what was done before an error counts too
	}
	o.Done = true
	switch cause := context.Cause(ctx); {
	case err == nil:
		o.State, o.Progress = Succeeded, 100
	case errors.Is(cause, errCancelled):
		o.State, o.Error = Cancelled, &OperationError{core.CodeAborted, "The operation was canceled. The records that it stored stay; send the same request again for the rest."}
	case cause != nil && !errors.Is(cause, context.DeadlineExceeded):
		o.State, o.Error = Failed, &OperationError{core.CodeUnavailable, "The server was stopped. The records that it stored stay; send the same request again for the rest."}
	default:
		shown := core.AsError(err)
		o.State, o.Error = Failed, &OperationError{shown.Code, shown.Message}
	}
}

// saveTimeout limits how long the result of an operation is tried to be stored.
const saveTimeout = 20 * time.Second

// save stores an operation, also one whose work was stopped.
func (s Operations) save(ctx context.Context, o *Operation) (isCancelled, isRunning bool, err error) {
	ctx, end := context.WithTimeout(core.WithoutActor(context.WithoutCancel(ctx)), saveTimeout)
	defer end()
	o.UpdateTime = s.core.Now()
	err = core.WritePatiently(ctx, s.core.Store, func(tx core.Tx) (err error) {
		isCancelled, isRunning, err = s.queries.UpdateOperation(ctx, tx, o)
		return err
	})
	return isCancelled, isRunning, err
}

// authorize fails unless the caller has a capability that operations need, whether there is one with the UID or not.
func authorize(ctx context.Context, uid core.UID) (*core.Actor, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	if err := core.InvalidUID("uid", uid); err != nil {
		return nil, err
	}
	if !holdsAny(actor, slices.Concat(importCapabilities, decisionCapabilities), uid) {
		return nil, actor.PermissionError(importCapabilities[0], uid)
	}
	return actor, nil
}

func holdsAny(a *core.Actor, capabilities []core.Capability, on core.UID) bool {
	return slices.ContainsFunc(capabilities, func(c core.Capability) bool { return a.Can(c, on) })
}

// ref names operations in errors.
var ref = core.Ref{Name: "Operation", Area: "operations"}

// Get reads an operation. On its group or repo, the caller needs what the operation needed itself: a capability to import, or to decide
// about findings.
func (s Operations) Get(ctx context.Context, uid core.UID) (*Operation, error) {
	actor, err := authorize(ctx, uid)
	if err != nil {
		return nil, err
	}
	o, err := s.queries.Operation(ctx, s.core.Store, uid)
	switch {
	case err != nil:
		return nil, err
	case o == nil || o.ExpireTime.Before(s.core.Now().Time):
		return nil, core.NewNotFound(ref, uid)
	case !holdsAny(actor, o.capabilities(), uid):
		return nil, actor.PermissionError(o.capabilities()[0], uid)
	case !o.Done && o.UpdateTime.Add(lostAfter).Before(s.core.Now().Time):
		o.Done, o.State = true, Failed
		o.EndTime = o.UpdateTime
		o.Error = &OperationError{core.CodeUnavailable, "The server that ran the operation stopped without a result. Each record is stored whole or not at all; send the same request again for the rest."}
	}
	return o, nil
}

// Cancel stops an operation, and returns it as it was then. One that has ended stays as it is.
func (s Operations) Cancel(ctx context.Context, uid core.UID) (*Operation, error) {
	o, err := s.Get(ctx, uid)
	if err != nil || o.Done {
		return o, err
	}
	if err := s.core.Store.Write(ctx, func(tx core.Tx) error { return s.queries.CancelOperation(ctx, tx, uid) }); err != nil {
		return nil, err
	}
	s.running.Lock()
	stop := s.running.stop[uid]
	s.running.Unlock()
	if stop != nil {
		stop(errCancelled)
	}
	return o, nil
}
