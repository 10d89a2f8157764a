package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/text"
)

// messageLimit is the largest message that a server may send, in bytes.
const messageLimit = 16 << 20

// messages reads a program's output, one message a line. It skips lines that are not messages,
// because some programs print a greeting. A line that is too long is an error.
type messages struct {
	from  *bufio.Reader
	close func() error
	noise func(line string)
	rest  []byte // the unread part of the current message
	fault func(error)
}

// Read implements [io.Reader].
func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		if content := bytes.TrimSpace(line); len(content) > 0 && (content[0] == '{' || content[0] == '[') && json.Valid(content) {
			m.rest = append(content, '\n')
			break
		} else if len(content) > 0 {
			m.noise(text.Prefix(string(content), 400))
		}
		if err != nil {
			if !silent(err) {
				m.fault(err)
			}
			return 0, err
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// silent reports whether an error only says that the connection is closed.
func silent(err error) bool {
	for _, end := range [...]error{io.EOF, os.ErrClosed, syscall.EPIPE, sdk.ErrConnectionClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// line reads one line.
func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		part, err := m.from.ReadSlice('\n')
		if len(line)+len(part) > messageLimit {
			return nil, fmt.Errorf("it wrote a line of more than %d MB", messageLimit>>20)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Close implements [io.Closer].
func (m *messages) Close() error { return m.close() }

// tail stores the end of a program's stderr. It is safe for many goroutines.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailLimit is how many bytes it stores.
const tailLimit = 2 << 10

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailLimit; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// last returns the last line that is not blank.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return text.PlainLine(lines[len(lines)-1], 300)
}
