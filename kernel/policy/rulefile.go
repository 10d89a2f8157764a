package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// RuleFile is policy.org. It is read again at the next judgement after it changed. It is safe for
// many goroutines.
type RuleFile struct {
	// Path is the path of the file, which need not exist. Home is the directory of relative names
	// in it.
	Path, Home string

	writing sync.Mutex // held while the file is changed
	reading sync.Mutex
	seen    version
	text    string
	rules   *Rules
}

// version distinguishes the states of a file.
type version struct {
	size     int64
	changed  time.Time
	inode    uint64
	statTime time.Time
}

// maximumRuleFile is the maximum size of policy.org in bytes.
const maximumRuleFile = 1 << 20

// stableAfter is how long a file must be unchanged before its times can distinguish two states.
const stableAfter = time.Second

// Rules returns the rules of the file as it is now. A nil RuleFile has none.
func (f *RuleFile) Rules() *Rules {
	if f == nil {
		return &Rules{}
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	now, err := f.stat()
	if f.rules != nil && err == nil && now.size == f.seen.size && now.inode == f.seen.inode && now.changed.Equal(f.seen.changed) && f.seen.statTime.Sub(f.seen.changed) > stableAfter {
		return f.rules
	}
	f.seen = now
	var text string
	if err == nil {
		text, err = f.read()
	}
	switch {
	case err != nil:
		f.text, f.rules = "", &Rules{faults: []Fault{{File: f.Path, Line: 1, Message: fmt.Sprintf("this file cannot be read: %v", err)}}}
	case f.rules == nil || len(f.rules.faults) > 0 || text != f.text:
		user, _ := os.UserHomeDir() // "" if there is none
		f.text, f.rules = text, ParseRules(text, f.Path, f.Home, user)
	}
	return f.rules
}

// stat returns the state of the file. A missing file has a state too.
func (f *RuleFile) stat() (version, error) {
	info, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.Path); err == nil {
			return version{}, errors.New("it is a link that leads nowhere")
		}
		return version{statTime: time.Now(), size: -1}, nil
	}
	if err != nil {
		return version{}, err
	}
	if !info.Mode().IsRegular() {
		return version{}, errors.New("it is no regular file")
	}
	now := version{size: info.Size(), changed: info.ModTime(), statTime: time.Now()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		now.inode = s.Ino
		if changed := statusChanged(s); changed.After(now.changed) {
			now.changed = changed // programs cannot set this time
		}
	}
	return now, nil
}

func (f *RuleFile) read() (string, error) {
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // the file was only read
	text, err := io.ReadAll(io.LimitReader(file, maximumRuleFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maximumRuleFile:
		return "", fmt.Errorf("it has more than %d bytes", maximumRuleFile)
	case !utf8.Valid(text):
		return "", errors.New("it is not UTF-8; save it in that encoding")
	}
	return string(text), nil
}
