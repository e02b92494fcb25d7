package query

import (
	"slices"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// compiled is a program for one segment. Its k-th Count or Read is about
// outputs[k]; outputs that are empty in the segment are left out.
type compiled struct {
	inputs  []cohort.Bitmap
	program bitmap.Program
	outputs []nodeID
}

// compiler fits a part of a graph to a segment. In there a bitmap that does
// not exist is empty, and so whole parts of the graph vanish.
type compiler struct {
	g    *graph
	op   bitmap.Op // Count or Read
	out  compiled
	same []nodeID // by node: itself, the node it equals in this segment, or nothing
	uses []int    // by node: the reads still to come
	reg  []int    // by node: its register
	free []int    // temporary registers to use again
	next int
}

// everySegment stands for any segment: a bitmap that one does not have is empty there.
const everySegment = -1

// compile returns the program that counts or reads distinct outputs in a segment.
func (g *graph) compile(segment int, outputs []nodeID, op bitmap.Op) compiled {
	n := len(g.nodes)
	c := &compiler{g: g, op: op, same: make([]nodeID, n), uses: make([]int, n), reg: make([]int, n)}
	needed := g.needed(outputs)
	for _, id := range needed {
		c.same[id] = c.simplify(id, segment)
	}
	c.countUses(needed, outputs)
	c.placeInputs(needed)
	wanted := make([]bool, n)
	for _, id := range outputs {
		wanted[id] = true
	}
	for _, id := range needed {
		c.emit(id)
		if wanted[id] {
			c.output(id)
		}
	}
	return c.out
}

// needed returns the nodes that the outputs depend on, themselves included, ascending.
func (g *graph) needed(outputs []nodeID) []nodeID {
	seen := make([]bool, len(g.nodes))
	seen[nothing] = true
	var ids []nodeID
	stack := slices.Clone(outputs)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
			stack = append(stack, g.nodes[id].src...)
		}
	}
	slices.Sort(ids)
	return ids
}

// simplify returns what a node equals in the segment, once its sources are known.
func (c *compiler) simplify(id nodeID, segment int) nodeID {
	n := c.g.nodes[id]
	if len(n.src) == 0 {
		if segment == everySegment || c.g.cat.Has(n.bitmap, segment) {
			return id
		}
		return nothing
	}
	live := c.sources(n)
	vanishes := len(live) == 0 ||
		n.op == bitmap.And && slices.ContainsFunc(n.src, c.isNothing) ||
		n.op == bitmap.Minus && (c.isNothing(n.src[0]) || c.same[n.src[0]] == c.same[n.src[1]]) ||
		n.op == bitmap.Xor && c.same[n.src[0]] == c.same[n.src[1]]
	switch {
	case vanishes:
		return nothing
	case len(live) == 1:
		return live[0]
	}
	return id
}

func (c *compiler) isNothing(id nodeID) bool { return c.same[id] == nothing }

// sources returns what a node reads in this segment, each once, the first
// source of a difference first.
func (c *compiler) sources(n node) []nodeID {
	live := make([]nodeID, 0, len(n.src))
	for _, s := range n.src {
		if c.same[s] != nothing {
			live = append(live, c.same[s])
		}
	}
	if n.op == bitmap.Minus {
		return live
	}
	slices.Sort(live)
	return slices.Compact(live)
}

// countUses counts the reads of each node, so that a register is free after
// the last of them.
func (c *compiler) countUses(needed, outputs []nodeID) {
	for _, o := range outputs {
		c.uses[c.same[o]]++
	}
	for _, id := range slices.Backward(needed) {
		if c.isLive(id) {
			for _, s := range c.sources(c.g.nodes[id]) {
				c.uses[s]++
			}
		}
	}
}

// isLive reports whether a node is computed or read as itself.
func (c *compiler) isLive(id nodeID) bool { return c.same[id] == id && c.uses[id] > 0 }

func (c *compiler) isInput(id nodeID) bool { return len(c.g.nodes[id].src) == 0 }

func (c *compiler) placeInputs(needed []nodeID) {
	for _, id := range needed {
		if c.isInput(id) && c.isLive(id) {
			c.reg[id] = len(c.out.inputs)
			c.out.inputs = append(c.out.inputs, c.g.nodes[id].bitmap)
		}
	}
	c.next = len(c.out.inputs)
	c.out.program.Inputs = c.next
}

// emit writes the step of an operation.
func (c *compiler) emit(id nodeID) {
	if c.isInput(id) || !c.isLive(id) {
		return
	}
	n := c.g.nodes[id]
	src := c.sources(n)
	c.reg[id] = c.register()
	step := bitmap.Step{Op: n.op, Dst: c.reg[id], Src: make([]int, len(src))}
	for i, s := range src {
		step.Src[i] = c.reg[s]
		c.release(s)
	}
	c.out.program.Steps = append(c.out.program.Steps, step)
}

// output writes the Count or Read of a node.
func (c *compiler) output(id nodeID) {
	if c.isNothing(id) {
		return
	}
	of := c.same[id]
	c.out.program.Steps = append(c.out.program.Steps, bitmap.Step{Op: c.op, Src: []int{c.reg[of]}})
	c.out.outputs = append(c.out.outputs, id)
	c.release(of)
}

func (c *compiler) register() int {
	if n := len(c.free); n > 0 {
		r := c.free[n-1]
		c.free = c.free[:n-1]
		return r
	}
	c.next++
	return c.next - 1
}

func (c *compiler) release(id nodeID) {
	if c.uses[id]--; c.uses[id] == 0 && !c.isInput(id) {
		c.free = append(c.free, c.reg[id])
	}
}
