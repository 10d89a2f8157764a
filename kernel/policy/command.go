package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/keys"
	"org-agent/kernel/protocol"
	"org-agent/kernel/shell"
	"org-agent/kernel/text"
)

// runRule judges each command that a command line would run, and each file that its redirections
// touch.
func (p *Policy) runRule(rules *Rules, r protocol.Reach) []Decision {
	script, err := shell.Parse(r.Command)
	if err != nil {
		return []Decision{{What: "runs " + shortened(r.Command), Kind: Refuse, Reason: "cannot be judged: " + err.Error()}}
	}
	all := make([]Decision, 0, len(script.Commands)+len(script.Files))
	agreed := make([][]agreement, len(script.Commands))
	for i, c := range script.Commands {
		var d Decision
		d, agreed[i] = p.commandRule(rules, script, i, r.Path, agreed)
		at := placesOf(script, c.After, c.Moved, r.Path)
		for _, place := range at.all {
			if named := p.namesProtected(c, place, p.protectedName(place)); named != "" && d.Kind != Refuse {
				d = Decision{What: d.What, Kind: Ask, OnceOnly: true, Reason: fmt.Sprintf("%s: %s is protected", d.What, named)}
			}
		}
		all = append(all, d)
	}
	for _, f := range script.Files {
		at := placesOf(script, f.After, f.Within, r.Path)
		f.Within = !at.known
		for _, place := range at.all {
			all = append(all, p.judgeRedirection(rules, f, place))
		}
	}
	if len(all) == 0 {
		all = append(all, Decision{What: "runs " + shortened(r.Command), Kind: Ask, Reason: "runs a text in which no command is seen"})
	}
	return append(all, tooLongToShow(r.Command, all)...)
}

// tooLongToShow refuses a command line about which a person would be asked and which they would not see
// whole.
func tooLongToShow(command string, all []Decision) []Decision {
	lines := 1 + strings.Count(strings.TrimSpace(command), "\n")
	if lines <= protocol.AskLines && len(command) <= protocol.AskBytes || !slices.ContainsFunc(all, func(d Decision) bool { return d.Kind == Ask }) {
		return nil
	}
	why := fmt.Sprintf("runs a text of %d lines and %d bytes, about which the person would be asked without seeing all of it: write it into a file, and run that, or run less at once", lines, len(command))
	return []Decision{{What: "runs " + shortened(command), Kind: Refuse, Reason: why}}
}

// agreement is a rule that allows a command. The words of the command that stand literally in the
// rule were agreed to by the person. If whole is true, that is every word; otherwise the word at
// place i of the command is word i+by of the rule, where the words left out of the command do not count.
type agreement struct {
	rule  *rule
	by    int
	whole bool
	out   []int
}

// has reports whether the person agreed to exactly the word at this place.
func (a agreement) has(at int) bool {
	if at < 0 || slices.Contains(a.out, at) {
		return false
	}
	before := 0
	for _, out := range a.out {
		if out < at {
			before++
		}
	}
	return a.whole || a.rule.words.is(at-before+a.by)
}

// withoutOptions returns the command as a person thinks of it when it has words that change nothing about
// what it does, or that only say where it works, and the places of these words.
func withoutOptions(c shell.Command) (short shell.Command, out []int) {
	if len(c.Neutral) == 0 && len(c.Enters) == 0 {
		return c, nil
	}
	out = slices.Clone(c.Neutral)
	for _, e := range c.Enters {
		for at := e.From; at <= e.At; at++ {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	short = shell.Command{Words: slices.Clone(c.Words), Assigns: c.Assigns}
	for _, at := range slices.Backward(out) {
		short.Words = slices.Delete(short.Words, at, at+1)
	}
	for _, at := range c.Aside {
		place, out := slices.BinarySearch(out, at)
		if !out {
			short.Aside = append(short.Aside, at-place)
		}
	}
	return short, out
}

// commandRule judges one command. It returns the agreements that allow the command. They also cover
// the commands that it runs, as far as the rule contains their words.
func (p *Policy) commandRule(rules *Rules, script shell.Script, i int, directory string, before [][]agreement) (Decision, []agreement) {
	c := script.Commands[i]
	at := placesOf(script, c.After, c.Moved, directory)
	c.Opaque = slices.DeleteFunc(slices.Clone(c.Opaque), func(o shell.Opacity) bool { return at.noOption(script, o) })
	at.enter(&c)
	at.reachRepositories(&c)
	short, out := withoutOptions(c)
	d := Decision{What: "runs " + commandText(c), Kind: Ask}
	agreed := inherited(script, i, before)
	for n := range rules.rules {
		rule := &rules.rules[n]
		if rule.kind != string(protocol.ReachRuns) {
			continue
		}
		switch {
		case at.known && !at.somewhereIn(rule):
		case rule.Verdict == Allow:
			matched, a := c, agreement{rule: rule}
			if len(out) > 0 && !rule.words.certain(c) {
				matched, a.out = short, out
			}
			if !at.in(rule) || !rule.words.certain(matched) {
				continue
			}
			if word := p.leavesAnywhere(rule, matched, at); word != "" {
				d.Reason = fmt.Sprintf("%s: %s is or could be outside of %s, which policy.org:%d is about, or holds keys", d.What, shortened(word), rule.inside, rule.Line)
				continue
			}
			agreed = append(agreed, a)
		case !rule.words.possible(c) && !(len(out) > 0 && rule.words.possible(short)):
		case rule.Verdict == Refuse && at.certainlyIn(rule) && (certainlyMatches(rule.words, c) || len(out) > 0 && certainlyMatches(rule.words, short)):
			return Decision{What: d.What, Kind: Refuse, Line: rule.Line, Rule: rule.Name(), Reason: rule.reason(d.What)}, nil
		case d.Line == 0:
			d.Line, d.Rule, d.Reason = rule.Line, rule.Name(), rule.reason(d.What)
			if rule.Verdict == Refuse {
				d.Reason += "; this could be such a command"
			}
		}
	}
	if d.Line != 0 {
		return d, nil
	}
	elsewhere := at.elsewhere(c)
	if elsewhere == "" {
		elsewhere = at.foreignRepository(c, p.project)
	}
	if elsewhere == "" {
		elsewhere = at.foreignDirectory(c, p)
	}
	placeOnly := false // a row allows the command, and only its place is another one
	agreed = slices.DeleteFunc(agreed, func(a agreement) bool {
		if slices.ContainsFunc(c.Opaque, func(o shell.Opacity) bool { return !a.has(o.At) }) {
			return true
		}
		here := elsewhere == "" || a.rule.inside != "" && at.in(a.rule)
		placeOnly = placeOnly || !here
		return !here
	})
	switch {
	case len(agreed) > 0:
		rule := agreed[0].rule
		return Decision{What: d.What, Kind: Allow, Line: rule.Line, Rule: rule.Name(), Reason: rule.reason(d.What)}, agreed
	case placeOnly:
		d.Reason = d.What + ": " + elsewhere
		return d, nil
	case len(c.Opaque) > 0:
		d.Reason = d.What + ": " + c.Opaque[0].Why
		return d, nil
	case elsewhere != "":
		d.Reason = d.What + ": " + elsewhere
		return d, nil
	case c.Harmless && staysInside(c, at):
		return Decision{What: d.What, Kind: Allow, Reason: d.What + ", which changes nothing"}, nil
	case c.OnlyRuns:
		return Decision{What: d.What, Kind: Allow, Reason: d.What + ", which only runs what follows"}, nil
	}
	if d.Reason == "" {
		d.Reason = d.What + ", which no rule allows"
	}
	return d, nil
}

// certainlyMatches reports whether the pattern certainly matches, wherever the program lies and whatever
// variables are set for it.
func certainlyMatches(p argvPattern, c shell.Command) bool {
	bare := shell.Command{Words: slices.Clone(c.Words[c.Assigns:])}
	if len(bare.Words) > 0 && bare.Words[0].Kind == shell.Literal {
		bare.Words[0].Text = filepath.Base(bare.Words[0].Text)
	}
	return p.certain(bare) || p.certain(c)
}

// inherited returns the agreements that a command takes over from the command that runs it.
func inherited(script shell.Script, i int, before [][]agreement) []agreement {
	c := script.Commands[i]
	if c.By < 0 {
		return nil
	}
	var agreed []agreement
	for _, a := range before[c.By] {
		all := true
		for at := c.From; at <= c.At; at++ {
			all = all && a.has(at)
		}
		if all {
			agreed = append(agreed, agreement{rule: a.rule, by: a.by + c.At - c.Assigns, whole: a.whole || c.Text})
		}
	}
	return agreed
}

// commandText writes a command on one line for people.
func commandText(c shell.Command) string {
	var b strings.Builder
	for i, w := range c.Words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.Kind == shell.Literal && (w.Text == "" || strings.IndexFunc(w.Text, isSpecial) >= 0) {
			b.WriteString("'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'")
		} else {
			b.WriteString(w.Text)
		}
	}
	return shortened(b.String())
}

// isSpecial reports whether a shell reads the character as more than itself.
func isSpecial(c rune) bool {
	switch c {
	case ' ', '\t', '\n', '\'', '"', '\\', '$', '`', ';', '&', '|', '<', '>', '(', ')', '{', '}', '*', '?', '[':
		return true
	}
	return false
}

// shortened returns a command or a path on one line that is short enough to read.
func shortened(s string) string { return text.Clip(text.Line(s), 120) }

// judgeRedirection judges a file that the shell opens for a command.
func (p *Policy) judgeRedirection(rules *Rules, f shell.File, directory string) Decision {
	kind := protocol.ReachReads
	if f.Write {
		kind = protocol.ReachWrites
	}
	path, known := absolutePath(f.Path, directory)
	if !known || f.Within && !filepath.IsAbs(f.Path.Text) && !f.Path.Home {
		what := fmt.Sprintf("%s %s", kind, shortened(f.Path.Text))
		return Decision{What: what, Kind: Ask, Reason: what + ", and which file that is is not known before"}
	}
	return p.pathRule(rules, kind, resolved(path))
}

// absolutePath returns the absolute path of a file that a command names, relative to its directory. It
// returns false if the path is not known before the command runs.
func absolutePath(w shell.Word, directory string) (string, bool) {
	if w.Kind != shell.Literal {
		return "", false
	}
	path := w.Text
	if w.Home {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		path = user + strings.TrimPrefix(path, "~")
	}
	if !filepath.IsAbs(path) {
		if directory == "" {
			return "", false
		}
		path = filepath.Join(directory, path)
	}
	return filepath.Clean(path), true
}

// namesProtected returns a word of the command that names a protected file, or "". Such a file
// decides what the agent is and may do, or belongs to the kernel, and the kernel cannot know what a
// program does with it. If inside is true, the command runs in a directory with such files.
func (p *Policy) namesProtected(c shell.Command, directory string, inside bool) string {
	for i, w := range c.Words {
		if w.Kind != shell.Literal || w.Text == "" || slices.Contains(c.Aside, i) {
			continue
		}
		_, value, _ := strings.Cut(w.Text, "=")
		for _, name := range [...]string{w.Text, value} {
			if name == "" {
				continue
			}
			if !inside && !strings.Contains(name, "/") && !protectedWord(name) {
				continue
			}
			path, ok := absolutePath(shell.Word{Text: name, Home: w.Home || strings.HasPrefix(name, "~/")}, directory)
			if ok && p.protectedName(path) {
				return shortened(w.Text)
			}
		}
	}
	return ""
}

// protectedWord reports whether a name without a directory may be that of a protected file.
func protectedWord(name string) bool {
	return name == "sessions" || isAutorun(name) || keys.Of(name) != keys.None || slices.Contains(protectedDirectories[:], name) || slices.Contains(protectedFiles[:], name)
}

// protectedName decides by the name alone, without reading the disk.
func (p *Policy) protectedName(path string) bool {
	if slices.Contains(protectedFiles[:], filepath.Base(path)) || isAutorun(path) {
		return true
	}
	if p.State != "" && isBelow(path, p.State) || keys.Of(path) != keys.None {
		return true
	}
	if p.Home == "" {
		return false
	}
	return isBelow(path, filepath.Join(p.Home, "sessions")) ||
		slices.ContainsFunc(protectedDirectories[:], func(name string) bool { return isBelow(path, filepath.Join(p.Home, name)) })
}

// isBelow reports whether path is the directory or a name in it.
func isBelow(path, directory string) bool {
	rest, below := strings.CutPrefix(path, directory)
	return below && (rest == "" || rest[0] == '/')
}
