package tool

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/cover"
	"org-agent/kernel/process"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
)

//go:embed exec.md
var execManual string

// How long a command may run, in seconds: by default, and at most.
const (
	defaultTimeout = 60
	mostTimeout    = 600
)

type execArguments struct {
	Command string `doc:"the bash command" required:"true"`
	Cwd     string `doc:"the directory in which it runs and which it can read, an absolute path (default: an empty directory of its own)"`
	Writes  bool   `doc:"t if it may change :cwd"`
	Network bool   `doc:"t if it needs the network"`
	Secrets bool   `doc:"t if it has to see files that may hold keys, and text that is kept from you: the person is asked each time" seldom:"true"`
	Timeout int    `doc:"the seconds after which it is stopped, up to 600 (default: 60)"`
}

func (a *execArguments) request() process.Request {
	return process.Request{Command: a.Command, Directory: a.Cwd, Writes: a.Writes, Network: a.Network, Secrets: a.Secrets}
}

func execCommand(commands *process.Table) Tool {
	return New(Definition[execArguments]{
		Name: "exec", Manual: execManual,
		Offered: func() bool { return commands != nil },
		Reach: func(ctx context.Context, by *Caller, a *execArguments) ([]protocol.Reach, error) {
			if a.Timeout < 0 || a.Timeout > mostTimeout {
				return nil, protocol.ToolErrorf(protocol.ToolArguments, "the :timeout is 1 to %d seconds: use the tool process for what takes longer", mostTimeout)
			}
			return reachOfCommand(ctx, commands, a.Command, &a.Cwd, a.request)
		},
		Preview: func(ctx context.Context, by *Caller, a execArguments) (Preview, error) {
			return previewOfCommand(ctx, commands, a.request())
		},
		Perform: func(ctx context.Context, by *Caller, a execArguments) (string, error) {
			if a.Timeout == 0 {
				a.Timeout = defaultTimeout
			}
			r := shownSecrets(ctx, commands, a.request())
			r.Session = by.Conversation.Session
			report, err := commands.Run(ctx, r, time.Duration(a.Timeout)*time.Second)
			if err != nil {
				return "", err
			}
			return renderRun(commands, r.Session, report), nil
		},
	})
}

// reachOfCommand returns what a command would touch. It resolves the command's directory.
func reachOfCommand(ctx context.Context, commands *process.Table, text string, directory *string, request func() process.Request) ([]protocol.Reach, error) {
	if strings.TrimSpace(text) == "" {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "the :command is empty")
	}
	if request().Writes && *directory == "" {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "there is no directory to write in: give it as :cwd, or leave out :writes; in its own empty directory a command may always write")
	}
	if *directory != "" {
		resolved, err := resolveDirectory(*directory)
		if err != nil {
			return nil, err
		}
		*directory = resolved
	}
	r := shownSecrets(ctx, commands, request())
	if err := commands.Check(r); err != nil {
		return nil, protocol.ToolErrorf(protocol.ToolRefused, "%w", err)
	}
	reach := []protocol.Reach{{Kind: protocol.ReachRuns, Command: text, Path: r.Directory}}
	if r.Directory != "" {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachReads, Path: r.Directory})
	}
	if r.Writes {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachWrites, Path: r.Directory})
	}
	if found := commands.Covered(ctx, r.Directory); !found.Whole || r.Secrets && len(found.Secrets()) > 0 {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachShows, Path: r.Directory})
	}
	if r.Network && commands.Kind().Fenced() {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachFetches, URL: "*"})
	}
	return append(reach, unfenced(commands)...), nil
}

// namesGit matches a command line that may run git.
var namesGit = regexp.MustCompile(`(^|[^A-Za-z0-9_])git($|[^A-Za-z0-9_])`)

// shownSecrets returns the request of a command that is shown what is covered otherwise if it uses git in
// a repository with such files. git would tell their text as a change, or nothing at all.
func shownSecrets(ctx context.Context, commands *process.Table, r process.Request) process.Request {
	r.Secrets = r.Secrets || namesGit.MatchString(r.Command) && commands.Covered(ctx, r.Directory).Holds()
	return r
}

// unfenced returns what a command reaches, in addition to its grants, on a system without a fence:
// everything that the person can reach.
func unfenced(commands *process.Table) []protocol.Reach {
	if commands.Kind().Fenced() {
		return nil
	}
	return []protocol.Reach{{Kind: protocol.ReachFetches, URL: "*"}, {Kind: protocol.ReachWrites, Path: "/"}}
}

// resolveDirectory returns the real path of a directory that a model named.
func resolveDirectory(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", name, err)
		}
		name = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", protocol.ToolErrorf(protocol.ToolArguments, "%q is not an absolute path: a directory begins with / or ~", name)
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", protocol.ToolErrorf(protocol.ToolNotFound, "there is no directory %s", name)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", protocol.ToolErrorf(protocol.ToolUnfit, "%s is not a directory", path)
	}
	return path, nil
}

// previewOfCommand returns what a person sees of a command in addition to its text.
func previewOfCommand(ctx context.Context, commands *process.Table, r process.Request) (Preview, error) {
	r = shownSecrets(ctx, commands, r)
	first, _, more := strings.Cut(strings.TrimSpace(r.Command), "\n")
	if more {
		first += " …"
	}
	p := Preview{Summary: "Run " + first, Text: r.Command}
	where := "it runs in an empty directory, which is deleted afterwards"
	switch {
	case r.Writes:
		where = "it runs in " + r.Directory + " and can change everything there"
	case r.Directory != "":
		where = "it runs in " + r.Directory + ", can read everything there and change nothing"
	}
	p.Effects = append(p.Effects, where)
	if found := commands.Covered(ctx, r.Directory); r.Secrets && len(found.Secrets()) > 0 {
		p.Effects = append(p.Effects, "it can also read what may hold keys or is kept from models: "+cover.Names(found.Secrets(), r.Directory))
	} else {
		if len(found.Files) > 0 {
			p.Effects = append(p.Effects, "it does not see what may hold keys or is kept from models: "+cover.Names(found.Files, r.Directory))
		}
		if !found.Whole {
			p.Effects = append(p.Effects, "the directory has more files than are looked through, or some that cannot be read: it can read all that is in them, also keys")
		}
	}
	if r.Writes && commands.Kind().Fenced() {
		if _, whole := sandbox.Repositories(r.Directory); !whole {
			p.Effects = append(p.Effects, "the directory has more subdirectories than are searched, or some that cannot be read: in repositories there it can change hooks and settings, which git obeys")
		}
	}
	if r.Network && commands.Kind().Fenced() {
		p.Effects = append(p.Effects, "it can send everything that it can read to any server in the internet, by HTTP; it does not reach the services of this machine and of the networks around it")
	}
	if r.Terminal {
		p.Effects = append(p.Effects, "it has its own terminal")
	}
	if !commands.Kind().Fenced() {
		p.Effects = append(p.Effects, "this system has no sandbox: it can read and change whatever you can, and send it anywhere, also to the services of this machine and of the networks around it")
	}
	return p, nil
}

// Of an output that is longer than both together, a model gets the beginning and the end.
const (
	headBytes = 10 << 10
	tailBytes = 6 << 10
)

// renderRun returns the answer about a command: whether it runs or how it ended, and its output.
func renderRun(commands *process.Table, session string, r process.Report) string {
	var b strings.Builder
	state := r.State()
	if r.Directory == "" && !r.Running { // else the model looks for what the command wrote
		state += ", in an empty directory of its own, which is gone"
	}
	b.WriteString("[" + state + "]\n")
	if len(r.Covered) > 0 {
		b.WriteString("[it did not see as they are, because keys may be there or the user keeps them from you: " + cover.Names(r.Covered, r.Directory) + "]\n")
	}
	if text := r.Left.String(); text != "" {
		b.WriteString("[tell the person: " + text + "]\n")
	}
	if r.Bytes == 0 {
		b.WriteString("[it wrote nothing]\n")
		return b.String()
	}
	read := func(from, most int64) string {
		part := make([]byte, most)
		n, _, err := commands.Output(session, r.ID, from, part)
		if err != nil {
			return "[" + err.Error() + "]\n"
		}
		return readable(part[:n])
	}
	if r.Stored <= headBytes+tailBytes {
		b.WriteString(read(0, headBytes+tailBytes))
	} else {
		b.WriteString(read(0, headBytes))
		fmt.Fprintf(&b, "\n[%d bytes are left out here: process (:action :output :id %q :from %d) gives you them]\n", r.Stored-headBytes-tailBytes, r.ID, headBytes)
		b.WriteString(read(r.Stored-tailBytes, tailBytes))
	}
	if r.Bytes > r.Stored {
		fmt.Fprintf(&b, "\n[it wrote %d bytes more, which are not kept]", r.Bytes-r.Stored)
	}
	return b.String()
}

// readable returns the output of a program as text. Bytes that are not text are shown as such.
// Sequences that move a terminal's cursor or colour its text are left out.
func readable(output []byte) string {
	var b strings.Builder
	text := string(output)
	for len(text) > 0 {
		if n := escapeLength(text); n > 0 {
			text = text[n:]
			continue
		}
		c, size := utf8.DecodeRuneInString(text)
		switch {
		case c == '\r' && strings.HasPrefix(text[1:], "\n"):
		case c == '\r':
			b.WriteByte('\n') // the program wrote over the line
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			b.WriteRune('\u2400' + min(c, 0x21)) // the control picture of the character
		default:
			b.WriteRune(c)
		}
		text = text[size:]
	}
	return b.String()
}

// escapeLength returns the length of the terminal sequence at the beginning of the text, or 0.
func escapeLength(text string) int {
	if len(text) < 2 || text[0] != 0x1b {
		return 0
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= 0x40 && text[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(text); i++ {
			if text[i] == 0x07 {
				return i + 1
			}
			if text[i] == 0x1b && i+1 < len(text) && text[i+1] == '\\' {
				return i + 2
			}
		}
	case '(', ')':
		return min(3, len(text))
	default:
		return 2
	}
	return 0
}
