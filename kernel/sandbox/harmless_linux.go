package sandbox

import (
	"fmt"
	"strings"
)

// harmlessSettings are the settings of a repository that make git run nothing and write nowhere
// else: those that git init, git clone and git remote write. All others are removed from a
// repository that a command made.
var harmlessSettings = [...]string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
	"core.precomposeunicode", "core.symlinks", "core.autocrlf", "core.eol", "core.quotepath", "core.sharedrepository",
	"core.sparsecheckout", "core.sparsecheckoutcone",
	"extensions.objectformat", "extensions.refstorage", "extensions.partialclone", "extensions.compatobjectformat",
	"init.defaultbranch", "user.name", "user.email", "pull.rebase", "pull.ff", "push.default",
	"remote.*.url", "remote.*.pushurl", "remote.*.fetch", "remote.*.tagopt", "remote.*.promisor", "remote.*.partialclonefilter", "remote.*.prune",
	"branch.*.remote", "branch.*.merge", "branch.*.rebase", "branch.*.description",
	"submodule.active", "submodule.*.url", "submodule.*.active",
}

// harmless returns the harmless part of a file of settings. whole is true if that is all of it.
func harmless(text string) (allowed string, whole bool) {
	output, err := git("/", []byte(text), "config", "--file", "-", "--no-includes", "--list", "-z")
	if err != nil {
		return "", false
	}
	var b strings.Builder
	whole = true
	for entry := range strings.SplitSeq(strings.TrimSuffix(output, "\x00"), "\x00") {
		key, value, valued := strings.Cut(entry, "\n")
		if key == "" {
			continue
		}
		if !named(harmlessSettings[:], key) || runsTransport(key, value) {
			whole = false
			continue
		}
		first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
		section := key[:first]
		if last > first {
			section += fmt.Sprintf(` "%s"`, escaped(key[first+1:last]))
		}
		fmt.Fprintf(&b, "[%s]\n\t%s", section, key[last+1:])
		if valued {
			fmt.Fprintf(&b, ` = "%s"`, strings.ReplaceAll(escaped(value), "\n", `\n`))
		}
		b.WriteString("\n")
	}
	return b.String(), whole
}

// runsTransport reports whether an address names a program, as ext::COMMAND does.
func runsTransport(key, value string) bool {
	return strings.HasSuffix(key, "url") && (strings.Contains(value, "::") || strings.HasPrefix(value, "-"))
}

func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
}
