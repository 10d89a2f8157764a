// Package logfile reads and follows the kernel's log: a file with one JSON record on each line. A
// log that has grown long is renamed, and a new one begins. If the kernel was killed, the last line
// may be incomplete.
//
// The kernel writes its log through a [Writer]. Followers in the kernel's process get new lines
// from the Writer. A [Reader] follows the file from any process.
package logfile

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/text"
)

// Record is one line of the log.
type Record struct {
	Time    time.Time
	Level   slog.Level
	Message string
	Session string
	Turn    string
	// Fields are the remaining fields, each preceded by two blanks.
	Fields string
	// Raw is the line as the file stores it. Broken is true for a line that is not a record;
	// Message is then the line.
	Raw    string
	Broken bool
}

// shownLimit is the maximum length of a message or of a field's value that people are shown, in
// bytes.
const shownLimit = 4000

// Parse parses a line.
func Parse(line string) Record {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber() // keeps 12345678 from becoming 1.2345678e+07
	err := decoder.Decode(&fields)
	if _, more := decoder.Token(); err != nil || fields == nil || more != io.EOF {
		return Record{Message: text.Abridge(text.Shown(line), shownLimit), Raw: line, Broken: true}
	}
	named := func(key string) string { s, _ := fields[key].(string); return s }
	r := Record{Message: text.Abridge(oneLine(fmt.Sprint(fields["msg"])), shownLimit), Session: named("session"), Turn: named("turn"), Raw: line}
	if err := r.Level.UnmarshalText([]byte(named("level"))); err != nil {
		r.Level = slog.LevelInfo
	}
	if at, err := time.Parse(time.RFC3339Nano, named("time")); err == nil {
		r.Time = at
	}
	var keys []string
	for key := range fields {
		if key != "time" && key != "level" && key != "msg" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		value := fields[key]
		if number, ok := value.(json.Number); ok && key == "dur" { // older kernels wrote durations as numbers
			if ns, err := number.Float64(); err == nil {
				value = time.Duration(ns).Round(time.Microsecond)
			}
		}
		if b.Len() > 4*shownLimit {
			b.WriteString("  …")
			break
		}
		fmt.Fprintf(&b, "  %s=%s", oneLine(key), text.Abridge(oneLine(fmt.Sprint(value)), shownLimit))
	}
	r.Fields = b.String()
	return r
}

// String writes the record for people: time, level, message, then the other fields.
func (r Record) String() string {
	if r.Broken {
		return r.Message
	}
	at := ""
	if !r.Time.IsZero() {
		at = r.Time.Local().Format("15:04:05.000")
	}
	return fmt.Sprintf("%s %-5v %s%s", at, r.Level, r.Message, r.Fields)
}

// oneLine replaces control characters by blanks, leaves out what else a screen obeys, and leaves the rest
// unchanged, because the reader looks for details.
func oneLine(value string) string {
	return text.Shown(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, value))
}

// Filter selects the records that match every field that is set.
type Filter struct {
	Level   slog.Level // the lowest level
	Session string
	Turn    string // an id or its beginning
	Text    string // occurs in [Record.String], in any case
}

// Matches reports whether a record matches. A line that is not a record matches unless a session or
// a turn is given.
func (f Filter) Matches(r Record) bool {
	switch {
	case r.Broken && (f.Session != "" || f.Turn != ""):
		return false
	case !r.Broken && r.Level < f.Level:
		return false
	case f.Session != "" && r.Session != f.Session:
		return false
	case f.Turn != "" && (r.Turn == "" || !strings.HasPrefix(r.Turn, f.Turn)):
		return false
	}
	return f.Text == "" || strings.Contains(strings.ToLower(r.String()), strings.ToLower(f.Text))
}
