package config

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// KernelInfo says which kernel runs for an instance; it is the file
// kernel.json, where clients look.
type KernelInfo struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Home    string    `json:"home"`
	Started time.Time `json:"started"`
}

// ReadKernelInfo reads kernel.json.
func ReadKernelInfo(path string) (KernelInfo, error) {
	var k KernelInfo
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	return k, err
}

// Alive reports whether the process exists. Another one may have its number by
// now: whoever connects learns more.
func (k KernelInfo) Alive() bool {
	err := syscall.Kill(k.PID, 0)
	return k.PID > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}

// WriteKernelInfo writes kernel.json, whole or not at all.
func WriteKernelInfo(path string, k KernelInfo) error {
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeWhole(path, append(text, '\n'))
}

// writeWhole replaces a private file by another.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// Lock is an instance that is taken by this process.
type Lock struct{ file *os.File }

// LockInstance takes the instance for this process, until Release or the
// process's end. The error says which kernel has it.
func LockInstance(p Paths) (*Lock, error) {
	f, err := os.OpenFile(p.Lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the instance: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{f}, nil
	}
	f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock the instance: %w", err)
	}
	if k, err := ReadKernelInfo(p.KernelJSON); err == nil && k.Alive() {
		return nil, fmt.Errorf("a kernel runs for %s already: pid %d, socket %s; \"org-agent stop\" ends it", p.Home, k.PID, k.Socket)
	}
	return nil, fmt.Errorf("another kernel is starting or stopping for %s; try again in a moment", p.Home)
}

// Release gives the instance up.
func (l *Lock) Release() error { return l.file.Close() }

// tokenBytes is the size of the secret: 256 bits.
const tokenBytes = 32

// ReadToken reads the secret that clients show.
func ReadToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// LoadOrCreateToken reads the secret or makes it. A file that others can read
// is made private: the secret is this user's.
func LoadOrCreateToken(path string) (string, error) {
	token, err := ReadToken(path)
	if err == nil && len(token) == 2*tokenBytes {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("make the token private: %w", err)
		}
		return token, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := make([]byte, tokenBytes)
	rand.Read(secret) // never fails
	token = hex.EncodeToString(secret)
	return token, writeWhole(path, []byte(token+"\n"))
}
