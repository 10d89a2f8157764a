package config

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/secret"
)

// tokenBytes is the length of the token: 256 random bits.
const tokenBytes = 32

// LoadOrCreateToken returns the instance's token, 64 hex digits that every client must present, and
// makes one if there is none. A file that others could read gets new permissions and a new token,
// because somebody may have read the old one.
func LoadOrCreateToken(path string) (secret.Text, error) {
	token, err := ReadToken(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errExposed) && !errors.Is(err, errNoToken) {
		return token, err
	}
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	token = secret.Text(hex.EncodeToString(random))
	return token, WriteToken(path, token)
}

// WriteToken writes the token of a kernel, such as where its file was removed.
func WriteToken(path string, token secret.Text) error {
	return atomicfile.Write(path, []byte(string(token)+"\n"), 0o600)
}

var (
	errExposed = errors.New("others can read it")
	errNoToken = errors.New("it holds no token")
)

// ReadToken returns the token that a kernel made. Without a file the error is [fs.ErrNotExist].
// ReadToken refuses a file that others can read.
func ReadToken(path string) (secret.Text, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read the token %s: %w: restart the kernel, which makes a new one", path, errExposed)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	text := strings.TrimSpace(string(content))
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != tokenBytes {
		return "", fmt.Errorf("read the token %s: %w: restart the kernel, which makes a new one", path, errNoToken)
	}
	return secret.Text(text), nil
}
