package main

import (
	"context"
	"errors"
	"fmt"
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

const patience = 5 * time.Minute

// judge lets porcupine judge the history.
func (w *world) judge(context.Context) error {
	standby, primary, reasons, err := w.reads()
	if err != nil {
		return err
	}
	var registered, rights, own []porcupine.Operation
	for _, operation := range w.history {
		switch in := operation.Input.(access); {
		case in.key == rightKey:
			rights = append(rights, operation)
		default:
			registered = append(registered, operation)
			if in.key == 0 && in.write {
				own = append(own, operation)
			}
		}
	}
	var faults []string
	judge := func(what string, history []porcupine.Operation) {
		found := porcupine.CheckOperationsTimeout(model, history, patience)
		fmt.Printf("%-48s %6d operations: %s\n", what, len(history), found)
		if found != porcupine.Ok {
			faults = append(faults, what+" is not linearizable")
		}
	}
	judge("what callers read", registered)
	judge("what a caller may do", rights)
	fmt.Printf("%-48s %6d lists of %d pages: %d rows repeated or lost\n", "rows that were there throughout", w.walks, (stable+registers+pageSize-1)/pageSize, len(w.wrong))
	fmt.Printf("%-48s %6d by standbys, %d by the primary %v\n", "reads", standby, primary, reasons)
	careless := porcupine.CheckOperationsTimeout(model, append(own, w.careless...), patience)
	fmt.Printf("%-48s %6d operations: %s\n", "reads from a standby without Atrium", len(w.careless), careless)
	for failure, n := range w.failures {
		fmt.Printf("failed %d times: %s\n", n, failure)
	}
	if len(w.wrong) > 0 {
		faults = append(faults, "pages repeat or lose rows: "+w.wrong[0])
	}
	switch {
	case careless != porcupine.Illegal:
		faults = append(faults, "reads from a standby without Atrium are not stale: the load shows nothing")
	case standby < primary/4 || standby == 0:
		faults = append(faults, "the standbys answered too little: the load shows little")
	case len(rights) < 20 || len(registered) < 200 || w.walks == 0:
		faults = append(faults, "there was too little load")
	case len(w.failures) > 0:
		faults = append(faults, "requests failed")
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}
