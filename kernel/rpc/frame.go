package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// quoted is the maximal number of characters of a peer's text in an error or a log record.
const quoted = 64

const (
	headerLineLimit = 1 << 10 // bytes of one header line of the JSON framing
	headerLines     = 4       // lines of one header
	plistHeader     = 6       // hex digits before a plist
	firstRead       = 4 << 10 // bytes set aside for a body before any of it came
)

// framing finds the messages in a stream of bytes.
type framing interface {
	// readHeader reads up to the body and returns its length in bytes. A header
	// that is not one is a *frameError.
	readHeader(r *bufio.Reader) (int, error)
	// appendFrame appends the frame of body to dst.
	appendFrame(dst, body []byte) []byte
}

// frameError ends a connection after an error reply, because the beginning of the next frame is
// unknown.
type frameError struct{ reply *protocol.Error }

func (e *frameError) Error() string { return e.reply.Message }

func frameErrorf(code protocol.Code, format string, args ...any) error {
	return &frameError{protocol.Errorf(code, format, args...)}
}

// lengthFraming is "Content-Length: N", an empty line and N bytes. Names of
// header lines may stand in any case, lines may end without a carriage return,
// and Content-Type is read over.
type lengthFraming struct{}

func (lengthFraming) readHeader(r *bufio.Reader) (int, error) {
	length := -1
	for range headerLines {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(line) > headerLineLimit {
			return 0, frameErrorf(protocol.CodeTooLarge, "a header line may have %d bytes", headerLineLimit)
		}
		if err != nil {
			return 0, unexpectedEnd(err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if length < 0 {
				return 0, frameErrorf(protocol.CodeParse, "the header has no Content-Length")
			}
			return length, nil
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		switch {
		case found && bytes.EqualFold(name, []byte("Content-Type")):
		case found && bytes.EqualFold(name, []byte("Content-Length")) && length < 0:
			if length, err = parseLength(string(bytes.TrimSpace(value)), 10); err != nil {
				return 0, err
			}
		default:
			return 0, frameErrorf(protocol.CodeParse, "the header line %q is not allowed: only Content-Length, once, and Content-Type are", text.Clip(string(line), quoted))
		}
	}
	return 0, frameErrorf(protocol.CodeParse, "a header may have %d lines", headerLines)
}

func (lengthFraming) appendFrame(dst, body []byte) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...)
}

// hexFraming is six lower-case hex digits, which give the length, and that many bytes.
type hexFraming struct{}

func (hexFraming) readHeader(r *bufio.Reader) (int, error) {
	var header [plistHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, unexpectedEnd(err)
	}
	for _, c := range header {
		if !isLowerHex(c) {
			return 0, frameErrorf(protocol.CodeParse, "a frame begins with six lower-case hex digits, its length in bytes, not with %q", header[:])
		}
	}
	return parseLength(string(header[:]), 16)
}

func (hexFraming) appendFrame(dst, body []byte) []byte {
	dst = fmt.Appendf(dst, "%06x", len(body))
	return append(dst, body...)
}

func isLowerHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
}

func parseLength(source string, base int) (int, error) {
	for _, c := range []byte(source) {
		if !isLowerHex(c) { // no sign, no underscore
			return 0, frameErrorf(protocol.CodeParse, "the length %q is not a number", text.Clip(source, quoted))
		}
	}
	n, err := strconv.ParseUint(source, base, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, tooLarge(source)
	case err != nil:
		return 0, frameErrorf(protocol.CodeParse, "the length %q is not a number", text.Clip(source, quoted))
	case n > protocol.FrameLimit:
		return 0, tooLarge(strconv.FormatUint(n, 10))
	}
	return int(n), nil
}

func tooLarge(length string) error {
	return frameErrorf(protocol.CodeTooLarge, "a message of %s bytes is too large: the limit is %d", text.Clip(length, quoted), protocol.FrameLimit)
}

// readBody reads n bytes into buf. The buffer grows with the bytes that came, not with the announced
// length.
func readBody(r io.Reader, buf []byte, n int) ([]byte, error) {
	buf = buf[:0]
	if cap(buf) == 0 {
		buf = make([]byte, 0, min(n, firstRead))
	}
	for len(buf) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		got, err := r.Read(buf[len(buf):min(n, cap(buf))])
		buf = buf[:len(buf)+got]
		if err != nil && len(buf) < n {
			return buf, unexpectedEnd(err)
		}
	}
	return buf, nil
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
