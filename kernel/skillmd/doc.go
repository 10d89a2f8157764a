// Package skillmd reads skills that are prose for a model: directories NAME with a file
// SKILL.md in the form of agentskills.io, YAML front matter and a Markdown body. They run
// nothing. The model is told their names and descriptions, and reads one when it is wanted.
//
// A [Document] is the text taken apart without loss, a [Matter] what its front matter says,
// and a [Registry] knows which skills there are and which of them count: the home's before
// the shipped ones, an Org note's name before both, and only what the person's settings and
// the machine allow. What counts is published as an immutable [Set].
//
// Ordering: [Registry.Load], [Registry.Refresh] and the reloads of [Registry.Watch] happen
// one after the other; each publishes at most one new Set. A turn that works with a Set keeps it, while
// the text of a skill is read from its file when it is asked for.
//
// Blocking: everything reads local files, regular ones only, never more than the limits that
// stand beside it; a pipe or a device is refused, not waited for. [Registry.Current] and
// [Registry.Statuses] never wait.
//
// Ownership: the registry starts no goroutine that outlives a call; Watch runs in the
// caller's until its context ends.
package skillmd
