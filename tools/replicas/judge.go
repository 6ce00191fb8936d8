package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// model is a register for each key: a read returns what was written last.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[int][]porcupine.Operation{}
		for _, operation := range history {
			key := operation.Input.(access).key
			byKey[key] = append(byKey[key], operation)
		}
		parts := make([][]porcupine.Operation, 0, len(byKey))
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		in := input.(access)
		if in.write {
			return true, in.value
		}
		return state == output, state
	},
}

// countStale counts the reads that miss a write which was acknowledged before they began.
func countStale(history []porcupine.Operation) (stale int) {
	writes := map[int]map[string]porcupine.Operation{}
	for _, o := range history {
		if in := o.Input.(access); in.write {
			if writes[in.key] == nil {
				writes[in.key] = map[string]porcupine.Operation{"": {}}
			}
			writes[in.key][in.value] = o
		}
	}
	for _, o := range history {
		in := o.Input.(access)
		if in.write {
			continue
		}
		seen, known := writes[in.key][o.Output.(string)]
		for _, later := range writes[in.key] {
			if !known || seen.Return < later.Call && later.Return < o.Call {
				stale++
				break
			}
		}
	}
	return stale
}

// dropOverlapping drops the reads during which their register is written. A standby can
// show a write before the primary acknowledges it, and the primary then does not show it
// yet; the first read then is not before the second.
func dropOverlapping(history []porcupine.Operation) (kept []porcupine.Operation) {
	writes := map[int][]porcupine.Operation{}
	for _, o := range history {
		if in := o.Input.(access); in.write {
			writes[in.key] = append(writes[in.key], o)
		}
	}
	for _, o := range history {
		in := o.Input.(access)
		overlaps := func(w porcupine.Operation) bool { return w.Call <= o.Return && o.Call <= w.Return }
		if in.write || !slices.ContainsFunc(writes[in.key], overlaps) {
			kept = append(kept, o)
		}
	}
	return kept
}

const patience = 5 * time.Minute

// judge lets porcupine judge the history.
func (w *world) judge(context.Context) error {
	standby, primary, reasons, err := w.reads()
	if err != nil {
		return err
	}
	faults := w.judgeHistory()
	fmt.Printf("%-48s %6d by standbys, %d by the primary %v\n", "reads", standby, primary, reasons)
	registered, rights, own := w.split()
	fmt.Printf("%-48s %6d operations: %s\n", "what callers read, before writes are acknowledged", len(registered), porcupine.CheckOperationsTimeout(model, registered, patience))
	careless := porcupine.CheckOperationsTimeout(model, append(own, w.careless...), patience)
	fmt.Printf("%-48s %6d operations: %s\n", "reads from a standby without Atrium", len(w.careless), careless)
	for failure, n := range w.interrupted {
		fmt.Printf("failed %d times: %s\n", n, failure)
	}
	delete(w.interrupted, errBusy.Error()) // a slow machine refuses a few requests, which were sent again
	switch {
	case careless != porcupine.Illegal:
		faults = append(faults, "reads from a standby without Atrium are not stale: the load shows nothing")
	case standby < primary/4 || standby == 0:
		faults = append(faults, "the standbys answered too little: the load shows little")
	case len(rights) < 20 || len(registered) < 200 || w.walks == 0:
		faults = append(faults, "there was too little load")
	case len(w.interrupted) > 0:
		faults = append(faults, "requests failed")
	}
	return joinFaults(faults)
}

func joinFaults(faults []string) error {
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// split returns the operations of registers, those of the right, and the writes of the
// first register.
func (w *world) split() (registered, rights, own []porcupine.Operation) {
	for _, operation := range w.history {
		in := operation.Input.(access)
		if in.key == rightKey {
			rights = append(rights, operation)
			continue
		}
		registered = append(registered, operation)
		if in.key == 0 && in.write {
			own = append(own, operation)
		}
	}
	return registered, rights, own
}

// judgeHistory returns what is wrong in the answers of the processes.
func (w *world) judgeHistory() (faults []string) {
	registered, rights, _ := w.split()
	judge := func(what string, history []porcupine.Operation) {
		found := porcupine.CheckOperationsTimeout(model, history, patience)
		fmt.Printf("%-48s %6d operations: %s\n", what, len(history), found)
		if found != porcupine.Ok {
			faults = append(faults, what+" is not linearizable")
		}
	}
	stale := countStale(registered)
	fmt.Printf("%-48s %6d operations: %d stale\n", "what callers read", len(registered), stale)
	if stale > 0 {
		faults = append(faults, "reads miss acknowledged writes")
	}
	judge("what callers read beside no write", dropOverlapping(registered))
	judge("what a caller may do", rights)
	fmt.Printf("%-48s %6d lists of %d pages: %d rows repeated or lost\n", "rows that were there throughout", w.walks, (stable+registers+pageSize-1)/pageSize, len(w.wrong))
	if len(w.wrong) > 0 {
		faults = append(faults, "pages repeat or lose rows: "+w.wrong[0])
	}
	for failure, n := range w.failures {
		fmt.Printf("failed %d times: %s\n", n, failure)
		faults = append(faults, "requests failed: "+failure)
	}
	return faults
}
