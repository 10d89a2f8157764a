// Package orgquery is about the entries of Org files: it finds those that a query asks for, and
// says what a file would be after an entry was changed. It reads texts and returns texts; it
// opens no file but those that package withheld asks, and what it promises holds for a text
// wherever it comes from.
//
// Entries that the person keeps from every model (package withheld), and those that are commented
// out or archived, are not there: they are neither found nor changed.
package orgquery
