package service

import (
	"context"
	"log/slog"
	"time"

	"org-agent/kernel/logfile"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

const (
	logTailDefault = 500
	logTailLimit   = 5000
	// logTailBytes is the maximum size of the records in one message.
	logTailBytes = 4 << 20
)

// Log shows the log, whose file is at Path.
type Log struct {
	Writer *logfile.Writer
	Path   string
}

// Methods returns the methods of this service.
func (l Log) Methods() []Method { return []Method{{protocol.MethodLogTail, ForClient(l.tail)}} }

// tail answers with the end of the log, and sends further records to the client.
func (l Log) tail(ctx context.Context, client *rpc.Client, p protocol.LogTailParams) (protocol.LogTailResult, error) {
	filter := logfile.Filter{Session: p.Session, Turn: p.Turn, Text: p.Text}
	if p.Level != "" {
		if err := filter.Level.UnmarshalText([]byte(p.Level)); err != nil {
			return protocol.LogTailResult{}, protocol.Errorf(protocol.CodeInvalidParams, "the level %q is not debug, info, warn or error", p.Level)
		}
	}
	count := p.Lines
	if count <= 0 {
		count = logTailDefault
	}
	var notify func([]logfile.Record, int)
	if p.Follow {
		notify = func(records []logfile.Record, dropped int) {
			latest, left := logRecords(records)
			client.Notify(protocol.MethodLog, protocol.LogLines{Records: latest, Dropped: dropped + left, Mark: p.Mark})
		}
	}
	found, left, err := l.Writer.Follow(ctx, client, filter, min(count, logTailLimit), notify)
	if err != nil {
		return protocol.LogTailResult{}, err
	}
	records, cut := logRecords(found)
	return protocol.LogTailResult{File: l.Path, Records: records, Left: left || cut > 0}, nil
}

// logRecords converts records for the wire: the latest that fit into a message. left is how many
// did not fit.
func logRecords(records []logfile.Record) (latest []protocol.LogRecord, left int) {
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
			record.Level = wireLevel(r.Level)
		}
		if !r.Time.IsZero() {
			record.Time = r.Time.UTC().Format(time.RFC3339Nano)
		}
		latest = append(latest, record)
	}
	return latest, first
}

func wireLevel(level slog.Level) protocol.Level {
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
