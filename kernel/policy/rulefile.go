package policy

import (
	"os"
	"sync"

	"org-agent/kernel/tablefile"
)

// RuleFile is policy.org. It is read again at the next judgement after it changed. It is safe for
// many goroutines.
type RuleFile struct {
	// Path is the path of the file, which need not exist. Home is the directory of relative names
	// in it.
	Path, Home string

	once    sync.Once
	kept    tablefile.File
	reading sync.Mutex
	text    string
	rules   *Rules
}

// file returns the file itself.
func (f *RuleFile) file() *tablefile.File {
	f.once.Do(func() { f.kept.Path = f.Path })
	return &f.kept
}

// Rules returns the rules of the file as it is now. A nil RuleFile has none.
func (f *RuleFile) Rules() *Rules {
	if f == nil {
		return &Rules{}
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	text, err := f.file().Text()
	switch {
	case err != nil:
		f.text, f.rules = "", &Rules{faults: []Fault{f.file().Unreadable(err)}}
	case f.rules == nil || len(f.rules.faults) > 0 || text != f.text:
		user, _ := os.UserHomeDir() // "" if there is none
		f.text, f.rules = text, ParseRules(text, f.Path, f.Home, user)
	}
	return f.rules
}
