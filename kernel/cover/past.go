package cover

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/keys"
	"org-agent/kernel/withheld"
)

// heldTags matches the tags of text that is withheld from models, as git's expressions are written. What it finds
// is judged again.
const heldTags = `(noagent|@private|crypt)`

// orgFiles are the files of a repository that may be Org.
var orgFiles = [...]string{":(top,icase)*.org", ":(top,icase)*.org_archive", ":(top,icase)*.org~", ":(top,icase)*.org.*"}

// Limits of what is looked for in a repository.
const (
	mostTips   = 40  // branches, tags and stashes
	mostJudged = 200 // texts
)

// held reports whether a repository has text that is withheld, or keys that are gone from the directory, in what is committed on a branch, in its index, or in
// its history, also where the file is gone, or has lost the tag. Where git cannot tell in time, this
// is assumed if there are notes in Org at all.
func (f *Finder) held(ctx context.Context, top string) bool {
	limited, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	key := top + "\x00held\x00" + state(limited, top)
	f.mu.Lock()
	has, known := f.past[key]
	searched := f.searched[top]
	f.mu.Unlock()
	if known {
		return has
	}
	refs, _ := git(limited, top, "for-each-ref", "--format=%(objectname)")
	head, _ := git(limited, top, "rev-parse", "-q", "--verify", "HEAD")
	tips := strings.Fields(refs + head)
	has = keysGone(limited, top, searched) || heldAt(limited, top, tips) || heldBefore(limited, top, searched)
	whole := limited.Err() == nil
	if !whole && !has {
		notes, err := git(ctx, top, append([]string{"ls-files", "--"}, orgFiles[:]...)...)
		has = notes != "" || err != nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.past == nil || len(f.past) > 1000 {
		f.past, f.searched = map[string]bool{}, nil
	}
	if f.searched == nil {
		f.searched = map[string][]string{}
	}
	f.past[key] = has
	if whole && !has {
		f.searched[top] = tips
	}
	return has
}

// heldAt reports whether the index or one of these commits has such text.
func heldAt(ctx context.Context, top string, tips []string) bool {
	grep := func(arguments ...string) []string {
		found, _ := git(ctx, top, append(append([]string{"grep", "-z", "-l", "-i", "-E", "-e", heldTags}, arguments...), append([]string{"--"}, orgFiles[:]...)...)...)
		return fields(found)
	}
	for _, name := range grep("--cached") {
		if judgedHeld(ctx, top, ":"+name, name) {
			return true
		}
	}
	if len(tips) == 0 {
		return false
	}
	for i, place := range grep(tips[:min(len(tips), mostTips)]...) { // COMMIT:NAME
		_, name, _ := strings.Cut(place, ":")
		if i >= mostJudged || judgedHeld(ctx, top, place, name) {
			return true
		}
	}
	return false
}

// heldBefore reports whether the history had such text. What was searched before is left out.
func heldBefore(ctx context.Context, top string, searched []string) bool {
	arguments := []string{"log", "--all", "--reflog", "-m", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", "--format=%x01%H", "--name-only", "-i", "-G" + heldTags}
	if len(searched) > 0 {
		arguments = append(append(arguments, "--not"), searched...)
	}
	found, _ := git(ctx, top, append(append(arguments, "--"), orgFiles[:]...)...)
	commit, judged := "", 0
	for _, field := range fields(strings.ReplaceAll(found, "\n", "\x00")) {
		if of, is := strings.CutPrefix(field, "\x01"); is {
			commit = of
			continue
		}
		for _, place := range [...]string{commit + ":" + field, commit + "~:" + field} {
			if judged++; judged > mostJudged || judgedHeld(ctx, top, place, field) {
				return true
			}
		}
	}
	return false
}

// keysGone reports whether a repository has a file of keys that is gone from the directory.
func keysGone(ctx context.Context, top string, searched []string) bool {
	now, _ := git(ctx, top, "ls-files", "-z", "--deleted")
	arguments := []string{"log", "--all", "--reflog", "-m", "--no-renames", "--diff-filter=D", "-z", "--format=", "--name-only"}
	if len(searched) > 0 {
		arguments = append(append(arguments, "--not"), searched...)
	}
	past, _ := git(ctx, top, arguments...)
	return slices.ContainsFunc(fields(strings.ReplaceAll(now+past, "\n", "\x00")), func(name string) bool {
		level := keys.Of(filepath.Join(top, name))
		return level != keys.None && !File{Path: filepath.Join(top, name), Reason: reasonOf(level)}.example(name)
	})
}

// judgedHeld reports whether a text that is stored has a part that is withheld.
func judgedHeld(ctx context.Context, top, place, name string) bool {
	text, err := git(ctx, top, "cat-file", "blob", place)
	return err == nil && len(withheld.File(filepath.Join(top, name), text).Parts) > 0
}

func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == 0 })
}
