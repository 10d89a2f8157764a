// Package keys knows where people and programs keep keys and passwords.
//
// The tables in table.go are the whole of it. A name counts in any case, and so do copies of a file that
// editors and people make beside it. Names alone decide in [Of], which reads nothing. [In] also looks at the
// file: another name of a file with keys, and a private key under any name, are found by it.
package keys

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Level is how a file is treated. A higher level is stricter.
type Level int

const (
	// None: nothing is known of keys in the file.
	None Level = iota
	// Perhaps: the file often has keys beside other text. It is read when a person says so.
	Perhaps
	// Kept: programs or people keep keys or passwords there. It is never read.
	Kept
)

// Of returns the level of a file by its path, which may be relative. It reads nothing. What is below a
// directory with keys has its level.
func Of(path string) Level {
	path = strings.ToLower(path)
	for at := 0; at <= len(path); { // copies of directories count too
		part, _, _ := strings.Cut(path[at:], "/")
		if short := original(part); short != part {
			path = path[:at] + short + path[at+len(part):]
			part = short
		}
		at += len(part) + 1
	}
	if strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ") {
		return Kept
	}
	level := ofName(path[strings.LastIndexByte(path, '/')+1:])
	for rest := path; level < Kept && rest != ""; {
		part, _, _ := strings.Cut(rest, "/")
		if part != "" && strings.IndexByte(firstBytes, part[0]) >= 0 {
			if kept[part] {
				return Kept
			}
			for _, place := range placesOf[part] {
				if level < place.level && below(rest, place.text) {
					level = place.level
				}
			}
		}
		rest = strings.TrimPrefix(rest[len(part):], "/")
	}
	return level
}

// ofName returns the level of a file by its name without the directory, in lower case.
func ofName(name string) Level {
	level := files[name]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		level = max(level, endings[name[dot+1:]])
	}
	return max(level, ofBeginning(name))
}

// below reports whether a path is a directory or in it.
func below(path, directory string) bool {
	rest, found := strings.CutPrefix(path, directory)
	return found && (rest == "" || rest[0] == '/')
}

// firstBytes are what the names of [kept], and the first parts of [places], begin with, also as copies.
const firstBytes = ".#kersv"

// placesOf has the places by their first parts.
var placesOf = func() map[string][]named {
	first := map[string][]named{}
	for _, place := range places {
		part, _, _ := strings.Cut(place.text, "/")
		first[part] = append(first[part], place)
	}
	return first
}()

// original returns the name of which a name is a copy: the name without what editors and people add to
// those of copies. The name is in lower case.
func original(name string) string {
	switch {
	case strings.HasPrefix(name, "#"), strings.HasPrefix(name, ".#"):
		name = strings.TrimPrefix(strings.TrimPrefix(name, "."), "#")
	case strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".swp"): // vim's, of NAME or .NAME
		if inner := strings.TrimSuffix(name[1:], ".swp"); ofName(inner) > None || kept[inner] {
			return inner
		}
	}
	for {
		short := strings.TrimRight(name, "~#")
		if at := strings.LastIndexAny(short, "._ -~"); at > 0 && (copies[short[at+1:]] || isNumber(short[at+1:])) {
			short = strings.TrimRight(short[:at], "~. ")
		}
		if short == "" || short == name {
			return name
		}
		name = short
	}
}

// isNumber reports whether a text is a number such as versions and dates of copies have.
func isNumber(text string) bool {
	return text != "" && len(text) <= 8 && strings.Trim(text, "0123456789") == ""
}

// ofBeginning returns the level of names that are known by their beginning.
func ofBeginning(base string) Level {
	for _, b := range beginnings {
		rest, begins := strings.CutPrefix(base, b.text)
		if !begins {
			continue
		}
		if strings.HasSuffix(rest, ".pub") || strings.HasSuffix(rest, "example") || strings.HasSuffix(rest, "sample") || strings.HasSuffix(rest, "template") || strings.HasSuffix(rest, ".dist") {
			return None
		}
		if rest == "" || strings.ContainsRune("._-", rune(rest[0])) {
			return b.level
		}
	}
	return None
}

// begin is how much of a file [In] reads.
const begin = 4096

// In returns the level of a file, which need not exist, by its path and by what it is: a hard link to a file
// with keys in the person's home has that file's level, and so has a file that begins with a private key.
func In(path, home string) Level {
	level := Of(path)
	if level == Kept {
		return Kept
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return level
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		level = max(level, ofLinks(path, home, info))
	}
	if level < Kept && info.Size() > 0 {
		level = max(level, ofText(beginning(path)))
	}
	return level
}

// ofLinks returns the level of the other names that a file has in its directory and in the places of the
// person's keys.
func ofLinks(path, home string, info os.FileInfo) (level Level) {
	directories := []string{filepath.Dir(path)}
	if filepath.IsAbs(home) {
		directories = append(directories, home)
		for name := range kept {
			directories = append(directories, filepath.Join(home, name))
		}
		for _, place := range places {
			directories = append(directories, filepath.Join(home, place.text), filepath.Dir(filepath.Join(home, place.text)))
		}
	}
	for _, directory := range directories {
		entries, _ := os.ReadDir(directory) // a directory that is not there has no name of the file
		for _, entry := range entries {
			name := filepath.Join(directory, entry.Name())
			if is := Of(name); is > level {
				if other, err := os.Stat(name); err == nil && os.SameFile(info, other) {
					level = is
				}
			}
		}
	}
	return level
}

// beginning returns the first bytes of a file, none if it cannot be read.
func beginning(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, begin)) // a part is enough
	return text
}

// privateKey matches the first line of a private key, in the forms that people can read.
var privateKey = regexp.MustCompile(`(?m)^(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1)`)

// keyFile matches how a file begins that is for keys alone: with one, with a certificate, or with a comment.
var keyFile = regexp.MustCompile(`^\s*(-----BEGIN |PuTTY-|AGE-SECRET-|#|Bag Attributes)`)

// ofText returns the level of a file that begins with a text. A key in other text may be an example.
func ofText(text []byte) Level {
	switch {
	case !bytes.Contains(text, []byte("PRIVATE KEY")) && !bytes.Contains(text, []byte("PuTTY-")) && !bytes.Contains(text, []byte("AGE-SECRET-")):
		return None
	case !privateKey.Match(text):
		return None
	case keyFile.Match(text):
		return Kept
	}
	return Perhaps
}
