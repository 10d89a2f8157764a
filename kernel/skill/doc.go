// Package skill turns Org notes into the skills that answer events.
//
// A note is a file NAME.org. It is shipped with the program or lies in the home's skills directory;
// a note of the home shadows the shipped note with the same name. Its Lisp blocks are loaded form
// by form into its own environment, and its test blocks run in another one. If both succeed, the
// note becomes live. A [Registry] holds the live notes as an immutable [Set], which it replaces as
// a whole.
//
// Ordering: [Registry.Load] and the reloads of [Registry.Watch] happen one after the other, and
// each publishes one new Set. A turn that works with a Set or a [Skill] keeps the versions with
// which it began. A fault in a note never affects another note, or the version of the same note
// that is already live.
//
// An [Action] is a kind of action that a note defines. No two live notes define the same one, and
// none uses a target of the kernel. The policy decides whether an action may be performed.
//
// [Grants] decide at every use what a note may reach outside of its Lisp. A function that the note
// requested exists even without a grant; it then fails with an error that says how to grant it. A
// function that the note did not request does not exist, and a note that calls it does not load.
//
// Blocking: functions that take a context run code of notes, and return when the context ends or a
// limit is exceeded. At most one call of a note runs at a time. Other calls wait, except while the
// running one waits in [Asker.Ask]. [Registry.Current] and [Registry.Statuses] never wait for a
// note.
//
// Ownership: the registry starts no goroutine. Watch runs in the caller's goroutine until its
// context ends. The package does not change trees that are passed in, and the caller owns trees
// that are returned.
package skill
