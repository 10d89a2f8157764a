package llm

import (
	"regexp"
	"strings"
	"time"
)

// stampFormat is when something was said, as a line before it: an inactive timestamp of Org
// with the offset from UTC, which tells the two hours apart that a clock shows when it is set
// back in autumn.
const stampFormat = "[2006-01-02 Mon 15:04 -07:00]\n"

var stampLine = regexp.MustCompile(`^\[\d{4,}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [-+]\d\d:\d\d\]\n`)

// Stamped is what was said, below the time at which it was; the zero time is not told. The
// bytes depend on nothing else: neither on this machine's zone nor on the present.
func Stamped(at time.Time, said string) string {
	if at.IsZero() {
		return said
	}
	return at.Format(stampFormat) + said
}

// Unstamped is what was said, without the time before it. Only one is taken away: what looks
// like another was said.
func Unstamped(said string) string {
	return strings.TrimPrefix(said, stampLine.FindString(said))
}
