package org_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

const conversation = `#+TITLE: main

* First question                                                       :user:
:PROPERTIES:
:ID:       q-1
:END:
More of it.
** An answer                                                          :agent:
:PROPERTIES:
:ID:       a-1
:END:
Text.
*** Part
* Second                                                               :user:
:PROPERTIES:
:ID:       q-2
:END:

* draft begins
** with a heading
`

func TestInsertUnder(t *testing.T) {
	answer := "** Another :agent:\n"
	insertion, ok := org.InsertUnder(conversation, "q-1", answer)
	want := strings.Replace(conversation, "* Second", answer+"* Second", 1)
	if got := insertion.Apply(conversation); !ok || got != want {
		t.Errorf("got\n%s", got)
	}
	insertion, _ = org.InsertUnder("* Q\n:PROPERTIES:\n:ID: x\n:END:", "x", "** A")
	if got := insertion.Apply("* Q\n:PROPERTIES:\n:ID: x\n:END:"); got != "* Q\n:PROPERTIES:\n:ID: x\n:END:\n** A\n" {
		t.Errorf("line ends: %q", got)
	}
	if _, ok := org.InsertUnder(conversation, "gone", answer); ok {
		t.Error("inserted under an id that is gone")
	}
}

func TestDraft(t *testing.T) {
	offset, ok := org.DraftStart(conversation)
	if !ok || !strings.HasPrefix(conversation[offset:], "* draft begins") {
		t.Errorf("draft at %d: %q", offset, conversation[offset:])
	}
	insertion := org.InsertBeforeDraft(conversation, org.ReHeading("What\nwas it?")+"** A\n")
	want := strings.Replace(conversation, "* draft", "* Re: What was it?\n** A\n* draft", 1)
	if got := insertion.Apply(conversation); got != want {
		t.Errorf("got\n%s", got)
	}
	if _, ok := org.DraftStart("* Q :user:\n:PROPERTIES:\n:ID: x\n:END:\n** Part of it\n"); ok {
		t.Error("a heading within a question is taken for the draft")
	}
	branch := "* Q :user:\n:PROPERTIES:\n:ID: x\n:END:\n** branch :draft:\n*** part\n"
	if _, ok := org.DraftStart(branch); ok {
		t.Error("a draft below an old question is taken for the draft at the end")
	}
	if offset, ok := org.DraftStart(branch + "* draft\n"); !ok || offset != len(branch) {
		t.Errorf("behind a draft below an old question the draft is at %d, %v", offset, ok)
	}
	if insertion := org.InsertBeforeDraft("text", "* Q"); insertion.Apply("text") != "text\n* Q\n" {
		t.Errorf("without a draft: %q", insertion.Apply("text"))
	}
}

// TestInsertionKeepsEveryByte checks that removing the insertion restores any text, and that the
// subtree stands below its question.
func TestInsertionKeepsEveryByte(t *testing.T) {
	lines := []string{"* H", "** H", "*** H", ":PROPERTIES:", ":ID: q", ":END:", "text", "", "#+begin_src x", "#+end_src"}
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOf(rapid.SampledFrom(lines)).Draw(t, "before"), "\n")
		text := before + "\n* Q :user:\n:PROPERTIES:\n:ID: unique\n:END:\n" + strings.Join(rapid.SliceOf(rapid.SampledFrom(lines)).Draw(t, "after"), "\n")
		insertion, ok := org.InsertUnder(text, "unique", "** Answer\n:PROPERTIES:\n:ID: answer\n:END:\n")
		if !ok {
			t.Fatalf("no question in %q", text)
		}
		got := insertion.Apply(text)
		if got[:insertion.Offset]+got[insertion.Offset+len(insertion.Text):] != text {
			t.Fatalf("other bytes changed: %q", got)
		}
		if h := org.Parse(got).FindID("answer"); h == nil || h.Parent == nil || h.Parent.ID() != "unique" {
			t.Fatalf("the answer is not below its question in %q", got)
		}
	})
}

func TestQuestionSubtree(t *testing.T) {
	cases := []struct {
		question org.Question
		want     string
	}{
		{org.Question{Level: 1, ID: "e-1", Text: "Which notes mention Samarkand?"},
			"* Which notes mention Samarkand?                                       :user:\n:PROPERTIES:\n:ID:       e-1\n:END:\n"},
		{org.Question{Level: 2, ID: "e", Text: "\n first \nrest\n* a\n*** b\n\n"},
			"** first" + strings.Repeat(" ", 63) + ":user:\n:PROPERTIES:\n:ID:       e\n:END:\nrest\n*** a\n***** b\n"},
		{org.Question{ID: "e", Text: strings.Repeat("ä", 80)},
			"* " + strings.Repeat("ä", 80) + " :user:\n:PROPERTIES:\n:ID:       e\n:END:\n"},
		{org.Question{ID: "e", Text: "漢字"},
			"* 漢字" + strings.Repeat(" ", 65) + ":user:\n:PROPERTIES:\n:ID:       e\n:END:\n"},
		{org.Question{Level: 1, ID: "e", Text: "x\n** already below"},
			"* x" + strings.Repeat(" ", 68) + ":user:\n:PROPERTIES:\n:ID:       e\n:END:\n** already below\n"},
	}
	for _, c := range cases {
		if got := c.question.Subtree(); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestPlacesOfPartsAreThoseOfAll checks that parsing a part of the text finds the same places as
// parsing all of it.
func TestPlacesOfPartsAreThoseOfAll(t *testing.T) {
	lines := []string{"* H", "** H", "*** H", "* Q :user:", "** A :agent:", "*", "* ", " * no", ":PROPERTIES:", ":ID: q", ":ID: r", ":END:", "the q in prose", "r", "", "#+begin_src x", "#+end_src", "#+TODO: H | Q"}
	padding := "* Old :user:\n:PROPERTIES:\n:ID: old\n:END:\n" + strings.Repeat("words of an old turn\n", 4000)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "lines"), "\n") + "\n"
		})
		text := piece.Draw(t, "before")
		if rapid.Bool().Draw(t, "large") {
			text += padding + piece.Draw(t, "between") + strings.Repeat("more words\n", 7000)
		}
		text += piece.Draw(t, "after")
		for _, id := range []string{"q", "r", "old", "gone", ""} {
			got, ok := org.SubtreeEnd(text, id)
			h := org.Parse(text).FindID(id)
			if id == "" {
				h = nil
			}
			if ok != (h != nil) || ok && got != h.End {
				t.Fatalf("the subtree of %q ends at %d, %v, not %+v in %q", id, got, ok, h, text)
			}
		}
		got, ok := org.DraftStart(text)
		want, _, wantOK := org.DraftOf(text)
		if ok != wantOK || ok && got != want {
			t.Fatalf("the draft starts at %d, %v, not %d, %v in %q", got, ok, want, wantOK, text)
		}
	})
}
