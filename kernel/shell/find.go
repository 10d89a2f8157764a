package shell

import "strings"

// operandsOf are the tests and actions of find that take an operand.
const operandsOf = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer" +
	" -user -group -uid -gid -perm -links -inum -samefile -lname -ilname -fstype -maxdepth -mindepth -printf -context -regextype -used -D "

// actionsOf are those without an operand that do nothing but choose and print, and the options of find.
const actionsOf = " -print -print0 -ls -prune -quit -true -false -empty -executable -readable -writable -nouser -nogroup -daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race" +
	" -mount -xdev -noleaf -nowarn -warn -not -a -and -o -or -H -L -P -O0 -O1 -O2 -O3 -help --help -version --version -E -x -s -X -- - "

// readFind reads the words of find: the commands that it runs, and what it deletes and writes.
//
// A name that find leaves out is no file that it touches: ! -path NAME, and -path NAME -prune -o. With
// brackets, or with ! and -o in one expression, a name that is left out can be chosen after all.
func readFind(c *call) {
	words := c.rest()
	text := func(i int) string {
		if i < 0 || i >= len(words) || words[i].Kind != Literal {
			return ""
		}
		return words[i].Text
	}
	brackets, or, comma := false, false, false
	for i := range words {
		brackets = brackets || text(i) == "(" || text(i) == ")"
		or = or || text(i) == "-o" || text(i) == "-or"
		comma = comma || text(i) == ","
	}
	negated := func(i int) bool { return text(i) == "!" || text(i) == "-not" }
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Kind != Literal {
			c.unknown(-1, "a word that is not known before could be an action of find")
			continue
		}
		switch {
		case w.Text == "-exec" || w.Text == "-execdir" || w.Text == "-ok" || w.Text == "-okdir":
			c.course.moves = c.course.moves || strings.HasSuffix(w.Text, "dir")
			i = c.findRuns(i + 1)
		case w.Text == "-delete":
			c.unknown(i, "it deletes what it finds")
		case w.Text == "-fprint" || w.Text == "-fprint0" || w.Text == "-fls" || w.Text == "-fprintf":
			if i+1 < len(words) {
				c.file(words[i+1], true, origin{line: c.line})
			}
			c.literal(i, i+2, "it writes a file")
			i++
		case w.Text == "-files0-from":
			c.literal(i, i+2, "where it looks stands in a file")
			i++
		case strings.Contains(operandsOf, " "+w.Text+" ") || strings.HasPrefix(w.Text, "-newer"):
			if i++; spreadsAt(words, i) {
				c.unknown(-1, "a word that is not known before could be an action of find")
			}
			named := strings.HasSuffix(w.Text, "path") || strings.HasSuffix(w.Text, "name")
			not, pruned := negated(i-2), text(i+1) == "-prune" && (text(i+2) == "-o" || text(i+2) == "-or")
			if named && !brackets && !comma && i < len(words) && (not && !negated(i-3) && !or || pruned && !not) {
				c.aside(i)
			}
		case strings.HasPrefix(w.Text, "-") && !strings.Contains(actionsOf, " "+w.Text+" "):
			c.literal(i, i+2, optionWhy)
		}
	}
}

// findRuns adds the command of -exec, which begins with word i of the rest, and returns the index of
// the word that ends it.
func (c *call) findRuns(i int) (end int) {
	words := c.rest()
	end = i
	for end < len(words) && words[end].Text != ";" && !(words[end].Text == "+" && end > i && words[end-1].Text == "{}") {
		end++
	}
	before := c.words
	c.words = append([]Word(nil), c.words[:c.at(min(end, len(words)))]...)
	for j := c.at(i); j < len(c.words); j++ {
		if strings.Contains(c.words[j].Text, "{}") {
			kind := One
			if end < len(words) && words[end].Text == "+" {
				kind = Many
			}
			c.words[j] = Word{Text: c.words[j].Text, Kind: max(kind, c.words[j].Kind)}
		}
	}
	if i < end {
		c.runs(i)
	}
	c.words = before
	return end
}
