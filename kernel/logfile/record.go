// Package logfile reads and follows the kernel's log: a file with a JSON record a line,
// which is renamed away and begun anew when it has become long, and whose last line may be
// half of one when the kernel was killed.
//
// A [Book] is what the kernel writes its log to; those in its process who follow it are
// told of each line without looking at the file. A [Reader] follows the file itself, from
// any process.
package logfile

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is one line of the log.
type Record struct {
	Time    time.Time
	Level   slog.Level
	Message string
	Session string
	Turn    string
	// Fields is all else, each with two blanks before it.
	Fields string
	// Raw is the line as it is kept. Broken: it is no record; Message is the line then.
	Raw    string
	Broken bool
}

// shownLimit is how much of a message, or of a field's value, people are shown, in bytes.
const shownLimit = 4000

// Parse reads a line.
func Parse(line string) Record {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber() // as it stands there: 12345678, and not 1.2345678e+07
	err := decoder.Decode(&fields)
	if _, more := decoder.Token(); err != nil || fields == nil || more != io.EOF {
		return Record{Message: clip(strings.ToValidUTF8(line, "\uFFFD")), Raw: line, Broken: true}
	}
	text := func(key string) string { s, _ := fields[key].(string); return s }
	r := Record{Message: clip(oneLine(fmt.Sprint(fields["msg"]))), Session: text("session"), Turn: text("turn"), Raw: line}
	if err := r.Level.UnmarshalText([]byte(text("level"))); err != nil {
		r.Level = slog.LevelInfo
	}
	if at, err := time.Parse(time.RFC3339Nano, text("time")); err == nil {
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
		if number, ok := value.(json.Number); ok && key == "dur" { // in lines of before durations were written in words
			if ns, err := number.Float64(); err == nil {
				value = time.Duration(ns).Round(time.Microsecond)
			}
		}
		if b.Len() > 4*shownLimit {
			b.WriteString("  …")
			break
		}
		fmt.Fprintf(&b, "  %s=%s", oneLine(key), clip(oneLine(fmt.Sprint(value))))
	}
	r.Fields = b.String()
	return r
}

// String is the record as people read it: time, level, message, then the rest.
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

func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// clip is the beginning of a long text, and says so.
func clip(text string) string {
	if len(text) <= shownLimit {
		return text
	}
	cut := shownLimit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
}

// Filter says which records are wanted: those that match every field that is set.
type Filter struct {
	Level   slog.Level // the least
	Session string
	Turn    string // or the beginning of its id
	Text    string // occurs in the line as people read it, in any case
}

// Matches reports whether a record is wanted. A line that is no record is, unless a session
// or a turn is asked for.
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
