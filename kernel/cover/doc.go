// Package cover finds what a command does not see of the directory that it is granted: files in which
// keys and passwords are or may be, and text that is withheld from models. The sandbox covers what is
// found. So a command sees no more than the tools for files show.
//
// The names of all files count, up to a number. What is in them counts too, except in directories that
// programs fill with other people's work: there the names have to do. A repository that has a covered
// file in its index or in its history is covered itself, because git shows what was committed.
package cover
