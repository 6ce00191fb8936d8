package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"atrium/internal/rest"
	"atrium/internal/rpc"
)

const (
	v1Watch = "/" + testAlias + ".events.Subscriptions/Watch"
	v1Look  = "/" + testAlias + ".iam.v1.Identities/Lookup"
)

// newV1Service starts a service of v1 that speaks gRPC, and a server that forwards to it.
func newV1Service(t *testing.T, seen chan<- http.Header) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(v1Watch, connect.NewBidiStreamHandler(v1Watch, func(_ context.Context, s *connect.BidiStream[wrapperspb.StringValue, wrapperspb.StringValue]) error {
		s.ResponseHeader().Set("Leading", "first")
		s.ResponseTrailer().Set("Trailing", "last")
		for {
			m, err := s.Receive()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := s.Send(wrapperspb.String("echo " + m.GetValue()[:min(9, len(m.GetValue()))])); err != nil {
				return err
			}
		}
	}))
	mux.Handle(v1Look, connect.NewUnaryHandler(v1Look, func(ctx context.Context, r *connect.Request[wrapperspb.StringValue]) (*connect.Response[emptypb.Empty], error) {
		seen <- r.Header()
		if r.Msg.GetValue() == "wait" {
			<-ctx.Done()
		}
		e := connect.NewError(connect.CodeNotFound, errors.New("no such identity"))
		if d, err := connect.NewErrorDetail(&errdetails.ResourceInfo{ResourceName: "theirs"}); err == nil {
			e.AddDetail(d)
		}
		e.Meta().Set("Of-Theirs", "yes")
		return nil, e
	}))
	upstream := httptest.NewUnstartedServer(mux)
	upstream.Config.Protocols = new(http.Protocols)
	upstream.Config.Protocols.SetHTTP1(true)
	upstream.Config.Protocols.SetUnencryptedHTTP2(true)
	upstream.Start()
	t.Cleanup(upstream.Close)
	return newV1Proxy(t, upstream.URL, time.Minute, withTestAlias).URL
}

func withTestAlias(s *http.Server) { s.Handler = resolveAliases(rpc.Aliases{testAlias}, s.Handler) }

func TestStreamsOfV1AreForwarded(t *testing.T) {
	t.Parallel()
	url := newV1Service(t, nil)
	for name, option := range map[string]connect.ClientOption{"gRPC": connect.WithGRPC(), "gRPC with gzip": connect.WithClientOptions(connect.WithGRPC(), connect.WithSendGzip())} {
		stream := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](protocols()["HTTP/2.0"], url+v1Watch, option).CallBidiStream(t.Context())
		// Each message is smaller than the limit, and all together are larger.
		for _, text := range []string{"one", "", strings.Repeat("x", rest.MaxBody-10), strings.Repeat("y", rest.MaxBody-10)} {
			if err := stream.Send(wrapperspb.String(text)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			answer, err := stream.Receive()
			if want := "echo " + text[:min(9, len(text))]; err != nil || answer.GetValue() != want {
				t.Fatalf("%s: received %q (%v), want %q", name, answer.GetValue(), err, want)
			}
		}
		_ = stream.CloseRequest()
		if _, err := stream.Receive(); !errors.Is(err, io.EOF) || stream.ResponseHeader().Get("Leading") != "first" || stream.ResponseTrailer().Get("Trailing") != "last" {
			t.Errorf("%s: it ends with %v, %v and %v, want first and last", name, err, stream.ResponseHeader(), stream.ResponseTrailer())
		}
		_ = stream.CloseResponse()
	}
}

func TestAMessageForV1IsBounded(t *testing.T) {
	t.Parallel()
	url := newV1Service(t, nil)
	stream := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](protocols()["HTTP/2.0"], url+v1Watch, connect.WithGRPC()).CallBidiStream(t.Context())
	defer func() { _ = stream.CloseResponse() }()
	_ = stream.Send(wrapperspb.String(strings.Repeat("x", rest.MaxBody)))
	if _, err := stream.Receive(); connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("received %v, want an error that names the limit", err)
	}
}

func TestErrorsMetadataAndDeadlinesOfV1AreForwarded(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 1)
	url := newV1Service(t, seen)
	for name, option := range map[string]connect.ClientOption{"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(), "Connect": connect.WithProtoJSON()} {
		client := connect.NewClient[wrapperspb.StringValue, emptypb.Empty](protocols()["HTTP/2.0"], url+v1Look, option)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		call := connect.NewRequest(wrapperspb.String("alice"))
		call.Header().Set("Authorization", "Bearer theirs")
		call.Header().Set("Some-Bin", connect.EncodeBinaryHeader([]byte{0, 255}))
		call.Header().Set("X-Forwarded-For", "203.0.113.9")
		_, err := client.CallUnary(ctx, call)
		cancel()
		got := <-seen
		var e *connect.Error
		if !errors.As(err, &e) || e.Code() != connect.CodeNotFound || e.Message() != "no such identity" || len(e.Details()) != 1 || e.Meta().Get("Of-Theirs") != "yes" {
			t.Errorf("%s: the error is %v, want that of v1", name, err)
		}
		timeout := got.Get("Grpc-Timeout") + got.Get("Connect-Timeout-Ms")
		if got.Get("Authorization") != "Bearer theirs" || got.Get("Some-Bin") != call.Header().Get("Some-Bin") || timeout == "" || got.Get("X-Forwarded-For") != "127.0.0.1" {
			t.Errorf("%s: v1 saw %v", name, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := connect.NewClient[wrapperspb.StringValue, emptypb.Empty](protocols()["HTTP/2.0"], url+v1Look, connect.WithGRPC()).CallUnary(ctx, connect.NewRequest(wrapperspb.String("wait")))
		ended <- err
	}()
	<-seen
	cancel()
	if err := <-ended; connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("a call that its client ends is %v, want canceled", err)
	}
}

func TestAnUnavailableV1IsAnErrorOfTheProtocol(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	silent := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	silent.Config.Protocols = new(http.Protocols)
	silent.Config.Protocols.SetUnencryptedHTTP2(true)
	silent.Start()
	t.Cleanup(silent.Close)
	for upstream, want := range map[string]connect.Code{gone.URL: connect.CodeUnavailable, silent.URL: connect.CodeDeadlineExceeded} {
		url := newV1Proxy(t, upstream, 50*time.Millisecond, withTestAlias).URL
		_, err := connect.NewClient[emptypb.Empty, emptypb.Empty](protocols()["HTTP/2.0"], url+v1Look, connect.WithGRPC()).CallUnary(t.Context(), connect.NewRequest(&emptypb.Empty{}))
		var e *connect.Error
		if !errors.As(err, &e) || e.Code() != want || len(e.Details()) == 0 || strings.Contains(e.Message(), "127.0.0.1") {
			t.Errorf("%s: the error is %v, want %s", upstream, err, want)
		}
	}
}

func TestOnlyProceduresOfV1AreForwarded(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "v1 "+r.URL.Path) }))
	t.Cleanup(upstream.Close)
	server := newV1Proxy(t, upstream.URL, time.Minute, withTestAlias)
	for path, isV1 := range map[string]bool{
		v1Watch: true, v1Look: true, "/platform.registry.Registry/ListTags": true, "/platform.vulnerabilities.v1.Advisories/List": true,
		listRepos: false, aliasedList: false, "/platform.registry.v2beta1.ReposService/ListRepos": false, "/platform.skills.v1alpha1.Skills/List": false,
		"/grpc.health.v1.Health/Check": false, "/unknown.registry.Registry/ListTags": false, "/platform.registry/x": false, "/platform.registry.Registry/": false,
		"/platform.registry.registry/ListTags": false, "/platform.registry.Registry/List/Tags": false,
	} {
		want := "v2"
		if isV1 {
			want = "v1 " + path
		}
		if _, got := send(t, http.MethodPost, server.URL+path, "", nil); got != want {
			t.Errorf("%s is answered by %q, want %q", path, got, want)
		}
	}
}

// The attack is a client that sends a part of a message and then nothing.
func TestTheTimeOfAMessageIsBoundedAndThatOfAStreamIsNot(t *testing.T) {
	t.Parallel()
	var deadlines []bool // whether each one is a time limit
	control := http.NewResponseController(deadlineWriter{noteDeadline: func(at time.Time) { deadlines = append(deadlines, !at.IsZero()) }})
	in, out := io.Pipe()
	body := newMessageReader(in, control)
	read := func(part []byte) {
		go func() { _, _ = out.Write(part) }()
		if _, err := io.ReadFull(body, make([]byte, len(part))); err != nil {
			t.Fatal(err)
		}
	}
	whole := []byte{0, 0, 0, 0, 2, 'a', 'b'}
	for _, part := range [][]byte{whole, whole[:3], whole[3:6], whole[6:], bytes.Repeat(whole, 2), {0, 0, 0, 0, 0}} {
		read(part)
	}
	if want := []bool{false, true, false}; len(deadlines) != len(want) || deadlines[0] || !deadlines[1] || deadlines[2] {
		t.Errorf("the time limits are %v, want %v: one from the first to the last byte of the message in parts", deadlines, want)
	}
}

// Whoever answers the error reads the rest of the message, for a second at most. A time limit of the message would replace that.
func TestAMessageThatIsTooLargeHasNoTimeLimit(t *testing.T) {
	t.Parallel()
	limits := 0
	control := http.NewResponseController(deadlineWriter{noteDeadline: func(at time.Time) {
		if !at.IsZero() {
			limits++
		}
	}})
	body := newMessageReader(io.NopCloser(strings.NewReader("\x00\x00\x20\x00\x00"+strings.Repeat("x", 100))), control)
	var tooLarge *http.MaxBytesError
	if _, err := body.Read(make([]byte, 10)); !errors.As(err, &tooLarge) {
		t.Errorf("the first part is read with %v, want that the message is too large", err)
	}
	if rest, err := io.ReadAll(body); len(rest) != 95 || err != nil || limits != 0 {
		t.Errorf("%d bytes are read (%v) under %d time limits, want 95 under none", len(rest), err, limits)
	}
}

type deadlineWriter struct {
	http.ResponseWriter
	noteDeadline func(time.Time)
}

func (w deadlineWriter) SetReadDeadline(at time.Time) error { w.noteDeadline(at); return nil }
