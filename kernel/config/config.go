// Package config finds an instance's files, makes its directories, reads
// config.org, and says which models to ask and where their keys are.
//
// Blocking: everything here reads and writes small local files and returns,
// except [KeySource.Resolve], which may run the person's own command until its
// context or half a minute ends, and [LockInstance], which waits three seconds
// for a kernel that is ending. No goroutine outlives a call.
//
// Order: [Choices] lists models in the order in which they are to be tried.
//
// Ownership: values are plain data and the caller's; [Lock] belongs to whoever
// took it until its Release. Nothing here keeps state between calls, and the
// environment is only seen through the function that is passed in.
//
// Errors say what to do next. A secret is a [secret.Text], which prints as REDACTED,
// and stands in no error.
package config
