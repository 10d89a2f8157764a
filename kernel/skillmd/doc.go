// Package skillmd reads skills that are prose for a model: directories NAME with a file SKILL.md in
// the format of agentskills.io, which is YAML front matter and a Markdown body. They run no code.
// The model sees their names and descriptions, and reads a skill when it needs it.
//
// A [Document] is the text split into its parts without loss. A [Matter] is the meaning of its
// front matter. A [Registry] holds all skills and decides which are effective: the home's skills
// precede the shipped ones, and an Org note with the same name precedes both. The person's settings
// and the machine can exclude a skill. The effective skills are published as an immutable [Set].
//
// Ordering: [Registry.Load], [Registry.Refresh] and the reloads of [Registry.Watch] happen one
// after the other, and each publishes at most one new Set. A turn that works with a Set keeps it,
// but the text of a skill is read from its file on each request.
//
// Blocking: the package reads local regular files up to fixed limits. It refuses a pipe or a device
// and does not wait for it. [Registry.Current] and [Registry.Statuses] never wait.
//
// Ownership: the registry starts no goroutine that outlives a call. Watch runs in the caller's
// goroutine until its context ends.
package skillmd
