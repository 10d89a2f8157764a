package modeltest

// Reply is a reply of a script, for tests.
type Reply struct {
	Calls [][2]string // names, and arguments as JSON
	Text  string
}

// Good returns the replies with which the task passes, and Wrong those with which it fails, by script.
func (t Task) Good() [][]Reply  { return exported(t.good) }
func (t Task) Wrong() [][]Reply { return exported(t.wrong) }

func exported(scripts [][]reply) (all [][]Reply) {
	for _, script := range scripts {
		var replies []Reply
		for _, r := range script {
			one := Reply{Text: r.text}
			for _, c := range r.calls {
				one.Calls = append(one.Calls, [2]string{c.tool, c.arguments})
			}
			replies = append(replies, one)
		}
		all = append(all, replies)
	}
	return all
}
