package describe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lettersAlike are letters of other scripts that look like those of ASCII.
const lettersAlike = "аеорсухіјѕһԁԛԝӏпАВЕКМНОРСТХІЈЅԌҮѴ" + "ονιρυκαΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳ" + "ıɑɡɩʏ" + "օոսզցհՍՏՕ"

// signsAlike are signs that look like one of ASCII, each before the one that it looks like.
var signsAlike = map[rune]string{
	'∕': "/", '⁄': "/", '／': "/", '⧸': "/", '∖': "\\", '＼': "\\", '‐': "-", '‑': "-", '−': "-", '﹣': "-", '－': "-", '․': ".", '．': ".", '。': ".",
	'׀': "|", 'ǃ': "!", '﹐': ",", '﹒': ".", '﹔': ";", '﹕': ":", '﹖': "?", '﹗': "!", '﹙': "(", '﹚': ")", '﹛': "{", '﹜': "}", '﹟': "#", '﹠': "&", '﹡': "*", '﹤': "<", '﹥': ">", '﹦': "=", '﹨': "\\", '﹩': "$",
	'꞉': ":", '∶': ":", '：': ":", '\u037e': ";", '；': ";", '∣': "|", '｜': "|", 'ǀ': "|", '＆': "&", '＄': "$", '＞': ">", '＜': "<", 'ʼ': "'", '＇': "'", '＂': "\"", '｀': "`", '˜': "~", '∼': "~", '～': "~", '∗': "*", '＊': "*",
}

// shownAlike is how many words are named.
const shownAlike = 5

// alike describes the words and signs of a text that look like others: words with letters of several
// scripts, words of other scripts that could be words of Latin letters, and signs. Each is one line.
func alike(source string) (effects []string) {
	var words, signs []string
	all := strings.FieldsFunc(source, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.Is(unicode.Nl, c) })
	written := map[string]bool{} // the text has words of this script that cannot be taken for others
	for _, word := range all {
		if found, alone, _ := read(word); len(found) == 1 && !alone {
			written[found[0]] = true
		}
	}
	for _, word := range all {
		if why := misleads(word, written); why != "" {
			if line := fmt.Sprintf("%q %s", word, why); !slices.Contains(words, line) && len(words) <= shownAlike {
				words = append(words, line)
			}
		}
	}
	for i, c := range source {
		as := signsAlike[c]
		if dashForHyphen(source, i, c) {
			as = "-"
		}
		if as != "" {
			if line := fmt.Sprintf("%c (U+%04X) is no %s", c, c, as); !slices.Contains(signs, line) && len(signs) <= shownAlike {
				signs = append(signs, line)
			}
		}
	}
	for _, all := range [...][]string{words, signs} {
		if len(all) > shownAlike {
			all[shownAlike] = "and there are more"
		}
		if len(all) > 0 {
			effects = append(effects, "look twice: "+strings.Join(all, "; "))
		}
	}
	return effects
}

// dashForHyphen reports whether a dash stands where a command has the hyphen of an option. Texts of several lines
// have dashes there too, before what somebody says.
func dashForHyphen(source string, i int, c rune) bool {
	if c != '–' && c != '—' || strings.Contains(strings.TrimSpace(source), "\n") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(source[:i])
	behind, _ := utf8.DecodeRuneInString(source[i+utf8.RuneLen(c):])
	return (i == 0 || unicode.IsSpace(before) || before == c) && (behind == c || behind < utf8.RuneSelf && unicode.IsLetter(behind))
}

// scripts are the scripts whose letters are taken for one another.
var scripts = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee}, {"Lisu", unicode.Lisu},
}

// lettersForOtherUses are forms of Latin letters that no language is written with: of signs, numerals, ligatures, formulas
// and computers of old, and as wide as Chinese ones.
var lettersForOtherUses = []*unicode.RangeTable{{
	R16: []unicode.Range16{{Lo: 0x210a, Hi: 0x2134, Stride: 1}, {Lo: 0x2160, Hi: 0x217f, Stride: 1}, {Lo: 0xfb00, Hi: 0xfb06, Stride: 1}, {Lo: 0xff21, Hi: 0xff5a, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1ccd6, Hi: 0x1ccf9, Stride: 1}, {Lo: 0x1d400, Hi: 0x1d7ff, Stride: 1}},
}}

// read returns the scripts of a word, whether each of its letters looks like one of ASCII and is none, and
// whether it has forms of Latin letters that are for other uses.
func read(word string) (found []string, alone, wide bool) {
	alone = true
	for _, c := range word {
		wide = wide || unicode.IsOneOf(lettersForOtherUses, c) || strings.ContainsRune("ɑɡɩʏſ", c)
		alone = alone && strings.ContainsRune(lettersAlike, c)
		for _, s := range scripts {
			if unicode.Is(s.table, c) && !slices.Contains(found, s.name) {
				found = append(found, s.name)
			}
		}
	}
	return found, alone, wide
}

// misleads returns in which way a word may be taken for another one, "" if it is as it looks. A text that is
// written in a script has words that could be Latin ones.
func misleads(word string, written map[string]bool) string {
	found, alone, wide := read(word)
	switch {
	case wide:
		return "has letters that are no common ones and look like them"
	case len(found) > 1:
		return "has letters of " + strings.Join(found, " and of ")
	case alone && len(found) > 0 && !written[found[0]]:
		return "has letters of " + found[0] + " that look like those of Latin"
	}
	return ""
}
