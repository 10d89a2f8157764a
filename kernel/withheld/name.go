package withheld

import (
	"bytes"
	"regexp"
)

var (
	// orgName matches the names of Org files, of their archives, of their copies by editors, merges
	// and people (x.org~, #x.org#, x.org.~3~, x.org.rej, x.org.bak), and of setup files.
	orgName = regexp.MustCompile(`(?i)\.(org(_archive)?([^a-z0-9/][^/]*)?|setup)$`)
	// encryptedName matches the names of encrypted files, and of copies of them.
	encryptedName = regexp.MustCompile(`(?i)(\.(gpg|pgp|age)|\.org(_archive)?\.asc)([~#]|\.~[^/]*~|\.bak|\.orig|\.rej)?$`)
	modeLine      = regexp.MustCompile(`(?i)-\*-[ \t]*(.*;[ \t]*)?(mode:[ \t]*)?org[ \t]*(;.*)?-\*-`)
	localMode     = regexp.MustCompile(`(?im)^(.*)Local Variables:(?:.*\n)(?:.*\n)*?.*\bmode:[ \t]*org\b`)
)

// How much of a file without such a name is searched for signs of Org.
const (
	headBytes = 4096
	tailBytes = 12 << 10 // 3000 characters, as Emacs looks at
)

// encrypted reports whether a file is encrypted, by its name.
func encrypted(path string) bool { return encryptedName.MatchString(path) }

// named reports whether the name of a file says that it is Org.
func named(path string) bool { return orgName.MatchString(path) || encrypted(path) }

// declared reports whether a file is Org by its first line or by the local variables at its end, as
// Emacs finds it.
func declared(head, tail []byte) bool {
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		first, _, _ = bytes.Cut(rest, []byte("\n"))
	}
	return modeLine.Match(first) || bytes.Contains(tail, []byte("ariables:")) && localMode.Match(tail)
}
