package daemon

import (
	"log/slog"

	"gopkg.in/natefinch/lumberjack.v2"

	"org-agent/kernel/config"
	"org-agent/kernel/logfile"
	"org-agent/kernel/skill"
)

// The log is kept in files of this size, the last few of them.
const (
	logMegabytes = 10
	logFiles     = 4
)

// openLog directs the log to the instance's file, a JSON record a line.
func (d *daemon) openLog(settings config.Settings) (closeLog func()) {
	file := &lumberjack.Logger{Filename: d.paths.Log, MaxSize: logMegabytes, MaxBackups: logFiles}
	d.book = logfile.NewBook(d.paths.Log, file)
	d.log = slog.New(logfile.Handler(d.book, settings.LogLevel))
	return func() { _ = file.Close() }
}

// logStatus says what became of a note.
func (d *daemon) logStatus(s skill.Status) {
	if len(s.Diagnostics) == 0 {
		d.log.Info("note loaded", "file", s.File, "skill", s.Skill, "state", s.State)
		return
	}
	for _, fault := range s.Diagnostics {
		d.log.Warn("note not in order", "file", s.File, "state", s.State, "err", fault.String())
	}
}
