// Package config finds an instance's files, makes its directories, reads config.org, and says which
// models to ask and where their keys are.
//
// Blocking: the functions read and write small local files, with two exceptions.
// [KeySource.Resolve] may run the person's own command until its context ends, for half a minute at
// most. [LockInstance] waits up to three seconds for a kernel that is ending. No goroutine outlives
// a call.
//
// Order: [Choices] lists models in the order in which they are tried.
//
// Ownership: values are plain data and belong to the caller. A [Lock] belongs to its taker until
// Release. The package keeps no state between calls and reads the environment only through the
// function it is given.
//
// Errors say what to do next. A secret is a [secret.Text], which prints as REDACTED; no error
// contains one.
package config
