package rpc

import (
	"compress/gzip"
	"errors"
	"io"

	"connectrpc.com/connect"
)

// gzipCodec compresses messages of gRPC with gzip, and decompresses those of all protocols.
// Its error for a broken message does not depend on the gzip library.
func gzipCodec() connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &unzipper{} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

var (
	errGzip     = errors.New("the message is not well-formed gzip")
	errTooLarge = errors.New("the message is too large to decompress")
)

// An unzipper is a gzip.Reader with its own error message. It stops behind the longest
// message. Otherwise connect would decompress a larger one to its end, only to tell its size:
// a megabyte of gzip holds a gigabyte.
type unzipper struct {
	reader gzip.Reader
	left   int
}

func (u *unzipper) Read(b []byte) (int, error) {
	if u.left == 0 {
		return 0, errTooLarge
	}
	n, err := u.reader.Read(b[:min(len(b), u.left)])
	u.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		err = errGzip
	}
	return n, err
}

// Reset begins a new message.
func (u *unzipper) Reset(from io.Reader) error {
	u.left = maxMessageBytes + 1 // connect rejects a message of this length
	if u.reader.Reset(from) != nil {
		return errGzip
	}
	return nil
}

// Close ends the message.
func (u *unzipper) Close() error { return u.reader.Close() }
