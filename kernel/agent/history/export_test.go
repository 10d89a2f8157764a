package history

import (
	"encoding/json"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// These names are for the tests outside the package: the reading and marking of notes, and the job of a
// summary.
const CacheBytes = cacheBytes

var (
	ParseSummary = parseSummary
	ReadSummary  = readSummary
	Preface      = preface
	MarkFor      = markFor
)

// Check is what becomes of notes of a text.
func Check(s Summary, source string) (Summary, []string) { return s.check(source) }

// Marshal returns the summary as a compaction has it.
func (s Summary) Marshal() ([]byte, error) { return json.Marshal(s) }

// Shown returns an excerpt without what it is rendered from.
func Shown(e Excerpt) Excerpt {
	e.pieces = nil
	return e
}

// EarlierMessages returns the whole messages of a step of an earlier turn.
func EarlierMessages(s journal.ToolStep) []llm.Message { return earlierMessages(s, whole) }

// StartJob starts the summary of a session, or returns the one that is running.
func (c *Compactor) StartJob(session string, by journal.CompactionBy) *job {
	return c.startJob(session, by)
}

// RunningJob returns the summary of a session that is being made; nil if there is none.
func (c *Compactor) RunningJob(session string) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[session]
}

// Done is closed when the summary has ended. Err and Result are set then.
func (j *job) Done() <-chan struct{} { return j.done }

func (j *job) Err() error { return j.err }

func (j *job) Result() protocol.SessionCompacted { return j.result }
