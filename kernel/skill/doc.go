// Package skill turns Org notes into the skills that answer events.
//
// A note is a file NAME.org: shipped with the program, or in the home's skills
// directory, where it shadows the shipped note of the same name. Its Lisp blocks are
// loaded form by form into an environment of its own, and its test blocks are run in
// another one. Only then does it become live. A [Registry] holds what is live as an
// immutable [Set] that is replaced as a whole.
//
// Ordering: [Registry.Load] and the reloads of [Registry.Watch] happen one after the
// other; each publishes one new Set. A turn that works with a Set or a [Skill] keeps the
// versions it began with. A fault in a note never takes another note down, and never the
// version of the same note that is live already.
//
// [Grants] decide at every use what a note may reach outside of its Lisp. A function that the
// note asked for exists without a grant too, and fails with an error that says how to grant it.
// A function that it did not ask for does not exist: loading a note that calls it fails.
//
// Blocking: functions that take a context run code of notes and return when the context
// is done or the limits are exceeded. At most one call of a note runs at a time; others
// wait, but not while it waits inside [Asker.Ask]. [Registry.Current] and
// [Registry.Statuses] never wait for a note.
//
// Ownership: the registry starts no goroutine. Watch runs in the caller's until its
// context ends. Trees passed in are not changed and trees passed out are the caller's.
package skill
