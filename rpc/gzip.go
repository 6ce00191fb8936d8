package rpc

import (
	"compress/gzip"
	"errors"
	"io"

	"connectrpc.com/connect"
)

// gzipCodec compresses messages with gzip. Its error for a broken message does not
// depend on the gzip library.
func gzipCodec() connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &unzipper{} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}

var errGzip = errors.New("the message is not well-formed gzip")

// An unzipper is a gzip.Reader with its own error message.
type unzipper struct{ reader gzip.Reader }

func (u *unzipper) Read(b []byte) (int, error) {
	n, err := u.reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = errGzip
	}
	return n, err
}

// Reset begins a new message.
func (u *unzipper) Reset(from io.Reader) error {
	if u.reader.Reset(from) != nil {
		return errGzip
	}
	return nil
}

// Close ends the message.
func (u *unzipper) Close() error { return u.reader.Close() }
