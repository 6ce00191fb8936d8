package rpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"atrium/gen/platform/ping/v2/pingv2connect"

	pingv2 "atrium/gen/platform/ping/v2"
)

type answeringPing struct{}

func (answeringPing) Ping(context.Context, *pingv2.PingRequest) (*pingv2.PingResponse, error) {
	return &pingv2.PingResponse{Response: "pong"}, nil
}

func TestTheErrorForBrokenGzipIsOurOwn(t *testing.T) {
	t.Parallel()
	_, handler := pingv2connect.NewPingServiceHandler(answeringPing{}, gzipCodec())
	var whole bytes.Buffer
	packing := gzip.NewWriter(&whole)
	if _, err := packing.Write([]byte("{}" + strings.Repeat(" ", 1000))); err != nil {
		t.Fatal(err)
	}
	if err := packing.Close(); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole.Bytes())
	flipped[len(flipped)-6] ^= 1 // This changes the checksum.
	for name, body := range map[string][]byte{"no gzip": []byte("{}{}{}{}{}{}{}"), "cut": whole.Bytes()[:20], "flipped": flipped, "whole": whole.Bytes()} {
		request := httptest.NewRequest(http.MethodPost, pingv2connect.PingServicePingProcedure, bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Content-Encoding", "gzip")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		answerText := answer.Body.String()
		switch {
		case name == "whole":
			if answer.Code != http.StatusOK { // The answer is compressed like the request.
				t.Errorf("%s: status %d, want 200: %q", name, answer.Code, answerText)
			}
		case answer.Code != http.StatusBadRequest || !strings.Contains(answerText, errGzip.Error()) || strings.Contains(answerText, "gzip:") || strings.Contains(answerText, "EOF"):
			t.Errorf("%s: %d %s", name, answer.Code, answerText)
		}
	}
}

func TestALargeMessageIsNotDecompressedToItsEnd(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	packing := gzip.NewWriter(&packed)
	if _, err := packing.Write(make([]byte, 2*maxMessageBytes)); err != nil {
		t.Fatal(err)
	}
	if err := packing.Close(); err != nil {
		t.Fatal(err)
	}
	_, handler := pingv2connect.NewPingServiceHandler(answeringPing{}, gzipCodec(), connect.WithReadMaxBytes(maxMessageBytes))
	request := httptest.NewRequest(http.MethodPost, pingv2connect.PingServicePingProcedure, &packed)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Content-Encoding", "gzip")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if text := answer.Body.String(); answer.Code != http.StatusTooManyRequests || !strings.Contains(text, errTooLarge.Error()) {
		t.Errorf("%d %s", answer.Code, text)
	}
}
