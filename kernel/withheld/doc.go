// Package withheld decides what of a text no model sees. It is the one place where that is
// decided: whoever shows a model the text of a file, or of a part of one, asks it.
//
// Withheld is the subtree of a heading that is tagged :noagent:, :@private: or :crypt:, and the
// whole of a file that #+FILETAGS: gives such a tag, in whatever case they are written. Tags
// count that stand elsewhere and belong to the text all the same: those of the files that
// #+SETUPFILE: names, those that an archived entry had where it came from (:ARCHIVE_ITAGS:), and
// those of the file that it came from (:ARCHIVE_FILE:). A file that is encrypted is withheld whole.
//
// The package errs towards withholding: a keyword in an example counts, and so does what is too
// large or too much to be looked at.
package withheld
