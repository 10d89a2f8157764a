package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/shell"
)

// pieces are the parts of random command lines. The letters are programs. There is no function and
// no endless loop among them, because bash really runs the result.
var pieces = []string{
	"a", "b", "c", "d", "a x", " ", " ", "; ", "\n", " | ", " && ", " || ", " & ", "(", ")", "{ ", "; }", "$(", ")", "`", "'", "\"", "\\", "<<E\n", "<<'E'\n", "<<-E\n", "\nE\n", "#", "! ",
	"if ", "; then ", "; else ", "; fi", "case a in a) ", ";; esac", "for x in 1; do ", "; done", "$'", "$\"", "x=", "<(", "> f", "2>&1 ", "&> f", "<<< ", "[[ ", " ]]", "((", "))",
	"${x:-", "${x#", "}", "time ", "coproc ", "eval ", "command ", "exec ", "builtin ", "trap ", " EXIT", "$x", "*", "[", "]", "{a,b}", "~", "-", "\t", "\\\n", " \\\n", "|& ", "esac", "in ", "$((", "1", "$[", "\r", "é",
}

// shapes are the forms of well-formed command lines. % stands for another one.
var shapes = []string{
	"a", "b x", "c \"y z\"", "\\d", "e'f'", "%; %", "% | %", "% && %", "% || %", "(%)", "{ %; }", "! %", "if %; then %; fi", "for x in 1; do %; done", "case x in x) %;; esac", "a $(%)", "a \"$(%)\"", "a `%`",
	"a <<E\n$(%)\nE\n", "a <<'E'\n%\nE\n", "a <(%)", "eval '%'", "eval \"%\"", "command %", "builtin command %", "x=$(%)", "x=1 %", "% > f", "% 2>&1", "a ${x:-$(%)}", "a \"${x:-`%`}\"",
	"trap '%' EXIT", "time %", "% &", "% # %", "a '%'", "a \"%\"", "exec %", "[[ $(%) ]]", "a $'%'", "a \\\n%", "a \\\n x % \\\n", "%\n%", "$(echo %)", "a{b,c} %", "bash -c '%'",
}

// nested returns a command line of shapes, with a piece in it that may spoil it.
func nested(t *rapid.T) string {
	text := "%"
	for range rapid.IntRange(1, 7).Draw(t, "depth") {
		text = strings.Replace(text, "%", rapid.SampledFrom(shapes).Draw(t, "shape"), 1)
	}
	text = strings.ReplaceAll(text, "%", "a")
	if rapid.Bool().Draw(t, "spoil") {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		text = text[:at] + rapid.SampledFrom(pieces).Draw(t, "piece") + text[at:]
	}
	return text
}

// isUnknown reports whether more than the words of a program that is not known could run something.
func isUnknown(c shell.Command) bool {
	named := c.Assigns < len(c.Words) && c.Words[c.Assigns].Kind == shell.Literal && len(c.Words[c.Assigns].Text) == 1
	return slices.ContainsFunc(c.Opaque, func(o shell.Opacity) bool { return o.At < 0 || !named })
}

// TestProgramsAgreeWithBash checks that the reader reports every program that bash looks for in a
// text, or reports that something is unknown.
func TestProgramsAgreeWithBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("the shell that is given commands has to be there: install bash")
	}
	directory := t.TempDir()
	handler, run := filepath.Join(directory, "handler"), 0
	if err := os.WriteFile(handler, []byte("command_not_found_handle() { printf '%s\\0' \"$1\" >> \"$RAN\"; return 0; }\nulimit -u 2000 -t 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(directory, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.Custom(nested), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14), func(all []string) string { return strings.Join(all, "") })).Draw(rt, "text")
		script, err := shell.Parse(text)
		if err != nil || slices.ContainsFunc(script.Commands, isUnknown) {
			return
		}
		predicted := map[string]bool{}
		for _, c := range script.Commands {
			if c.Assigns < len(c.Words) {
				predicted[c.Words[c.Assigns].Text] = true
			}
		}
		run++ // what the last command left in the background writes elsewhere
		log := filepath.Join(directory, strconv.Itoa(run))
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			rt.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		command := exec.CommandContext(ctx, bash, "-c", text)
		command.Dir, command.Env = work, []string{"PATH=/nonexistent", "BASH_ENV=" + handler, "RAN=" + log}
		command.WaitDelay, command.SysProcAttr = time.Second, &syscall.SysProcAttr{Setpgid: true}
		command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
		_ = command.Run() // how it ends does not matter
		if command.Process != nil {
			_ = command.Cancel() // what it left in the background, if anything
		}
		ran, err := os.ReadFile(log)
		if err != nil {
			rt.Fatal(err)
		}
		for name := range strings.FieldsFuncSeq(string(ran), func(r rune) bool { return r == 0 }) {
			if !predicted[name] {
				rt.Fatalf("bash ran %q of %q; told: %v", name, text, predicted)
			}
		}
	})
}
