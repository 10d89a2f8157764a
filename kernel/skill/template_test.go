package skill

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTemplateIsSeen: a new note is read in a window of 80 columns, in which Org does not break lines, and
// is not folded, whatever the person's init file says: the README tells people what to change in it, and
// what they have changed fits as well.
func TestTemplateIsSeen(t *testing.T) {
	text, err := Template("shout")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "(string-trim ", "(string-upcase (string-trim ", 1)
	if changed == string(text) {
		t.Error("there is no (string-trim …) to put (string-upcase …) around")
	}
	for line := range strings.SplitSeq(changed, "\n") {
		if utf8.RuneCountInString(line) >= 80 {
			t.Errorf("this line does not fit: %s", line)
		}
	}
	if !strings.Contains(string(text), "\n#+STARTUP: showall\n") {
		t.Error("it is folded where org-startup-folded says so")
	}
}
