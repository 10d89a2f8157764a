// Package prompt composes the system prompt of a conversation.
//
// A prompt has sections in a fixed order. Each section has the modes and kinds of turn in which it
// appears, its tier, which decides what is left out when room is short, and the trust in its text.
// Its text is a template in an Org file, which a person may replace by a note in the home. [Facts]
// fill the templates. This package reads no files but the templates, knows no tool, skill or model,
// and never reads a clock, so the same facts make the same bytes on any day.
//
// It makes three promises:
//
//   - A template is filled in one pass from left to right. Values are never expanded again: {{name}}
//     in a file stays as it is.
//   - Every line that begins with "* " in a composed prompt is the heading of a section. Headings in
//     values are one level deeper, so [Parse] finds exactly the sections of the prompt.
//   - An empty section leaves no trace: no heading, no blank line.
//
// A [Library] is immutable and safe for use by several goroutines. Nothing here blocks or starts a
// goroutine.
package prompt
