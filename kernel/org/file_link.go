package org

import (
	"path/filepath"
	"slices"
	"strings"
)

// pictures are the names' ends of files that Emacs shows in the place of a link without a description.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}

// FileLink returns a line that leads to a file, whose path is absolute. A picture's link has no description, because Emacs
// shows pictures of such links. A path that Org or Emacs could read otherwise than as the name of a local file stands there
// as it is, in a line of fixed width.
func FileLink(path string) string {
	if filepath.IsAbs(path) && isPlainPath(path) && !remoteFile(path) && path == blankLineEnds(path) {
		link := "[[file:" + path + "]]"
		if !slices.Contains(pictures, strings.ToLower(filepath.Ext(path))) {
			link = "[[file:" + path + "][" + describe(filepath.Base(path)) + "]]"
		}
		if ok, _ := IsInert(link + "\n"); ok {
			return link
		}
	}
	return strings.TrimRight(fixedWidth(strings.ReplaceAll(path, "\n", "␊")), "\n")
}
