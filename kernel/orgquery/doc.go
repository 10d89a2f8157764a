// Package orgquery works on the entries of Org files. It finds the entries that match a query, and
// computes the text of a file after a change of an entry. It takes and returns texts. The only
// files it opens are those that package withheld looks up.
//
// Entries that the person keeps from every model (see package withheld) are neither found nor
// changed, and neither are commented and archived entries.
package orgquery
