package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/text"
)

// Voice speaks texts into files, for the tool that does. The same text in the same voice is spoken once, as long as its
// file is there. It is safe for many goroutines; one text is spoken at a time.
type Voice struct {
	Speech Speech
	// Directory is where the files are. It is made when the first one is.
	Directory string

	mu sync.Mutex
}

// spokenSoundLimit is the largest sound in bytes, and complaintLimit how much is read of what a program complains.
const (
	spokenSoundLimit = 32 << 20
	complaintLimit   = 4 << 10
)

// Engine returns what speaks, for people: a program, or the host of a server. "" is nothing. No engine says how long a text
// may be.
func (v *Voice) Engine() (name string, limit int) {
	settings := v.Speech.Voice.settings()
	switch {
	case settings == nil:
		return "", 0
	case settings.Command != "":
		return filepath.Base(settings.CommandLine()[0]), 0
	}
	return v.Speech.Voice.Host(), 0
}

// Speak returns the file of a spoken text.
func (v *Voice) Speak(ctx context.Context, said string) (path string, err error) {
	settings := v.Speech.Voice.settings()
	if settings == nil {
		return "", errors.New("config.org names nothing that speaks")
	}
	sum := sha256.New()
	for _, part := range []string{settings.BaseURL, settings.Model, settings.Voice, settings.Command, said} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	path = filepath.Join(v.Directory, hex.EncodeToString(sum.Sum(nil)[:8])+".wav")
	v.mu.Lock()
	defer v.mu.Unlock()
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return path, nil
	}
	sound, err := v.Speech.sound(ctx, said)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(v.Directory, 0o700); err != nil {
		return "", fmt.Errorf("keep a spoken text: %w", err)
	}
	if err := atomicfile.Create(path, sound, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("keep a spoken text: %w", err)
	}
	return path, nil
}

// spoken runs a person's command, without a shell, that reads a text and writes a sound.
func spoken(ctx context.Context, line []string, said string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, speechTimeout)
	defer stop()
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	var sound, complaint limited
	sound.most, complaint.most = spokenSoundLimit, complaintLimit
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(said), &sound, &complaint
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	err := command.Run()
	data := sound.kept.Bytes()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s was stopped: %w", line[0], context.Cause(ctx))
	case err != nil:
		lines := strings.Split(strings.TrimSpace(complaint.kept.String()), "\n")
		return nil, fmt.Errorf("%s does not speak: %w: %s", line[0], err, cmp.Or(text.PlainLine(lines[len(lines)-1], 200), "it says nothing more"))
	case len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE":
		return nil, fmt.Errorf("what %s writes is no WAV file", line[0])
	}
	return data, nil
}

// limited keeps the first bytes of what is written, and fails when there are more.
type limited struct {
	kept bytes.Buffer // no part of the type: a copy would fill it by itself
	most int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > l.most {
		return 0, fmt.Errorf("it writes more than %d bytes: %w", l.most, io.ErrShortWrite)
	}
	return l.kept.Write(p)
}
