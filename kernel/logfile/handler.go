package logfile

import (
	"io"
	"log/slog"
	"time"
)

// Handler returns a handler that writes records of at least that level for [Parse], one a line. It
// writes durations for people: 1.5ms, not 1500000.
func Handler(to io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: readable})
}

func readable(_ []string, attribute slog.Attr) slog.Attr {
	if attribute.Value.Kind() == slog.KindDuration {
		attribute.Value = slog.StringValue(attribute.Value.Duration().Round(time.Microsecond).String())
	}
	return attribute
}
