package sandbox

import "strings"

// inheritedVariables are the variables that a command inherits. Any other variable could be a key,
// or lead to one of the person's programs.
var inheritedVariables = [...]string{"PATH", "LANG", "LANGUAGE", "TZ", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME"}

// defaultPath is used where PATH is not set.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// proxyVariables tell programs of the way out, and ownHosts are reached without it, in the command's own
// network.
var proxyVariables = [...]string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}

const ownHosts = "localhost,127.0.0.1,::1"

// wayOutVariables returns the variables that lead programs to the way out.
func wayOutVariables() (all []string) {
	for _, name := range proxyVariables {
		all = append(all, name+"=http://"+ProxyAddress)
	}
	return append(all, "no_proxy="+ownHosts, "NO_PROXY="+ownHosts)
}

// environment returns the environment of a command. home is its own home directory, and temporary
// its directory for temporary files.
func (c Command) environment(home, temporary, user string) []string {
	terminal := "dumb"
	if c.Terminal {
		terminal = "xterm"
	}
	all := []string{
		"HOME=" + home, "TMPDIR=" + temporary, "USER=" + user, "LOGNAME=" + user, "SHELL=/bin/sh", "TERM=" + terminal,
		"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", // nobody can turn pages or answer
	}
	path := ""
	for _, name := range inheritedVariables {
		value := ""
		if c.Environment != nil {
			value = c.Environment(name)
		}
		if name == "PATH" {
			path = absolute(value)
		} else if value != "" && !strings.ContainsRune(value, 0) {
			all = append(all, name+"="+value)
		}
	}
	return append(all, "PATH="+path)
}

// absolute returns a PATH without relative directories. They depend on where a command runs, and
// could contain another person's programs.
func absolute(path string) string {
	var absolutes []string
	for directory := range strings.SplitSeq(path, ":") {
		if strings.HasPrefix(directory, "/") && !strings.ContainsRune(directory, 0) {
			absolutes = append(absolutes, directory)
		}
	}
	if absolutes == nil {
		return defaultPath
	}
	return strings.Join(absolutes, ":")
}
