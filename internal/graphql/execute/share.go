package execute

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// equalOperations identifies the operations that have the same data for an event: those of one
// document, with equal variables.
type equalOperations struct {
	plan      *plan
	variables string
}

func newEqualOperations(p *plan, operation *graphql.OperationContext) equalOperations {
	variables, _ := json.Marshal(operation.Variables) // they were decoded from JSON
	return equalOperations{p, string(variables)}
}

// maxSharedBytes limits data that is kept for other subscriptions, because no budget counts it.
const maxSharedBytes = 4 << 10

// sharedData is the data of the responses of equal operations to an event.
type sharedData struct {
	lock sync.Mutex
	data []byte // nil until it is known
}

// get returns the data, which the first caller computes while others wait. Data is not kept if there
// are errors, which belong to one response, or if the client of ctx has left.
func (s *sharedData) get(ctx context.Context, compute func() []byte) []byte {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.data != nil {
		return s.data
	}
	data := compute()
	if len(data) <= maxSharedBytes && ctx.Err() == nil && graphql.GetErrors(ctx) == nil {
		s.data = data
	}
	return data
}
