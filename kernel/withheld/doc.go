// Package withheld decides which parts of a text no model sees. It is the only place where that is
// decided: all code that shows a model a file, or a part of one, asks it. It has no state, except
// that a [Veil] belongs to one pass over a text.
//
// The subtree of a heading with the tag :noagent:, :@private: or :crypt: is withheld, and so is a
// whole file that gets such a tag by #+FILETAGS:. The case of a tag does not matter. Tags in other
// places count if they belong to the text: those in files that #+SETUPFILE: names, those that an
// archived entry had at its former place (:ARCHIVE_ITAGS:), and those of the file from which it was
// archived (:ARCHIVE_FILE:). An encrypted file is withheld as a whole.
//
// If in doubt, the package withholds: a keyword in an example counts, and so does a text that is
// too large to be read.
package withheld
