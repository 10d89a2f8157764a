package org

// A HookBlock is a src block with the header argument :hook.
type HookBlock struct {
	Block *Block
	// Event is what :hook says, Tools what :tool says; "" where that is no text.
	Event, Tools string
}

// HookBlocks returns the src blocks that are hooks, in any language and in document order,
// except those in COMMENT or archived subtrees.
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
