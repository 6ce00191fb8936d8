package cases

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"atrium/internal/agreement"
	"atrium/internal/apierror"
	"atrium/internal/auth"
	"atrium/internal/graphql"
	"atrium/internal/graphql/transport"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/resolvers"
)

// Every document of the cases gets the same answer from gqlgen's executor, the oracle.
// Queries are sent to it as well, on the same database. The rows of mutations run once
// more with other resources. A build without the oracle compares nothing.
func TestTheExecutorsAreCompared(t *testing.T) {
	t.Parallel()
	if why := agreement.Missing(); why != "" {
		t.Skip(why)
	}
}

const requestID = "request-of-a-case"

// notExecuted is the status of the oracle for requests whose token is refused.
const notExecuted = 599

// newOracle returns the GraphQL endpoint of the program with gqlgen's executor, or nil if the
// build lacks it.
func newOracle(p *platform.Platform, issuer *auth.Issuer) http.Handler {
	if agreement.Missing() != "" {
		return nil
	}
	presenter := &resolvers.Presenter{
		Errors:    apierror.Errors{ServiceDomain: strings.TrimPrefix(serviceDomain, ".")},
		RequestID: func(context.Context) string { return requestID },
	}
	endpoint := graphql.New(agreement.NewOracle(resolvers.Connect(p)), graphql.Options{
		Settings: graphql.DefaultSettings(), Schema: resolvers.Limits(), Budget: resolvers.Budget{}, CheckJSON: fieldmask.CheckJSON,
		Present: presenter.Present, ReadSDL: func(context.Context) error { return nil },
		Identify: func(ctx context.Context) transport.Caller {
			if actor := core.ActorOf(ctx); actor != nil {
				return transport.Caller{Key: actor.Key(), Expires: actor.Expires}
			}
			return transport.Caller{}
		},
	})
	verifier := auth.New(auth.Options{Directory: p, Audience: []string{audience}, Development: issuer})
	return auth.Middleware(verifier, func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(notExecuted) })(endpoint)
}

// send returns the answer of a handler to a document.
func send(handler http.Handler, token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", requestID)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// disagreement describes how the answer of the oracle to a query differs. Other cases
// change the same database, so it counts only if it occurs several times in a row, while
// our answer stays the same.
func (p graphQL) disagreement(token, body string, w *httptest.ResponseRecorder) string {
	for same := 0; p.oracle != nil; same++ {
		wanted := send(p.oracle, token, body)
		difference := agreement.Difference(w.Body.Bytes(), wanted.Body.Bytes())
		switch {
		case difference == "" || wanted.Code == notExecuted:
			return ""
		case same == 5:
			return "the executors do not agree on " + body + "\n" + difference
		}
		before := w
		if w = send(p.handler, token, body); agreement.Difference(before.Body.Bytes(), w.Body.Bytes()) != "" {
			same = 0
		}
	}
	return ""
}

// runByOracle runs the row of a mutation with gqlgen's executor. The answer must be the one
// that ours gave.
func (r row) runByOracle(t *testing.T, k *kind, in *env, p graphQL, tested answer) {
	t.Helper()
	p.handler = p.oracle
	e := in.forTest(t)
	for _, c := range r.setup {
		e.mustCall(e.fillCall(c))
	}
	c := e.fillCall(r.do)
	got := p.do(e.token, c)
	e.check(k, c, got, e.expectation(p, c, r.want, r.instead))
	ours := string(agreement.Mask([]byte(tested.raw)))
	wanted := withNumbersOf(ours, string(agreement.Mask([]byte(got.raw))))
	if difference := agreement.Difference([]byte(ours), []byte(wanted)); difference != "" {
		e.Errorf("the executors do not agree on %s\n%s", asJSON(c.fields), difference)
	}
}

var number = regexp.MustCompile(`\d+`)

// withNumbersOf replaces the numbers in b by those in a, because a case makes its names
// unique with numbers. The same number must always become the same one, unless both have it,
// such as the limit of the cost.
func withNumbersOf(a, b string) string {
	numbersOfA, i := number.FindAllString(a, -1), -1
	replaced := map[string]string{}
	return number.ReplaceAllStringFunc(b, func(n string) string {
		if i++; i >= len(numbersOfA) || numbersOfA[i] == n {
			return n
		}
		if replaced[n] == "" {
			replaced[n] = numbersOfA[i]
		}
		return replaced[n]
	})
}
