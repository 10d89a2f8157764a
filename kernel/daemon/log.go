package daemon

import (
	"log/slog"

	"gopkg.in/natefinch/lumberjack.v2"

	"org-agent/kernel/config"
	"org-agent/kernel/logfile"
)

// The log is kept in files of this size, the last few of them.
const (
	logMegabytes = 10
	logFiles     = 4
)

// openLog directs the log to the instance's file, a JSON record a line.
func openLog(paths config.Paths, level slog.Level) (log *slog.Logger, book *logfile.Writer, closeLog func()) {
	file := &lumberjack.Logger{Filename: paths.Log, MaxSize: logMegabytes, MaxBackups: logFiles}
	book = logfile.NewWriter(paths.Log, file)
	return slog.New(logfile.Handler(book, level)), book, func() { _ = file.Close() }
}
