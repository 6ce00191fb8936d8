package core

import (
	"context"
	"errors"
	"sync"
)

// Precedence lets the background work of organizations give way to callers. Both take the same lock of the database, and the
// background has it for as many round trips as its transaction has, which on a far database is a second. So a caller ends that
// transaction, and no other begins before the caller has had the lock. What was ended is done again. Other processes do not hear of it.
type Precedence struct {
	mu    sync.Mutex
	roots map[UID]*rootPrecedence
}

// A rootPrecedence is that of an organization.
type rootPrecedence struct {
	callers int                                         // that have the lock or wait for it
	running map[context.Context]context.CancelCauseFunc // transactions of the background, by their contexts
	ended   int                                         // that callers have ended, or kept from beginning, one after the other
}

// MaxEndedTurns is how many transactions of the background callers may end one after the other. The next one is not ended, so that
// the work is done however many callers there are.
const MaxEndedTurns = 5

// errGaveWay says that a transaction of the background was ended for a caller.
var errGaveWay = errors.New("the background gives way to a caller")

// Take lets the background give way to a caller in organizations, until release is called.
func (p *Precedence) Take(roots ...UID) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, root := range roots {
		is := p.precedenceIn(root)
		is.callers++
		if is.ended >= MaxEndedTurns {
			continue
		}
		for _, end := range is.running {
			end(errGaveWay)
		}
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, root := range roots {
			p.precedenceIn(root).callers--
			p.forget(root)
		}
	}
}

// Run runs a transaction of the background, unless it must give way to callers. isLast says that callers do not end it, so that it
// should be short. gaveWay reports that it was not run, or was ended.
func (p *Precedence) Run(ctx context.Context, root UID, unit func(ctx context.Context, isLast bool) error) (gaveWay bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	isLast, ok := p.begin(ctx, root, cancel)
	if !ok {
		return true, nil
	}
	err = unit(ctx, isLast)
	gaveWay = err != nil && errors.Is(context.Cause(ctx), errGaveWay)
	p.mu.Lock()
	defer p.mu.Unlock()
	is := p.precedenceIn(root)
	if delete(is.running, ctx); gaveWay {
		is.ended++
		return true, nil
	}
	is.ended = 0
	p.forget(root)
	return false, err
}

// begin reports whether callers let a transaction of the background begin.
func (p *Precedence) begin(ctx context.Context, root UID, cancel context.CancelCauseFunc) (isLast, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := p.precedenceIn(root)
	if isLast = is.ended >= MaxEndedTurns; is.callers > 0 && !isLast {
		is.ended++
		return false, false
	}
	is.running[ctx] = cancel
	return isLast, true
}

// precedenceIn returns the precedence of an organization. The lock must be held.
func (p *Precedence) precedenceIn(root UID) *rootPrecedence {
	if p.roots == nil {
		p.roots = map[UID]*rootPrecedence{}
	}
	if p.roots[root] == nil {
		p.roots[root] = &rootPrecedence{running: map[context.Context]context.CancelCauseFunc{}}
	}
	return p.roots[root]
}

// forget forgets the precedence of an organization if nothing is known of it. The lock must be held.
func (p *Precedence) forget(root UID) {
	if is := p.precedenceIn(root); is.callers == 0 && len(is.running) == 0 && is.ended == 0 {
		delete(p.roots, root)
	}
}
