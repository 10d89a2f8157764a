package daemon

import (
	"context"
	"log/slog"
	"time"

	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

const (
	logTailLines = 500
	logTailMost  = 5000
	// logTailBytes bounds the records of one message.
	logTailBytes = 4 << 20
)

// logTail answers with the end of the log, and has the client told of what comes.
func (d *daemon) logTail(ctx context.Context, client *rpc.Client, p *protocol.LogTailParams) (protocol.LogTailResult, error) {
	filter := logfile.Filter{Session: p.Session, Turn: p.Turn, Text: p.Text}
	if p.Level != "" {
		if err := filter.Level.UnmarshalText([]byte(p.Level)); err != nil {
			return protocol.LogTailResult{}, protocol.Errorf(protocol.CodeInvalidParams, "the level %q is not debug, info, warn or error", p.Level)
		}
	}
	count := p.Lines
	if count <= 0 {
		count = logTailLines
	}
	var tell func([]logfile.Record, int)
	if p.Follow {
		tell = func(records []logfile.Record, dropped int) {
			told, left := logRecords(records)
			client.Notify(protocol.MethodLog, protocol.LogLines{Records: told, Dropped: dropped + left, Mark: p.Mark})
		}
	}
	found, left, err := d.book.Follow(ctx, client, filter, min(count, logTailMost), tell)
	if err != nil {
		return protocol.LogTailResult{}, err
	}
	records, cut := logRecords(found)
	return protocol.LogTailResult{File: d.paths.Log, Records: records, Left: left || cut > 0}, nil
}

// logRecords are records for the wire: the latest that fit a message, and how many did not.
func logRecords(records []logfile.Record) (told []protocol.LogRecord, left int) {
	first, size := len(records), 0
	for first > 0 {
		r := records[first-1]
		if size += len(r.Message) + len(r.Fields) + 200; size > logTailBytes {
			break
		}
		first--
	}
	for _, r := range records[first:] {
		record := protocol.LogRecord{Message: r.Message, Session: r.Session, Turn: r.Turn, Fields: r.Fields}
		if !r.Broken {
			record.Level = levelOf(r.Level)
		}
		if !r.Time.IsZero() {
			record.Time = r.Time.UTC().Format(time.RFC3339Nano)
		}
		told = append(told, record)
	}
	return told, first
}

func levelOf(level slog.Level) protocol.Level {
	switch {
	case level < slog.LevelInfo:
		return protocol.LevelDebug
	case level < slog.LevelWarn:
		return protocol.LevelInfo
	case level < slog.LevelError:
		return protocol.LevelWarn
	}
	return protocol.LevelError
}
