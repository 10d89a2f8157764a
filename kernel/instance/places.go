package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/secret"
)

// Places are the directories and files of a kernel that runs. They may vanish meanwhile: the directory of
// the socket goes with the login session in which it was made, and people remove and move directories.
//
// What clients find the kernel by is made again. Where the home or the kernel's own data is gone, the kernel
// has to end: it would write into files that no other process can open. All fields but Logger are required.
type Places struct {
	Paths config.Paths
	Info  config.KernelInfo
	Token secret.Text
	// Listener is that of the socket.
	Listener Listener
	// Salvage writes what the journal holds to a file that does not exist.
	Salvage func(ctx context.Context, to string) error
	// Reopen has the log written to a new file.
	Reopen func()
	Logger *slog.Logger

	known  []place // that have to stay
	follow bool    // the next kernel is to start at once
}

// Leave removes kernel.json, so that clients do not look for the kernel any more. It stays where the kernel
// ended because its own data was gone: clients then start the next one.
func (p *Places) Leave() {
	if !p.follow {
		p.Info.Remove(p.Paths.KernelJSON)
	}
}

// Listener listens on a socket whose file may vanish. Renew listens again, at the first of the paths where
// that is possible.
type Listener interface {
	Path() string
	Lost() bool
	Renew(paths ...string) error
}

// place is a directory or a file as it was at the start.
type place struct {
	path, what string
	was        os.FileInfo
	salvaged   bool // what was in it is written again
}

// there reports whether the place is where it was.
func (p place) there() bool {
	now, err := os.Stat(p.path)
	return err == nil && os.SameFile(now, p.was)
}

// Interval is how often a kernel looks whether its places are there.
const Interval = time.Second

// Keep looks after the places until ctx ends, and then returns nil. An error says why the kernel has to end.
// [Places.Remember] comes first.
func (p *Places) Keep(ctx context.Context) error {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	missing := 0 // how often in succession
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		gone := p.gone()
		if gone == nil {
			missing = 0
			if err := p.renew(); err != nil {
				return err
			}
			continue
		}
		// A directory may be away for a moment while it is replaced. The kernel's own files are not
		// replaced by anybody.
		if missing++; missing == 1 && !gone.salvaged {
			continue
		}
		return p.end(ctx, *gone)
	}
}

// Remember notes which files and directories there are, by which Keep knows that one is another. It is
// called before anybody is told that the kernel is there.
func (p *Places) Remember() {
	for _, one := range []place{
		{path: p.Paths.Home, what: "the home"},
		{path: p.Paths.Journal, what: "the journal", salvaged: true},
		{path: p.Paths.Index, what: "the index of notes", salvaged: true},
	} {
		var err error
		if one.was, err = os.Stat(one.path); err == nil {
			p.known = append(p.known, one)
		}
	}
}

// gone returns a place that is not where it was, or nil.
func (p *Places) gone() *place {
	for i := range p.known {
		if !p.known[i].there() {
			return &p.known[i]
		}
	}
	return nil
}

// end writes what would be lost, and returns why the kernel ends.
func (p *Places) end(ctx context.Context, gone place) error {
	const again = "the kernel ends, and the next one goes on from there"
	if !gone.salvaged {
		return fmt.Errorf("%s %s was removed or replaced while the kernel ran: the kernel ends; put it back, or start a kernel, which makes a new one", gone.what, gone.path)
	}
	if gone.path != p.Paths.Journal {
		return fmt.Errorf("%s %s was removed or replaced while the kernel ran: %s", gone.what, gone.path, again)
	}
	to, err := p.salvage(ctx)
	if err != nil {
		return fmt.Errorf("%s %s was removed or replaced while the kernel ran, and cannot be written again: %w; the kernel ends; your conversations are in %s",
			gone.what, gone.path, err, p.Paths.Sessions)
	}
	p.follow = true
	if to != gone.path {
		return fmt.Errorf("%s %s was replaced while the kernel ran: the kernel ends; what the former one holds is in %s", gone.what, gone.path, to)
	}
	return fmt.Errorf("%s %s was removed while the kernel ran: it was written again; %s", gone.what, gone.path, again)
}

// salvage writes the journal again: at its path, or beside it if there is another one.
func (p *Places) salvage(ctx context.Context) (to string, err error) {
	if err := p.Paths.EnsureState(); err != nil {
		return "", err
	}
	p.Reopen()
	to = p.Paths.Journal
	if _, err := os.Lstat(to); err == nil {
		to += ".replaced-" + time.Now().Format("2006-01-02-150405")
	}
	return to, p.Salvage(context.WithoutCancel(ctx), to)
}

// renew makes again what clients find the kernel by.
func (p *Places) renew() error {
	if _, err := os.Stat(p.Paths.Log); err != nil {
		p.Reopen()
	}
	var failed error
	if now, err := config.ReadToken(p.Paths.Token); err != nil || now != p.Token {
		failed = p.made(p.Paths.Token, config.WriteToken(p.Paths.Token, p.Token))
	}
	renewed, err := p.listen()
	if err != nil {
		return fmt.Errorf("the socket %s was removed while the kernel ran, and it cannot listen again: %w; the kernel ends; start one again when that is mended", p.Info.Socket, err)
	}
	if renewed {
		p.Logger.Warn("listening again: the socket was removed", "socket", p.Info.Socket)
	}
	if now, err := config.ReadKernelInfo(p.Paths.KernelJSON); err != nil || !now.Same(p.Info) {
		failed = errors.Join(failed, p.made(p.Paths.KernelJSON, config.WriteKernelInfo(p.Paths.KernelJSON, p.Info)))
	}
	if failed != nil {
		p.Logger.Error("clients cannot find the kernel", "err", failed)
	}
	return nil
}

// made logs that a file was written again.
func (p *Places) made(path string, err error) error {
	if err == nil {
		p.Logger.Warn("a file of the kernel was removed or changed, and was written again", "path", path)
	}
	return err
}

// listen listens again if the socket is gone.
func (p *Places) listen() (renewed bool, err error) {
	if !p.Listener.Lost() {
		return false, nil
	}
	var failed error
	for _, paths := range []config.Paths{p.Paths, p.Paths.Elsewhere()} {
		if filepath.Dir(paths.Socket) == paths.Run {
			if err := paths.EnsureRun(); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		err := p.Listener.Renew(paths.Socket, paths.SpareSocket())
		if err == nil {
			p.Info.Socket = p.Listener.Path()
			return true, nil
		}
		failed = errors.Join(failed, err)
	}
	return false, failed
}
