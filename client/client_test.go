package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/gen/platform/iam/v2/iamv2connect"
)

// groups is a service whose answers the test decides. It keeps the requests.
type groups struct {
	iamv2connect.UnimplementedGroupsServiceHandler
	answers  []error // The first calls answer with these errors; later calls succeed.
	tokens   []string
	requests []*iamv2.ListGroupsRequest
}

func (g *groups) answer(ctx context.Context) (err error) {
	call, _ := connect.CallInfoForHandlerContext(ctx)
	g.tokens = append(g.tokens, call.RequestHeader().Get("Authorization"))
	if len(g.answers) > 0 {
		err, g.answers = g.answers[0], g.answers[1:]
	}
	return err
}

func (g *groups) DeleteGroup(ctx context.Context, _ *iamv2.DeleteGroupRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, g.answer(ctx)
}

func (g *groups) ListGroups(ctx context.Context, r *iamv2.ListGroupsRequest) (*iamv2.ListGroupsResponse, error) {
	g.requests = append(g.requests, r)
	next := map[string]string{"": "2", "2": "3"}[r.GetPageToken()]
	return &iamv2.ListGroupsResponse{Groups: []*iamv2.Group{{Name: "a" + r.GetPageToken()}, {Name: "b" + r.GetPageToken()}}, NextPageToken: next}, g.answer(ctx)
}

// connectTo returns a client of a service, and the pauses between its retries.
func connectTo(t *testing.T, g *groups, o Options) (c *Client, pauses *[]time.Duration) {
	t.Helper()
	_, handler := iamv2connect.NewGroupsServiceHandler(g)
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	pauses = &[]time.Duration{}
	if o.sleep == nil {
		o.sleep = func(_ context.Context, d time.Duration) error {
			*pauses = append(*pauses, d)
			return nil
		}
	}
	c, err := New(server.URL+"/", o)
	if err != nil {
		t.Fatal(err)
	}
	return c, pauses
}

func unavailable(retryAfter time.Duration) error {
	return withRetryInfo(connect.CodeUnavailable, retryAfter)
}

func withRetryInfo(code connect.Code, retryAfter time.Duration) error {
	e := connect.NewError(code, errors.New("not now"))
	if d, err := connect.NewErrorDetail(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)}); err == nil {
		e.AddDetail(d)
	}
	return e
}

func TestCallsThatTheServerHasNotBegunAreRetried(t *testing.T) {
	t.Parallel()
	away, limited := unavailable(0), withRetryInfo(connect.CodeResourceExhausted, 10*time.Millisecond)
	for name, x := range map[string]struct {
		answers  []error
		attempts int
		want     connect.Code // 0 means success.
		pauses   int
	}{
		"it comes back":             {[]error{away, away, away}, 0, 0, 3},
		"it stays away":             {[]error{away, away, away, away, away}, 0, connect.CodeUnavailable, 3},
		"no retries are wanted":     {[]error{away}, 1, connect.CodeUnavailable, 0},
		"it is something else":      {[]error{connect.NewError(connect.CodeInternal, errors.New("bad"))}, 0, connect.CodeInternal, 0},
		"it is limited":             {[]error{limited, limited, limited}, 0, 0, 3},
		"it stays limited":          {[]error{limited, limited, limited, limited, limited}, 0, connect.CodeResourceExhausted, 3},
		"it is too much":            {[]error{connect.NewError(connect.CodeResourceExhausted, errors.New("too large"))}, 0, connect.CodeResourceExhausted, 0},
		"it may have been made":     {[]error{connect.NewError(connect.CodeAborted, errors.New("uncertain"))}, 0, connect.CodeAborted, 0},
		"then it is something else": {[]error{away, connect.NewError(connect.CodeNotFound, errors.New("gone"))}, 0, connect.CodeNotFound, 1},
	} {
		g := &groups{answers: x.answers}
		c, pauses := connectTo(t, g, Options{Attempts: x.attempts})
		_, err := c.Groups.DeleteGroup(t.Context(), &iamv2.DeleteGroupRequest{})
		if err == nil && x.want != 0 || err != nil && connect.CodeOf(err) != x.want || len(*pauses) != x.pauses || len(g.tokens) != x.pauses+1 {
			t.Errorf("%s: %v after %d calls and %v, want %v of them", name, err, len(g.tokens), *pauses, x.pauses)
		}
	}
}

func TestPausesGrowAndObeyTheServer(t *testing.T) {
	t.Parallel()
	limited := withRetryInfo(connect.CodeResourceExhausted, time.Minute)
	c, pauses := connectTo(t, &groups{answers: []error{unavailable(0), unavailable(0), limited, unavailable(time.Minute)}}, Options{Attempts: 5})
	if _, err := c.Groups.DeleteGroup(t.Context(), &iamv2.DeleteGroupRequest{}); err != nil {
		t.Fatal(err)
	}
	for i, bounds := range [][2]int64{{50, 150}, {100, 300}, {60_000, 60_000}, {60_000, 60_000}} {
		if got := (*pauses)[i].Milliseconds(); got < bounds[0] || got > bounds[1] {
			t.Errorf("pause %d is %d ms", i, got)
		}
	}
	if got := backoff(1_000_000, nil); got > 2*maxPause {
		t.Errorf("after a million attempts it is %v", got)
	}
}

// After a broken connection, the client cannot know whether the call was executed.
func TestAfterABrokenConnectionOnlyReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	var calls int
	broken := roundTripper(func(*http.Request) (*http.Response, error) {
		calls++
		return nil, errors.New("connection reset")
	})
	c, err := New("http://atrium.test", Options{HTTPClient: broken, sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Groups.DeleteGroup(t.Context(), &iamv2.DeleteGroupRequest{}); connect.CodeOf(err) != connect.CodeUnavailable || calls != 1 {
		t.Errorf("a delete: %v after %d calls, want 1", err, calls)
	}
	calls = 0
	if _, err := c.Groups.ListGroups(t.Context(), &iamv2.ListGroupsRequest{}); connect.CodeOf(err) != connect.CodeUnavailable || calls != 4 {
		t.Errorf("a list: %v after %d calls, want 4", err, calls)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestARetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleepContext(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("the pause ends with %v, want %v", err, context.Canceled)
	}
	if err := sleepContext(t.Context(), 0); err != nil {
		t.Errorf("no pause ends with %v", err)
	}
}

// The server asks for a longer pause than the caller has time.
func TestAPauseEndsWithTheContextOfTheCall(t *testing.T) {
	t.Parallel()
	g := &groups{answers: []error{withRetryInfo(connect.CodeResourceExhausted, time.Hour)}}
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := connectTo(t, g, Options{sleep: func(ctx context.Context, d time.Duration) error {
		cancel()
		return sleepContext(ctx, d)
	}})
	if _, err := c.Groups.DeleteGroup(ctx, &iamv2.DeleteGroupRequest{}); connect.CodeOf(err) != connect.CodeResourceExhausted || len(g.tokens) != 1 {
		t.Errorf("got %v after %d calls, want resource_exhausted after 1", err, len(g.tokens))
	}
}

// A list has more pages than the server answers at once.
func TestALongListWaitsForTheLimit(t *testing.T) {
	t.Parallel()
	limited := withRetryInfo(connect.CodeResourceExhausted, 10*time.Millisecond)
	c, pauses := connectTo(t, &groups{answers: []error{nil, limited, nil, limited, limited}}, Options{})
	items := 0
	for _, err := range All(t.Context(), c.Groups.ListGroups, &iamv2.ListGroupsRequest{}, (*iamv2.ListGroupsResponse).GetGroups) {
		if err != nil {
			t.Fatal(err)
		}
		items++
	}
	if items != 6 || len(*pauses) != 3 {
		t.Errorf("%d items after the pauses %v, want 6 after 3", items, *pauses)
	}
}

func TestEveryAttemptAsksForAToken(t *testing.T) {
	t.Parallel()
	given := []string{"first", "second"}
	g := &groups{answers: []error{unavailable(0)}}
	c, _ := connectTo(t, g, Options{Token: func(context.Context) (string, error) {
		if len(given) == 0 {
			return "", errors.New("signed out")
		}
		token := given[0]
		given = given[1:]
		return token, nil
	}})
	if _, err := c.Groups.DeleteGroup(t.Context(), &iamv2.DeleteGroupRequest{}); err != nil || len(g.tokens) != 2 || g.tokens[0] != "Bearer first" || g.tokens[1] != "Bearer second" {
		t.Errorf("%v with %v, want 2 of them", err, g.tokens)
	}
	if _, err := c.Groups.DeleteGroup(t.Context(), &iamv2.DeleteGroupRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated || len(g.tokens) != 2 {
		t.Errorf("without a token: %v, want code %v and 2 tokens", err, connect.CodeUnauthenticated)
	}
}

func TestPagesAreFollowed(t *testing.T) {
	t.Parallel()
	g := &groups{}
	c, _ := connectTo(t, g, Options{})
	request := &iamv2.ListGroupsRequest{Name: "x", Skip: 1}
	got := ""
	for group, err := range All(t.Context(), c.Groups.ListGroups, request, (*iamv2.ListGroupsResponse).GetGroups) {
		if err != nil {
			t.Fatal(err)
		}
		got += group.GetName() + " "
	}
	if got != "a b a2 b2 a3 b3 " || request.GetPageToken() != "" || request.GetSkip() != 1 {
		t.Errorf("it lists %s for %v, want %q", got, request, "a b a2 b2 a3 b3 ")
	}
	if len(g.requests) != 3 || g.requests[0].GetSkip() != 1 || g.requests[1].GetSkip() != 0 || g.requests[2].GetName() != "x" {
		t.Errorf("it asks %v, want 3 of them", g.requests)
	}
}

func TestALoopThatEndsAsksForNoMorePages(t *testing.T) {
	t.Parallel()
	g := &groups{}
	c, _ := connectTo(t, g, Options{})
	for range All(t.Context(), c.Groups.ListGroups, &iamv2.ListGroupsRequest{}, (*iamv2.ListGroupsResponse).GetGroups) {
		break
	}
	if len(g.requests) != 1 {
		t.Errorf("it asks %v, want 1 of them", g.requests)
	}
}

func TestAnErrorIsTheLastThingOfAList(t *testing.T) {
	t.Parallel()
	c, _ := connectTo(t, &groups{answers: []error{nil, connect.NewError(connect.CodeInternal, errors.New("bad"))}}, Options{})
	var items int
	var last error
	for _, err := range All(t.Context(), c.Groups.ListGroups, &iamv2.ListGroupsRequest{}, (*iamv2.ListGroupsResponse).GetGroups) {
		if last != nil {
			t.Error("there is more behind it")
		}
		if last = err; err == nil {
			items++
		}
	}
	if items != 2 || connect.CodeOf(last) != connect.CodeInternal {
		t.Errorf("%d items, want 2 and %v", items, last)
	}
}

func TestAnAddressMustBeThatOfAServer(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "atrium.example.com", "localhost:8080", "ftp://x", "https://", "https://x?y=z", "://"} {
		if c, err := New(address, Options{}); err == nil || c != nil {
			t.Errorf("%q is taken", address)
		}
	}
	if _, err := New("http://x", Options{Attempts: -1}); err == nil {
		t.Error("-1 attempts are taken")
	}
}
