package org

// A HookBlock is a src block with the header argument :hook.
type HookBlock struct {
	Block *Block
	// Event is the value of :hook and Tools that of :tool. A value that is no text is "".
	Event, Tools string
}

// HookBlocks returns the src blocks with the argument :hook, in any language and in document order.
// Blocks in COMMENT or archived subtrees are left out.
func (d *Document) HookBlocks() []HookBlock {
	var found []HookBlock
	resolve := new(resolver)
	for _, b := range d.blocks {
		if b.Kind != "src" || b.Heading.Hidden() {
			continue
		}
		arguments := resolve.arguments(b)
		if _, is := arguments.get("hook"); is {
			found = append(found, HookBlock{Block: b, Event: arguments.text("hook"), Tools: arguments.text("tool")})
		}
	}
	return found
}
