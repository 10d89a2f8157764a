// Package prompt composes what a model is told before a conversation: the system prompt.
//
// A prompt is made of sections in a fixed order. Each section says in which modes and for
// which kinds of turn it appears, how dear it is when room is short, and whose words it has;
// its text is a template in an Org file, which a person may replace by a note of their own
// in the home. What fills the templates comes in as [Facts]; this room reads no files but
// the templates, knows no tool, no skill and no model, and never looks at a clock, so that
// the same facts are the same bytes, on any day.
//
// Three promises:
//
//   - A template is filled in one pass from left to right. What is put in is never looked at
//     again: a file that holds {{name}} or a line that begins with a star says just that.
//   - Every line that begins with "* " in a composed prompt is the heading of a section of
//     ours. Headings in what a person or a file wrote are one level deeper, so that [Parse]
//     finds the sections that [Compose] made, whatever anybody wrote.
//   - A section without anything to say leaves no trace: no heading, no blank line.
//
// A [Library] is immutable and may be used by many at once. Nothing here blocks or starts a
// goroutine.
package prompt
