package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/shell"
)

// foreignRepository returns why a program of versions could run what the settings or the hooks of a repository
// name, or "". The repositories of the conversation's projects are the person's own. Any other may be
// somebody's archive that was unpacked, and a row that is about no directory was not written for it.
func (at *places) foreignRepository(c shell.Command, projectOf func(path string) string) string {
	if !isOfRepository(c) {
		return ""
	}
	for _, place := range at.all { // where it changes to is judged by enter
		if place == "" {
			continue
		}
		for root := range repositoriesAbove(resolved(place)) {
			if project := projectOf(root); project != "" && resolved(project) == root {
				continue
			}
			if named := repositoryRuns(root); named != "" {
				return "git could run what " + named + " of the repository " + shortened(root) + " says, which is no project of the conversation"
			}
		}
	}
	return ""
}

// repositoriesAbove yields the directories that could be the repository for git: the one itself and those above,
// up to the first that certainly is one.
func repositoriesAbove(directory string) func(yield func(root string) bool) {
	return func(yield func(root string) bool) {
		for at := directory; at != "."; at = filepath.Dir(at) {
			for _, git := range [...]string{gitDirectory(at), at} {
				entries, err := os.ReadDir(git)
				if git == "" || err != nil || git == at && !hasNames(entries, "HEAD", "objects", "refs") {
					continue
				}
				if !yield(at) || hasNames(entries, "HEAD", "objects", "refs") || hasNames(entries, "HEAD", "commondir") {
					return
				}
			}
			if _, err := os.Lstat(filepath.Join(at, ".hg")); err == nil && !yield(at) {
				return
			}
			if at == "/" {
				return
			}
		}
	}
}

func hasNames(entries []fs.DirEntry, names ...string) bool {
	for _, name := range names {
		found := false
		for _, entry := range entries {
			found = found || entry.Name() == name
		}
		if !found {
			return false
		}
	}
	return true
}

// gitDirectory returns the directory to which .git leads in a directory, or "".
func gitDirectory(directory string) string {
	git := filepath.Join(directory, ".git")
	info, err := os.Stat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return git
	}
	return pointedTo(git, directory, "gitdir:")
}

// pointedTo returns the directory that a file names, relative to a directory, or "".
func pointedTo(file, directory, prefix string) string {
	text, err := os.ReadFile(file)
	name, led := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	if name = strings.TrimSpace(name); err != nil || !led || name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(directory, name)
	}
	return name
}

// repositoryRuns returns what in a repository could name a program, or "".
func repositoryRuns(root string) string {
	if _, err := os.Lstat(filepath.Join(root, ".hg", "hgrc")); err == nil {
		return ".hg/hgrc"
	}
	git := gitDirectory(root)
	if git == "" {
		git = root
	}
	directories := []string{git}
	if common := pointedTo(filepath.Join(git, "commondir"), git, ""); common != "" {
		directories = append(directories, common)
	}
	for _, directory := range directories {
		for _, name := range [...]string{"config", "config.worktree"} {
			if setting := namedSetting(filepath.Join(directory, name)); setting != "" {
				return "the setting " + setting
			}
		}
		hooks, err := os.ReadDir(filepath.Join(directory, "hooks"))
		if err != nil {
			continue
		}
		for _, hook := range hooks {
			if !strings.HasSuffix(hook.Name(), ".sample") {
				return "the hook " + hook.Name()
			}
		}
	}
	return ""
}

var (
	configSection = regexp.MustCompile(`^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*`)
	configKey     = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$`)

	// plainSettings matches the settings, with their values, that certainly have git run nothing. All else
	// counts as naming a program, also what is not known.
	plainSettings = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
		`core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|untrackedcache|whitespace|preloadindex|longpaths|protect(?:hfs|ntfs)|trustctime|checkstat|sparsecheckout(?:cone)?|commitgraph|multipackindex|sharedrepository)=.*`,
		`core\.fsmonitor=(?:true|false|yes|no|on|off|0|1)?`,
		`user\.(?:name|email|signingkey)=.*`,
		`remote\..*\.(?:fetch|push|tagopt|prune|mirror|skipfetchall|skipdefaultupdate|promisor|partialclonefilter|gh-resolved)=.*`,
		`remote\..*\.(?:url|pushurl)=(?:(?:https?|ssh|git)://[A-Za-z0-9].*|[A-Za-z0-9_.]+@[A-Za-z0-9_.-]+:[^:].*)`,
		`submodule\..*\.(?:active|branch|ignore)=.*`,
		`submodule\..*\.url=(?:https?|ssh|git)://[A-Za-z0-9].*`,
		`branch\..*\.(?:merge|remote|rebase|description|pushremote|vscode-merge-base|gh-merge-base)=[^:]*`,
		`extensions\.(?:objectformat|worktreeconfig|partialclone|refstorage)=.*`,
		`(?:pull|push|fetch|color|gc|pack|index|feature|rerere|status|log|init\.defaultbranch|i18n|advice|blame|column|versionsort|maintenance|transfer|tag\.sort|commit\.(?:verbose|cleanup|status)|merge\.(?:ff|conflictstyle|log|renames|stat)|rebase\.(?:autostash|autosquash|updaterefs)|diff\.(?:renames|algorithm|colormoved|noprefix|mnemonicprefix|context|indentheuristic|ignoresubmodules|submodule)|lfs\.repositoryformatversion)(?:\.[a-z0-9-]+)*=.*`,
	}, "|") + `)$`)
)

// namedSetting returns a setting of a file of git's that could name a program, or "". A file that cannot be read
// as git reads it counts as one.
func namedSetting(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	section := ""
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line = strings.TrimSpace(line)
		if head := configSection.FindStringSubmatch(line); head != nil {
			section, line = strings.ToLower(head[1]), strings.TrimSpace(line[len(head[0]):])
			if head[2] != "" {
				section += "." + head[2]
			}
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key := configKey.FindStringSubmatch(line)
		if key == nil || section == "" || strings.HasSuffix(line, `\`) {
			return "in the line " + shortened(line)
		}
		value := strings.Trim(strings.TrimSpace(key[2]), `"`)
		if !plainSettings.MatchString(section + "." + strings.ToLower(key[1]) + "=" + value) {
			return section + "." + strings.ToLower(key[1])
		}
	}
	return ""
}

// reachRepositories gives a command of git that speaks with other repositories an opacity for each word by which it
// would read a directory as one: git then runs what serves it there.
func (at *places) reachRepositories(c *shell.Command) {
	if programName(*c) != "git" {
		return
	}
	speaks := false
	for i, w := range c.Words {
		switch {
		case i <= c.Assigns:
		case w.Text == "fetch" || w.Text == "pull" || w.Text == "push" || w.Text == "clone" || w.Text == "ls-remote" || w.Text == "remote":
			speaks = true
		case !speaks || strings.HasPrefix(w.Text, "-"):
		case slices.ContainsFunc(slices.Concat(at.all, at.works), func(place string) bool { return servesAsRepository(w, place) }):
			c.Opaque = append(c.Opaque, shell.Opacity{Why: "git runs what serves the repository in that directory", At: i})
		}
	}
}

// servesAsRepository reports whether git would take a word for a repository on this machine.
func servesAsRepository(w shell.Word, directory string) bool {
	path, known := absolutePath(w, directory)
	if !known {
		return false // the table has judged it
	}
	for _, path := range [...]string{path, path + ".git"} {
		for _, sign := range [...]string{".git", "HEAD"} {
			if _, err := os.Lstat(filepath.Join(path, sign)); err == nil {
				return true
			}
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && pointedTo(path, directory, "gitdir:") != "" {
			return true
		}
	}
	return false
}
