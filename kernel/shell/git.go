package shell

import "strings"

// gitCommands are git's own commands that run nothing but git as it is set up. Any other command
// may be an alias of the person, or a program.
const gitCommands = " add am annotate apply archive blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit config count-objects describe diff" +
	" diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes pull push" +
	" range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch symbolic-ref tag update-index" +
	" update-ref var verify-commit version whatchanged worktree write-tree "

// gitOptions are the options, of any git command, that run a program or write a file.
const gitOptions = "upload-pack receive-pack exec open-files-in-pager ext-diff textconv tool extcmd template config command output filter separate-git-dir to-command" +
	" strategy edit-description file-type gpg-sign signed smtp-server sendmail-cmd"

// readGit reads the words of git. Settings on the command line, options and aliases can make it run
// other programs.
//
// Options before the command of git decide which repository, which settings and which programs it uses,
// and have to be agreed to. --no-pager and -P only keep it from running a program, --no-optional-locks from
// writing its index, and --literal-pathspecs and --no-replace-objects take names as they stand: with these
// the command does the same or less.
func readGit(c *call) {
	words := c.rest()
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
	words := c.rest()
	name := words[i].Text
	if !strings.Contains(gitCommands, " "+name+" ") {
		c.literal(i, len(words), "it is none of the commands of git that run nothing else")
		for _, w := range words[i:] {
			if w.Kind != Literal {
				c.unknown(-1, "it is none of the commands of git that run nothing else")
			}
		}
		return
	}
	short := ""
	switch name {
	case "grep":
		short = "O"
	case "clone", "fetch", "pull", "ls-remote":
		short = "uc"
	case "rebase":
		short = "x"
	case "config":
		c.literal(i, len(words), "the settings of git say what it runs")
	}
	for j, w := range words[i:] {
		if strings.Contains(w.Text, "::") {
			c.unknown(i+j, "the address names a program")
		}
	}
	for j := i + 1; j < len(words) && words[j].Text != "--"; j++ {
		w := words[j]
		if w.Kind != Literal {
			c.unknown(-1, "a word that is not known before could be an option that runs something else")
			continue
		}
		if strings.HasPrefix(w.Text, "--") && dangerousGit(w.Text) || short != "" && !strings.HasPrefix(w.Text, "--") && dangerous(w.Text, short, "") {
			c.literal(j, j+2, optionWhy)
		}
	}
}

func dangerousGit(word string) bool { return dangerous(word, "", gitOptions) }
