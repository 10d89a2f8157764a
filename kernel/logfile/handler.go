package logfile

import (
	"io"
	"log/slog"
	"time"
)

// Handler writes records as [Parse] reads them, a line each, from the level on. A duration is
// written as people read it, whatever its key: 1.5ms, not 1500000.
func Handler(to io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: readable})
}

func readable(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Value.Kind() == slog.KindDuration {
		attribute.Value = slog.StringValue(attribute.Value.Duration().Round(time.Microsecond).String())
	}
	return attribute
}
