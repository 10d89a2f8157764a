package files_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"org-agent/kernel/files"
)

// TestPiece checks that the piece of a change undoes it in what an editor shows, and is no longer
// than necessary.
func TestPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("ab é\u00e8漢字😀\n")), 0, 120, -1)
		head, old, changed, tail := part.Draw(t, "head"), part.Draw(t, "old"), part.Draw(t, "new"), part.Draw(t, "tail")
		before, after := head+old+tail, head+changed+tail
		disk := func(text string) string { return text }
		if strings.Contains(before, "\n") && strings.Contains(after, "\n") && rapid.Bool().Draw(t, "DOS") {
			disk = func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
		}
		p, ok := files.Change{Before: []byte(disk(before)), After: []byte(disk(after))}.Piece()
		if !ok {
			t.Fatal("it is text")
		}
		if len(p.Old) > len(old) || len(p.New) > len(changed) {
			t.Fatalf("%q for %q and %q for %q", p.Old, old, p.New, changed)
		}
		for _, s := range []string{p.Old, p.New, p.Before, p.After} {
			if !utf8.ValidString(s) {
				t.Fatalf("a character is cut in %q", s)
			}
		}
		found := false
		for at := 0; at <= len(after); at++ {
			found = found || strings.HasPrefix(after[at:], p.Before+p.New+p.After) &&
				after[:at]+p.Before+p.Old+after[at+len(p.Before)+len(p.New):] == before
		}
		if !found {
			t.Fatalf("%+v does not make %q of %q", p, before, after)
		}
	})
}

// TestPieceOfNoText checks that there is no piece for a file that is not a text, because an editor
// would show something else.
func TestPieceOfNoText(t *testing.T) {
	if p, ok := (files.Change{Before: []byte("a\xff"), After: []byte("b")}).Piece(); ok {
		t.Errorf("%+v", p)
	}
	if p, _ := (files.Change{New: true, After: []byte("\ufeffa\r\nb\r\n")}).Piece(); p.New != "a\nb\n" {
		t.Errorf("%+v", p)
	}
	if p, _ := (files.Change{Before: []byte("a\r\nb\n"), After: []byte("a\r\nc\n")}).Piece(); p.Before != "a\r\n" {
		t.Errorf("%+v", p)
	}
}

// TestForReceipt checks that a receipt has the changed part of a text, and only the name of a file that
// is not a text or whose change is too long.
func TestForReceipt(t *testing.T) {
	changed := files.Change{Path: "/a", Before: []byte("one\ntwo\n"), After: []byte("one\n2\n")}.ForReceipt()
	if changed.File != "/a" || changed.Opaque || changed.Created || !strings.Contains(changed.Old, "two") || strings.Contains(changed.New, "two") {
		t.Errorf("a changed text is %+v", changed)
	}
	if made := (files.Change{Path: "/b", After: []byte("new\n"), New: true}).ForReceipt(); !made.Created || made.Opaque || !strings.Contains(made.New, "new") {
		t.Errorf("a new file is %+v", made)
	}
	for name, c := range map[string]files.Change{
		"no text": {Path: "/c", Before: []byte("\xff"), After: []byte("x")},
		"a long":  {Path: "/c", After: []byte(strings.Repeat("long ", 1<<16)), New: true},
	} {
		if got := c.ForReceipt(); !got.Opaque || got.File != "/c" || got.Created != c.New || got.Old+got.New != "" {
			t.Errorf("%s is %+v", name, got)
		}
	}
}
