// Package autorun lists the names of files from which programs outside of the fence take commands.
// Whoever writes such a file decides what runs later, with the rights of the person who starts the
// program, or enters or opens the directory. The sandbox and the policy both use this list. It
// never changes.
package autorun

import "slices"

// Name is the name of a file or a directory that programs obey.
type Name struct {
	Name string
	// Reason says which program obeys it, and when.
	Reason string
	// Placeholder is true if a command cannot make the file at the top of its directory, because
	// the sandbox puts something there. A command can make the other files, and the person is told.
	Placeholder bool
	// Deep is true if the name also counts below the top of a directory, because programs look for
	// it beside a file or in the current directory and above.
	Deep bool
}

// Names are all such names. Files that ordinary work writes and that run only when somebody says
// so, such as Makefile, are not in the list.
var Names = [...]Name{
	{Name: ".dir-locals.el", Reason: "Emacs sets what it says, and may evaluate it, in each file below it that is visited", Placeholder: true, Deep: true},
	{Name: ".dir-locals-2.el", Reason: "Emacs reads it after .dir-locals.el", Placeholder: true, Deep: true},
	{Name: ".envrc", Reason: "direnv runs it in every shell, and in Emacs, below it", Placeholder: true, Deep: true},

	{Name: ".emacs", Reason: "Emacs runs it when it starts, if the directory is a home"},
	{Name: ".emacs.el", Reason: "Emacs runs it as .emacs"},
	{Name: ".emacs.d", Reason: "Emacs runs init.el and early-init.el in it"},
	{Name: "init.el", Reason: "Emacs runs it when it starts, if the directory is its own"},
	{Name: "early-init.el", Reason: "Emacs runs it before init.el"},

	{Name: ".profile", Reason: "login shells run it"},
	{Name: ".bash_profile", Reason: "bash runs it at login in place of .profile"},
	{Name: ".bash_login", Reason: "bash runs it at login in place of .profile"},
	{Name: ".bash_logout", Reason: "bash runs it when a login ends"},
	{Name: ".bashrc", Reason: "bash runs it in each terminal"},
	{Name: ".zshenv", Reason: "zsh runs it whenever it starts, also for scripts"},
	{Name: ".zprofile", Reason: "zsh runs it at login"},
	{Name: ".zshrc", Reason: "zsh runs it in each terminal"},
	{Name: ".zlogin", Reason: "zsh runs it at login, after .zshrc"},
	{Name: ".inputrc", Reason: "readline binds keys to what it says, in every shell"},
	{Name: ".screenrc", Reason: "screen runs the commands in it when it starts"},
	{Name: ".tmux.conf", Reason: "tmux runs the commands in it when it starts"},
	{Name: ".gitconfig", Reason: "git runs what its aliases, filters and hooks say, if the directory is a home or settings include it"},

	{Name: ".exrc", Reason: "vi, and vim with exrc, run it in the directory they start in"},
	{Name: ".vimrc", Reason: "vim with exrc runs it in the directory it starts in"},
	{Name: ".nvimrc", Reason: "neovim with exrc runs it in the directory it starts in"},
	{Name: ".nvim.lua", Reason: "neovim with exrc runs it in the directory it starts in"},
	{Name: ".vscode", Reason: "VS Code runs tasks, debuggers and programs that its files name, once the folder is trusted"},
	{Name: ".idea", Reason: "JetBrains' editors run configurations and watchers that its files name, once the project is trusted"},

	{Name: ".gdbinit", Reason: "gdb runs it in the directory it starts in"},
	{Name: ".lldbinit", Reason: "lldb runs it in the directory it starts in"},
	{Name: ".pythonrc", Reason: "Python runs it in terminals that name it in PYTHONSTARTUP"},
	{Name: "sitecustomize.py", Reason: "Python runs it whenever it starts with the directory on its path"},
	{Name: "usercustomize.py", Reason: "Python runs it after sitecustomize.py"},

	{Name: ".husky", Reason: "git runs the hooks in it, where core.hooksPath leads there"},
	{Name: ".pre-commit-config.yaml", Reason: "the hook of pre-commit runs the programs that it names at each commit"},
	{Name: ".mise.toml", Reason: "mise sets the environment and runs hooks when a shell enters, once it is trusted"},
	{Name: "mise.toml", Reason: "mise reads it as .mise.toml"},
	{Name: ".tool-versions", Reason: "asdf and mise choose by it which programs a shell runs"},
	{Name: ".npmrc", Reason: "npm obeys it in the directory: which shell runs scripts, and where packages come from"},
	{Name: ".yarnrc", Reason: "yarn runs the file that yarn-path in it names in its own place"},
	{Name: ".yarnrc.yml", Reason: "yarn runs the file that yarnPath in it names in its own place"},
}

// Has reports whether programs obey files with this name. The name has no directory.
func Has(name string) bool {
	return slices.ContainsFunc(Names[:], func(n Name) bool { return n.Name == name })
}
