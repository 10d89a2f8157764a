package shell

import "strings"

// programNamed returns how the words of a program are read. known is false for a program of the person's own,
// which is called by its path: it does what the person says who allows it.
func programNamed(name string, standard bool) (program, bool) {
	if p, known := wrapperNamed(name); known {
		return p, true
	}
	if p, known := builtinNamed(name); known {
		return p, true
	}
	switch name {
	case "bash", "sh", "dash", "rbash":
		return program{onlyRuns: true, read: readShell}, true
	case "find", "gfind":
		return program{read: readFind}, true
	case "git":
		return program{read: readGit}, true
	case "sed", "gsed":
		return program{read: readSed}, true
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return program{read: readAwk}, true
	case "ssh", "autossh":
		return program{read: readSecureShell}, true
	case "su", "runuser":
		return program{read: readUser}, true
	case "watch":
		return program{read: readWatch}, true
	case "script":
		return program{read: readScript}, true
	case "flock":
		return program{read: readLock}, true
	case "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "tclsh", "wish", "Rscript", "julia", "deno", "bun", "osascript", "guile", "racket",
		"sbcl", "clisp", "ecl", "scheme", "java", "groovy", "scala", "ghci", "runghc", "runhaskell", "erl", "escript", "elixir", "octave", "swift", "pwsh",
		"zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "nu", "xonsh", "expect", "dc", "m4", "qjs", "jshell", "bb", "clojure", "clj":
		return program{read: interpreter}, true
	case "ed", "ex", "sqlite3", "psql", "mysql", "mariadb", "gdb", "lldb", "ftp", "lftp", "telnet", "at", "batch", "bc":
		return opaqueProgram(stdinWhy), true
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") || strings.HasPrefix(name, "perl5") || strings.HasPrefix(name, "lua5") {
		return program{read: interpreter}, true
	}
	return toolNamed(name, standard)
}

// wrapperNamed does the same as programNamed for programs that run the words after them.
func wrapperNamed(name string) (program, bool) {
	switch name {
	case "env":
		return wrapper(true, options{flags: "i0v", takes: "u", long: "ignore-environment null unset= debug"}, 0), true
	case "nice":
		return wrapper(true, options{takes: "n", flags: "0123456789", long: "adjustment="}, 0), true
	case "nohup", "unbuffer":
		return wrapper(true, options{}, 0), true
	case "timeout":
		return wrapper(true, options{flags: "vfp", takes: "ks", long: "preserve-status foreground verbose kill-after= signal="}, 1), true
	case "time":
		return wrapper(true, options{flags: "pv", long: "portability verbose"}, 0), true
	case "command":
		return program{onlyRuns: true, read: readCommand}, true
	case "builtin":
		return wrapper(true, options{}, 0), true
	case "exec":
		return wrapper(true, options{flags: "cl", takes: "a"}, 0), true
	case "stdbuf":
		return wrapper(true, options{takes: "ioe", long: "input= output= error="}, 0), true
	case "ionice":
		return wrapper(true, options{flags: "t", takes: "cn", long: "class= classdata= ignore"}, 0), true
	case "setsid":
		return wrapper(false, options{flags: "cfw", long: "ctty fork wait"}, 0), true
	case "chrt":
		return wrapper(false, options{flags: "bfiroRv"}, 1), true
	case "taskset":
		return wrapper(false, options{flags: "c", long: "cpu-list"}, 1), true
	case "sudo":
		return wrapper(false, options{flags: "ABbEHnPS", takes: "Cghprtu", long: "preserve-env non-interactive stdin set-home user= group= prompt="}, 0), true
	case "doas":
		return wrapper(false, options{flags: "nL", takes: "u"}, 0), true
	case "pkexec":
		return wrapper(false, options{long: "user= disable-internal-agent"}, 0), true
	case "xargs", "gxargs":
		return program{onlyRuns: true, read: readXargs}, true
	case "busybox", "toybox":
		return wrapper(true, options{}, 0), true
	}
	return program{}, false
}

// builtinNamed does the same as programNamed for the shell's own commands that change what later
// words mean, or run their words.
//
// The harmless ones run nothing and write nothing but their output: pwd tells the directory, which is known
// before, echo and printf say their own words, read takes its input into a variable, [ compares texts and
// looks whether files are there, and export hands variables on, which are looked at one by one.
func builtinNamed(name string) (program, bool) {
	switch name {
	case "eval":
		return program{onlyRuns: true, read: readEval}, true
	case ".", "source":
		return firstWordsDecide(1, codeWhy), true
	case "trap":
		return program{read: readTrap}, true
	case "cd":
		return program{read: readChange}, true
	case "pushd", "popd":
		return program{read: func(c *call) { c.course.moves = true }}, true
	case "alias", "jobs", "enable", "bind", "complete", "compgen", "hash", "shopt", "fc", "history", "let":
		return opaqueProgram("it can change what other words mean"), true
	case "set":
		return program{read: readSet}, true
	case "export", "declare", "typeset", "local", "readonly":
		return program{harmless: true, read: readDeclare}, true
	case "nameref":
		return program{read: readDeclare}, true
	case "read":
		return program{harmless: true, read: readNames}, true
	case "mapfile", "readarray", "getopts", "unset":
		return program{read: readNames}, true
	case "test", "[":
		return program{harmless: true, read: readTest}, true
	case "printf":
		return program{harmless: true, read: readPrintf}, true
	case "wait":
		return program{read: readTest}, true
	case "echo":
		return program{harmless: true, read: readEcho}, true
	case "pwd", "true", "false", ":":
		return program{harmless: true, read: readNothing}, true
	}
	return program{}, false
}

// toolNamed does the same as programNamed for the programs of the table.
func toolNamed(name string, standard bool) (program, bool) {
	switch name {
	case "make", "gmake", "ninja", "bmake":
		return program{read: readMake}, true
	case "grep", "egrep", "fgrep", "ggrep":
		return program{read: readGrep}, true
	case "rg":
		return program{read: readRipgrep}, true
	}
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		name = "ld.so"
	}
	return listed(name, standard)
}
