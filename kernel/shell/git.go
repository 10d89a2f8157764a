package shell

import "strings"

// readGit reads the words of git. Settings on the command line, options and aliases can make it run
// other programs.
//
// Options before the command of git decide which repository, which settings and which programs it uses,
// and have to be agreed to. --no-pager and -P only keep it from running a program, --no-optional-locks from
// writing its index, and --literal-pathspecs and --no-replace-objects take names as they stand: with these
// the command does the same or less.
func readGit(c *call) {
	words := c.rest()
	c.script.Commands[c.index].Obeys = true
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Kind != Literal {
			c.unknown(-1, "which command of git it is is not known before")
			return
		}
		switch {
		case w.Text == "--no-pager" || w.Text == "-P" || w.Text == "--no-optional-locks" || w.Text == "--literal-pathspecs" || w.Text == "--no-replace-objects":
			c.neutral(i) // git then runs less, and takes paths as they stand
		case w.Text == "-p" || w.Text == "--paginate":
			c.neutral(i)
			c.literal(i, i+1, "git runs the pager that its settings name")
		case w.Text == "--version" || w.Text == "--help":
		case w.Text == "-C" && i+1 < len(words) && words[i+1].Kind == Literal && !words[i+1].Home && words[i+1].Text != "":
			c.enters(i, i+1, words[i+1].Text)
			i++
		case w.Text == "-C" || w.Text == "-c" || w.Text == "--git-dir" || w.Text == "--work-tree" || w.Text == "--config-env" || w.Text == "--exec-path" || w.Text == "--namespace":
			c.literal(i, i+2, "git runs what its settings say")
			i++
		case strings.HasPrefix(w.Text, "-"):
			c.literal(i, i+1, "git runs what its settings say")
		default:
			c.gitCommand(i)
			return
		}
	}
}

func (c *call) gitCommand(i int) {
	for j, w := range c.rest()[i:] {
		if strings.Contains(w.Text, "::") {
			c.unknown(i+j, "the address names a program")
		}
	}
	c.judge(readPrograms()["git"], i)
}
