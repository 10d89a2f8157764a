package composer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// toolShare is the part of a model's window that the tools may take: one in so many.
const toolShare = 6

// namedTools is the greatest number of tools that a prompt names without saying what they do.
const namedTools = 60

// choose returns the tools that a model is told of in full, in the order of the registry, and others that are only
// named. If all fit the share of the window they are all told, so that a conversation begins with the same
// bytes. Otherwise those that fit the question best are: more of its words are in their names and in what they
// say of themselves. Of equals the kernel's own come first, and those that only read.
func (t *Turn) choose(ctx context.Context, all []tool.Tool) (told []prompt.Tool) {
	t.findWindow(ctx)
	room := t.window.Room() / toolShare
	lines, total := make([]prompt.Tool, len(all)), 0
	for i, one := range all {
		lines[i] = prompt.Tool{Name: one.Name(), Line: one.Line()}
		total += prompt.Tokens(lines[i].Line)
	}
	if total <= room {
		return lines
	}
	words := wordsOf(t.Record.Question.Words())
	order := make([]int, len(all))
	fit := make([]int, len(all))
	for i, one := range all {
		order[i], fit[i] = i, fitness(words, one)
		if one.Name() == history.ResultTool && !one.Foreign() {
			fit[i] = math.MaxInt // shortened results name it
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(fit[b], fit[a]), rank(all[a])-rank(all[b]))
	})
	chosen := make([]bool, len(all))
	for _, i := range order {
		if cost := prompt.Tokens(lines[i].Line); cost <= room {
			chosen[i] = true
			room -= cost
		}
	}
	for i, line := range lines {
		if chosen[i] {
			told = append(told, line)
		}
	}
	named := 0
	for _, i := range order {
		if !chosen[i] && named < namedTools {
			told = append(told, prompt.Tool{Name: lines[i].Name})
			named++
		}
	}
	return told
}

// rank orders tools that fit a question equally.
func rank(t tool.Tool) int {
	rank := 0
	if t.Foreign() {
		rank += 2
	}
	if t.Effect() != protocol.ToolReads {
		rank++
	}
	return rank
}

// fitness counts the words that a tool has too. One in its name counts as three.
func fitness(words []string, t tool.Tool) (n int) {
	name, does := wordsOf(t.Name()), wordsOf(t.Does())
	for _, word := range words {
		switch {
		case slices.ContainsFunc(name, func(w string) bool { return alike(w, word) }):
			n += 3
		case slices.ContainsFunc(does, func(w string) bool { return alike(w, word) }):
			n++
		}
	}
	return n
}

// alike reports whether two words have the same beginning of at least four letters, or are the same.
func alike(a, b string) bool {
	return a == b || len(a) >= 4 && len(b) >= 4 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// wordsOf returns the words of a text with three letters and more, in lower case, each once. There are at most
// 400: a long message says what it wants at its beginning.
func wordsOf(text string) (words []string) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if word = strings.ToLower(word); len(word) >= 3 && !slices.Contains(words, word) {
			words = append(words, word)
		}
		if len(words) == 400 {
			break
		}
	}
	return words
}
