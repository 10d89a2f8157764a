package files

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/withheld"
)

// replaceText returns a text with old replaced by new, and the number of replacements. All other
// bytes stay. In a text whose lines all end in a carriage return and a newline, an old with plain
// newlines matches too.
func replaceText(path string, text []byte, old, new string, all bool) (after []byte, count int, err error) {
	switch {
	case old == "":
		return nil, 0, protocol.ToolErrorf(protocol.ToolArguments, "the argument :old is missing: the text that is to be replaced")
	case old == new:
		return nil, 0, protocol.ToolErrorf(protocol.ToolArguments, ":old and :new are the same: nothing would change")
	case !utf8.Valid(text):
		return nil, 0, protocol.ToolErrorf(protocol.ToolUnfit, "%s is not UTF-8: it is not edited here, as what cannot be shown cannot be kept", path)
	}
	o, n := []byte(old), []byte(new)
	if !bytes.Contains(text, o) && returns(text) && !strings.Contains(old, "\r") {
		o, n = withReturns(old), withReturns(new)
	}
	judged := withheld.File(path, string(text))
	hidden := judged.Parts
	places := placesOf(text, o, hidden)
	switch {
	case len(places) == 0 && len(hidden) > 0:
		return nil, 0, protocol.ToolErrorf(protocol.ToolNotFound, ":old is not in what is shown of %s; its subtrees tagged :noagent:, :@private: or :crypt: are not shown, and only the person changes them%s", path, nearestPlace(judged.Blanked(string(text)), old))
	case len(places) == 0:
		return nil, 0, protocol.ToolErrorf(protocol.ToolNotFound, ":old is not in %s%s", path, nearestPlace(string(text), old))
	case len(places) > 1 && !all:
		return nil, 0, protocol.ToolErrorf(protocol.ToolNotUnique, ":old is in %s more than once, %s: give more of what is around the one that is meant, or :all t", path, linesOf(text, places))
	}
	count = countOf(text, o, hidden)
	if size := len(text) + count*(len(n)-len(o)); size > maximumChanged {
		return nil, 0, protocol.ToolErrorf(protocol.ToolTooLarge, "%s would have %d bytes; files of more than %d MiB are not written here", path, size, maximumChanged>>20)
	}
	after = withReplaced(text, o, n, hidden)
	if err := orgquery.CheckWithheld(path, string(text), string(after)); err != nil {
		return nil, 0, err
	}
	return after, count, nil
}

// eachOf calls visit with each offset of old in the text outside of the withheld parts, without
// overlaps.
func eachOf(text, old []byte, hidden []withheld.Part, visit func(at int)) {
	for from := 0; ; {
		at := bytes.Index(text[from:], old)
		if at < 0 {
			return
		}
		if at += from; withheld.Overlaps(hidden, at, at+len(old)) {
			from = at + 1
			continue
		}
		visit(at)
		from = at + len(old)
	}
}

func countOf(text, old []byte, hidden []withheld.Part) (count int) {
	eachOf(text, old, hidden, func(int) { count++ })
	return count
}

// withReplaced returns the text with every old outside of the withheld parts replaced by new.
func withReplaced(text, old, new []byte, hidden []withheld.Part) []byte {
	var after bytes.Buffer
	end := 0
	eachOf(text, old, hidden, func(at int) {
		after.Write(text[end:at])
		after.Write(new)
		end = at + len(old)
	})
	after.Write(text[end:])
	return after.Bytes()
}

// returns reports whether every line of a text ends in a carriage return and a newline.
func returns(text []byte) bool {
	lines := bytes.Count(text, []byte("\n"))
	return lines > 0 && lines == bytes.Count(text, []byte("\r\n"))
}

func withReturns(text string) []byte {
	return []byte(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"))
}

// listedPlaces is the maximum number of places that an error lists.
const listedPlaces = 10

// placesOf returns the offsets of old in the text. Overlapping occurrences count, because any of
// them could be meant. Occurrences in a withheld part do not count.
func placesOf(text, old []byte, hidden []withheld.Part) []int {
	var places []int
	for from := 0; len(places) <= listedPlaces; {
		at := bytes.Index(text[from:], old)
		if at < 0 {
			break
		}
		if at += from; !withheld.Overlaps(hidden, at, at+len(old)) {
			places = append(places, at)
		}
		from = at + 1
	}
	return places
}

// linesOf lists the line numbers of some offsets.
func linesOf(text []byte, places []int) string {
	var numbers []string
	number, from := 1, 0
	for i, at := range places {
		if i == listedPlaces {
			numbers = append(numbers, "and more")
			break
		}
		number += bytes.Count(text[from:at], []byte("\n"))
		from = at
		numbers = append(numbers, fmt.Sprint(number))
	}
	return "in the lines " + strings.Join(numbers, ", ")
}

// The limits of the search for a similar place.
const (
	comparisons  = 4 << 20
	nearestLines = 20
	nearestBytes = 2000
)

// nearestPlace describes the lines of a text, in which nothing is withheld, that are most similar to
// old. It returns "" if there are none.
func nearestPlace(source, old string) string {
	lines, wanted := strings.Split(source, "\n"), strings.Split(strings.Trim(old, "\n"), "\n")
	wanted = wanted[:min(len(wanted), max(1, comparisons/len(lines)))]
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = text.Line(line)
	}
	best, most := -1, 0
	for i := range lines {
		score := 0
		for j, line := range wanted {
			if i+j == len(lines) {
				break
			}
			score += likeness(keys[i+j], text.Line(line))
		}
		if score > most {
			best, most = i, score
		}
	}
	if best < 0 {
		return "; read the file, and copy it from there"
	}
	end := min(best+min(len(wanted), nearestLines), len(lines))
	place := text.Prefix(strings.Join(lines[best:end], "\n"), nearestBytes)
	return fmt.Sprintf("; what is most like it are the lines %d to %d, which are, to the character:\n%s", best+1, end, place)
}

// likeness measures how long a beginning and an end two lines have in common, ignoring blanks. A
// small likeness counts as none.
func likeness(a, b string) int {
	if a == "" || b == "" {
		return 0
	}
	if a == b {
		return 2 * len(a)
	}
	shorter := min(len(a), len(b))
	begins := 0
	for begins < shorter && a[begins] == b[begins] {
		begins++
	}
	ends := 0
	for ends < shorter-begins && a[len(a)-1-ends] == b[len(b)-1-ends] {
		ends++
	}
	if 2*(begins+ends) < shorter {
		return 0
	}
	return begins + ends
}
