package llm

import (
	"regexp"
	"strings"
	"time"
)

// stampFormat is the line before a message that has its time: an inactive timestamp of Org with the
// offset from UTC. The offset distinguishes the two hours that a clock shows twice in autumn.
const stampFormat = "[2006-01-02 Mon 15:04 -07:00]\n"

var stampLine = regexp.MustCompile(`^\[\d{4,}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [-+]\d\d:\d\d\]\n`)

// Stamped returns a message with its time in a line before it. For the zero time it returns the
// message unchanged. The result depends on nothing else: neither on this machine's zone nor on the
// present.
func Stamped(at time.Time, message string) string {
	if at.IsZero() {
		return message
	}
	return at.Format(stampFormat) + message
}

// Unstamped returns a message without the time before it. It removes one line at most: a second one
// is part of the message.
func Unstamped(message string) string {
	return strings.TrimPrefix(message, stampLine.FindString(message))
}
