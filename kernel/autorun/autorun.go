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
	// Ordinary is true for a file that ordinary work makes and changes. Only a new one is reported, and
	// none is closed or protected. Part is the part of it that counts, "" for that it is there.
	Ordinary bool
	Part     string
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
	{Name: ".zlogout", Reason: "zsh runs it when a login ends"},
	{Name: ".bash_aliases", Reason: "many a .bashrc runs it"},
	{Name: ".kshrc", Reason: "ksh runs it in each terminal"},
	{Name: ".cshrc", Reason: "csh and tcsh run it whenever they start"},
	{Name: ".tcshrc", Reason: "tcsh runs it whenever it starts"},
	{Name: ".login", Reason: "csh and tcsh run it at login"},
	{Name: ".xprofile", Reason: "it is run when a desktop starts"},
	{Name: ".xsessionrc", Reason: "it is run when a desktop starts"},
	{Name: ".xinitrc", Reason: "startx runs it when a desktop starts"},
	{Name: ".lessfilter", Reason: "less runs it for each file, where lesspipe is set up"},
	{Name: ".inputrc", Reason: "readline binds keys to what it says, in every shell"},
	{Name: ".screenrc", Reason: "screen runs the commands in it when it starts"},
	{Name: ".tmux.conf", Reason: "tmux runs the commands in it when it starts"},
	{Name: ".mailcap", Reason: "programs that read mail run what it says for each kind of attachment"},
	{Name: ".gnus", Reason: "Gnus runs it when it starts"},
	{Name: ".gnus.el", Reason: "Gnus runs it when it starts"},
	{Name: ".spacemacs", Reason: "Spacemacs runs it when it starts"},
	{Name: ".doom.d", Reason: "Doom Emacs runs what is in it when it starts"},
	{Name: ".gitconfig", Reason: "git runs what its aliases, filters and hooks say, if the directory is a home or settings include it"},

	{Name: ".exrc", Reason: "vi, and vim with exrc, run it in the directory they start in", Deep: true},
	{Name: ".vimrc", Reason: "vim with exrc runs it in the directory it starts in", Deep: true},
	{Name: ".nvimrc", Reason: "neovim with exrc runs it in the directory it starts in", Deep: true},
	{Name: ".nvim.lua", Reason: "neovim with exrc runs it in the directory it starts in", Deep: true},
	{Name: ".lvimrc", Reason: "vim with localvimrc runs it for each file below it", Deep: true},
	{Name: ".local.vimrc", Reason: "vim with local_vimrc runs it for each file below it", Deep: true},
	{Name: ".kakrc.local", Reason: "kakoune runs it where its settings say so", Deep: true},
	{Name: ".helix", Reason: "helix starts the programs that its files name as servers of languages", Deep: true},
	{Name: ".zed", Reason: "zed runs the tasks and starts the servers that its files name", Deep: true},
	{Name: ".devcontainer", Reason: "editors build and start what its files say when the folder is opened in a container", Deep: true},
	{Name: ".vscode", Reason: "VS Code runs tasks, debuggers and programs that its files name, once the folder is trusted", Deep: true},
	{Name: ".idea", Reason: "JetBrains' editors run configurations and watchers that its files name, once the project is trusted", Deep: true},
	{Name: ".claude", Reason: "Claude Code runs the hooks and starts the servers that its settings name", Deep: true},
	{Name: ".mcp.json", Reason: "agents start the servers that it names when they work in the directory", Deep: true},
	{Name: ".cursor", Reason: "Cursor starts the servers and runs the hooks that its files name", Deep: true},
	{Name: ".gemini", Reason: "Gemini CLI starts the servers and runs the hooks that its settings name", Deep: true},
	{Name: ".codex", Reason: "Codex starts the servers that its settings name, once the directory is trusted", Deep: true},
	{Name: ".opencode", Reason: "opencode loads the plugins and tools in it", Deep: true},
	{Name: "opencode.json", Reason: "opencode starts the servers and loads the plugins that it names", Deep: true},
	{Name: "opencode.jsonc", Reason: "opencode reads it as opencode.json", Deep: true},
	{Name: ".windsurf", Reason: "Windsurf runs the hooks and workflows in it", Deep: true},
	{Name: ".roo", Reason: "Roo Code starts the servers that its files name", Deep: true},
	{Name: ".continue", Reason: "Continue starts the servers that its files name", Deep: true},
	{Name: ".amazonq", Reason: "Amazon Q starts the servers and runs the hooks that its files name", Deep: true},
	{Name: ".kiro", Reason: "Kiro starts the servers and runs the hooks that its files name", Deep: true},
	{Name: ".eslintrc.js", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: ".eslintrc.cjs", Reason: "eslint runs it as .eslintrc.js", Deep: true},
	{Name: ".eslintrc.json", Reason: "eslint loads the plugins and parsers that it names", Deep: true},
	{Name: ".eslintrc", Reason: "eslint reads it as .eslintrc.json", Deep: true},
	{Name: ".eslintrc.yml", Reason: "eslint reads it as .eslintrc.json", Deep: true},
	{Name: ".eslintrc.yaml", Reason: "eslint reads it as .eslintrc.json", Deep: true},
	{Name: "eslint.config.js", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: "eslint.config.mjs", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: "eslint.config.cjs", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: "eslint.config.ts", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: "eslint.config.mts", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: "eslint.config.cts", Reason: "eslint, also in an editor, runs it", Deep: true},
	{Name: ".prettierrc.js", Reason: "prettier runs it where an editor formats with it", Deep: true},
	{Name: ".prettierrc.cjs", Reason: "prettier runs it as .prettierrc.js", Deep: true},
	{Name: ".prettierrc.mjs", Reason: "prettier runs it as .prettierrc.js", Deep: true},
	{Name: "prettier.config.js", Reason: "prettier runs it as .prettierrc.js", Deep: true},
	{Name: "prettier.config.cjs", Reason: "prettier runs it as .prettierrc.js", Deep: true},
	{Name: "prettier.config.mjs", Reason: "prettier runs it as .prettierrc.js", Deep: true},
	{Name: ".stylelintrc.js", Reason: "stylelint, also in an editor, runs it", Deep: true},
	{Name: "stylelint.config.js", Reason: "stylelint runs it as .stylelintrc.js", Deep: true},
	{Name: ".rubocop.yml", Reason: "RuboCop, also in an editor, loads the Ruby that its require names", Deep: true},
	{Name: ".standard.yml", Reason: "standard reads it as .rubocop.yml", Deep: true},
	{Name: ".solargraph.yml", Reason: "Solargraph loads the plugins that it names", Deep: true},
	{Name: ".luacheckrc", Reason: "luacheck, also in an editor, runs it as Lua", Deep: true},
	{Name: ".credo.exs", Reason: "Credo, also in an editor, runs it", Deep: true},
	{Name: ".formatter.exs", Reason: "mix runs it where an editor formats with it", Deep: true},

	{Name: ".gdbinit", Reason: "gdb runs it in the directory it starts in", Deep: true},
	{Name: ".lldbinit", Reason: "lldb runs it in the directory it starts in", Deep: true},
	{Name: ".pdbrc", Reason: "pdb runs it in the directory it starts in", Deep: true},
	{Name: ".Rprofile", Reason: "R runs it in the directory it starts in", Deep: true},
	{Name: ".Renviron", Reason: "R takes its environment from it in the directory it starts in", Deep: true},
	{Name: ".octaverc", Reason: "octave runs it in the directory it starts in", Deep: true},
	{Name: ".irbrc", Reason: "irb runs it in the directory it starts in", Deep: true},
	{Name: ".pryrc", Reason: "pry runs it in the directory it starts in", Deep: true},
	{Name: ".ghci", Reason: "ghci runs it in the directory it starts in", Deep: true},
	{Name: ".ocamlinit", Reason: "ocaml runs it in the directory it starts in", Deep: true},
	{Name: ".iex.exs", Reason: "iex runs it in the directory it starts in", Deep: true},
	{Name: ".erlang", Reason: "erl runs it in the directory it starts in", Deep: true},
	{Name: ".latexmkrc", Reason: "latexmk runs it as Perl in the directory it starts in", Deep: true},
	{Name: "latexmkrc", Reason: "latexmk runs it as .latexmkrc", Deep: true},
	{Name: ".pylintrc", Reason: "pylint, also in an editor, runs the init-hook in it", Deep: true},
	{Name: ".pythonrc", Reason: "Python runs it in terminals that name it in PYTHONSTARTUP"},
	{Name: "sitecustomize.py", Reason: "Python runs it whenever it starts with the directory on its path"},
	{Name: "usercustomize.py", Reason: "Python runs it after sitecustomize.py"},

	{Name: ".husky", Reason: "git runs the hooks in it, where core.hooksPath leads there", Deep: true},
	{Name: ".pre-commit-config.yaml", Reason: "the hook of pre-commit runs the programs that it names at each commit", Deep: true},
	{Name: "lefthook.yml", Reason: "the hooks of lefthook run the commands that it names at each commit", Deep: true},
	{Name: "lefthook-local.yml", Reason: "lefthook reads it after lefthook.yml", Deep: true},
	{Name: "hgrc", Reason: "hg runs the hooks, aliases and extensions that it names, in the directory .hg of a repository", Deep: true},
	{Name: ".hg", Reason: "hg obeys the settings in it", Ordinary: true, Deep: true},
	{Name: ".jj", Reason: "jj obeys the settings in it", Ordinary: true, Deep: true},
	{Name: ".mise.toml", Reason: "mise sets the environment and runs hooks when a shell enters, once it is trusted", Deep: true},
	{Name: "mise.toml", Reason: "mise reads it as .mise.toml", Deep: true},
	{Name: ".tool-versions", Reason: "asdf and mise choose by it which programs a shell runs", Deep: true},
	{Name: ".nvmrc", Reason: "nvm chooses by it which node a shell runs, where it follows directories", Deep: true},
	{Name: ".node-version", Reason: "managers of versions choose by it which node a shell runs", Deep: true},
	{Name: ".python-version", Reason: "pyenv chooses by it which python a shell runs", Deep: true},
	{Name: ".ruby-version", Reason: "managers of versions choose by it which ruby a shell runs", Deep: true},
	{Name: ".autoenv.zsh", Reason: "zsh with autoenv runs it when a shell enters", Deep: true},
	{Name: ".npmrc", Reason: "npm obeys it in the directory: which shell runs scripts, and where packages come from", Deep: true},
	{Name: ".yarnrc", Reason: "yarn runs the file that yarn-path in it names in its own place", Deep: true},
	{Name: ".yarnrc.yml", Reason: "yarn runs the file that yarnPath in it names in its own place", Deep: true},
	{Name: ".pnpmfile.cjs", Reason: "pnpm runs it at each install", Deep: true},
	{Name: ".yarn", Reason: "yarn runs the releases and plugins in it", Ordinary: true, Deep: true},
	{Name: ".cargo", Reason: "cargo runs the linkers, wrappers and runners that config.toml in it names", Deep: true},
	{Name: ".mvn", Reason: "maven loads the extensions and options that its files name", Deep: true},
	{Name: ".bazelrc", Reason: "bazel takes options from it, also such as name programs", Deep: true},

	{Name: "GNUmakefile", Reason: "GNU make reads it in place of makefile and Makefile", Ordinary: true, Deep: true},
	{Name: "BSDmakefile", Reason: "BSD make reads it in place of makefile and Makefile", Ordinary: true, Deep: true},
	{Name: "makefile", Reason: "make reads it in place of Makefile", Ordinary: true, Deep: true},
	{Name: "docker-compose.override.yml", Reason: "docker compose adds it to docker-compose.yml", Ordinary: true, Deep: true},
	{Name: "compose.override.yaml", Reason: "docker compose adds it to compose.yaml", Ordinary: true, Deep: true},
	{Name: "package.json", Reason: "npm runs the scripts in it, those with certain names at each install", Ordinary: true, Part: "scripts"},
}

// Has reports whether programs obey files with this name, which are not [Name.Ordinary]. The name has no
// directory.
func Has(name string) bool {
	return slices.ContainsFunc(Names[:], func(n Name) bool { return n.Name == name && !n.Ordinary })
}
