package dbconn

import (
	"context"
	"errors"
	"iter"
	"slices"
)

// A togetherCall is a function that runs in a transaction together with others.
type togetherCall struct {
	wait    func(*waitingCall) bool
	isEnded bool // whoever has kept its context runs alone from now on
}

// A waitingCall is such a function while it waits for the results of statements.
type waitingCall struct {
	statements []*Statement
	err        error
}

type togetherKey struct{}

var errStopped = errors.New("another function of the transaction has panicked")

// RunTogether runs functions that do not depend on one another's results, with contexts for their statements. They
// are coroutines: when each of them waits for statements or has ended, the statements are sent in one round
// trip, in the order of the functions. The error is that of the first function that fails, in this order.
func (t *Tx) RunTogether(ctx context.Context, functions ...func(context.Context) error) error {
	errs := make([]error, len(functions))
	running := make([]func() (*waitingCall, bool), len(functions))
	for i, function := range functions {
		next, stop := iter.Pull(func(wait func(*waitingCall) bool) {
			call := &togetherCall{wait: wait}
			errs[i] = function(context.WithValue(ctx, togetherKey{}, call))
			call.isEnded = true
		})
		defer stop()
		running[i] = next
	}
	for {
		var waiting []*waitingCall
		var statements []*Statement
		running = slices.DeleteFunc(running, func(next func() (*waitingCall, bool)) bool {
			w, waits := next()
			if waits {
				waiting, statements = append(waiting, w), append(statements, w.statements...)
			}
			return !waits
		})
		if len(waiting) == 0 {
			break
		}
		err := t.Run(ctx, statements...)
		for _, w := range waiting {
			if len(listUndone(w.statements)) > 0 {
				w.err = err
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// waitTogether waits for statements if ctx is that of a function that runs together with others.
func waitTogether(ctx context.Context, statements []*Statement) (isTogether bool, _ error) {
	call, _ := ctx.Value(togetherKey{}).(*togetherCall)
	if call == nil || call.isEnded {
		return false, nil
	}
	w := &waitingCall{statements: statements}
	if !call.wait(w) {
		return true, errStopped
	}
	return true, w.err
}
