package llm

// Map returns a request with f applied to every text that a model may be shown. It does not change
// the request that it is called on. The two share every part that f leaves unchanged. The names of
// models, roles, verdicts, codes and the ids of calls are not mapped. An original that f would change is
// left out, because a changed one is refused.
func (r Request) Map(f func(string) string) Request {
	r.Sections = mapList(r.Sections, func(s *Section) bool { return replace(f, &s.Name, &s.Text) })
	r.Messages = mapList(r.Messages, func(m *Message) bool { return m.replace(f) })
	r.Tools = mapList(r.Tools, func(t *Tool) bool { return replace(f, &t.Name, &t.Description) })
	r.Stop = mapList(r.Stop, func(s *string) bool { return replace(f, s) })
	replace(f, &r.Grammar)
	return r
}

func (m *Message) replace(f func(string) string) bool {
	changed := replace(f, &m.Text)
	m.Images = mapNoting(&changed, m.Images, func(i *Image) bool { return replace(f, &i.Name) })
	m.Calls = mapNoting(&changed, m.Calls, func(c *Call) bool { return c.replace(f) })
	if m.Original != nil {
		m.Original = m.Original.Without(f)
		changed = changed || m.Original == nil
	}
	if m.Outcome != nil {
		if outcome := *m.Outcome; outcome.replace(f) {
			m.Outcome, changed = &outcome, true
		}
	}
	return changed
}

func (o *Outcome) replace(f func(string) string) (changed bool) {
	o.Results = mapNoting(&changed, o.Results, func(r *Result) bool { return r.replace(f) })
	o.Added = mapNoting(&changed, o.Added, func(a *Addition) bool { return replace(f, &a.From, &a.Text) })
	return changed
}

func (r *Result) replace(f func(string) string) bool {
	changed := replace(f, &r.Text, &r.Note)
	changed = r.Call.replace(f) || changed
	r.Parts = mapNoting(&changed, r.Parts, func(p *Part) bool { return replace(f, &p.Tool, &p.Text) })
	r.Added = mapNoting(&changed, r.Added, func(a *Addition) bool { return replace(f, &a.From, &a.Text) })
	return changed
}

func (c *Call) replace(f func(string) string) bool {
	changed := replace(f, &c.Action)
	if c.Function != nil {
		if function := *c.Function; replace(f, &function.Name, &function.Arguments) {
			c.Function, changed = &function, true
		}
	}
	return changed
}

// replace replaces each text by the result of f, and reports whether any changed.
func replace(f func(string) string, texts ...*string) (changed bool) {
	for _, text := range texts {
		if now := f(*text); now != *text {
			*text, changed = now, true
		}
	}
	return changed
}

// mapList returns a list with the items as change leaves them. It returns the list itself if change
// reports no changes.
func mapList[T any](list []T, change func(*T) bool) []T {
	shared := true
	for i := range list {
		item := list[i]
		if !change(&item) {
			continue
		}
		if shared {
			list, shared = append([]T(nil), list...), false
		}
		list[i] = item
	}
	return list
}

// mapNoting does the same as mapList, and sets changed if there is a new list.
func mapNoting[T any](changed *bool, list []T, change func(*T) bool) []T {
	return mapList(list, func(item *T) bool {
		if !change(item) {
			return false
		}
		*changed = true
		return true
	})
}
