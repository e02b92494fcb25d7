package query

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// nodeID names a node of a graph. Sources always have lower IDs than the
// nodes that read them.
type nodeID uint32

// nothing is the node of the empty set.
const nothing nodeID = 0

// node is a stored bitmap when src is empty, otherwise an operation.
type node struct {
	bitmap cohort.Bitmap
	op     bitmap.Op
	src    []nodeID
}

// graph is the sets of a question with their common parts shared. It holds
// for every segment; compile fits it to one.
type graph struct {
	cat    *cohort.Catalogue
	past   past
	nodes  []node
	leaves map[cohort.Bitmap]nodeID
	shared map[string]nodeID // by operation and sources
	nested nestedRanges
	unions map[cohort.OnAny]nodeID
	lists  map[listKey]nodeID
	counts map[*cohort.Set]counter // by the first of the sets counted
}

// counter is how many of some sets each user is in, in binary: digit i holds
// the users whose number has bit i.
type counter struct {
	sets   int // how many there are, with the empty ones
	of     []nodeID
	digits []nodeID
}

// newGraph builds the graph of sets, with histories for days where it can, and
// returns the node of each.
func newGraph(cat *cohort.Catalogue, known past, sets []cohort.Set) (*graph, []nodeID) {
	g := &graph{
		cat:    cat,
		past:   known,
		nodes:  make([]node, 1),
		leaves: map[cohort.Bitmap]nodeID{},
		shared: map[string]nodeID{},
		nested: findNested(sets),
		unions: map[cohort.OnAny]nodeID{},
		lists:  map[listKey]nodeID{},
		counts: map[*cohort.Set]counter{},
	}
	return g, g.addAll(sets)
}

func (g *graph) addAll(sets []cohort.Set) []nodeID {
	ids := make([]nodeID, len(sets))
	for i, s := range sets {
		ids[i] = g.add(s)
	}
	return ids
}

func (g *graph) add(s cohort.Set) nodeID {
	switch s := s.(type) {
	case cohort.Stored:
		return g.leaf(s.Bitmap)
	case cohort.OnAny:
		return g.onAny(s)
	case cohort.Union:
		return g.list(bitmap.Or, s.Of)
	case cohort.Intersection:
		return g.list(bitmap.And, s.Of)
	case cohort.Difference:
		return g.minus(g.add(s.From), g.add(s.Without))
	case cohort.AtLeast:
		return g.atLeast(s.K, s.Of)
	}
	return nothing
}

// listKey names an operation over a list of sets by the list's first element
// and its length: many sets of a question may share a list.
type listKey struct {
	op    bitmap.Op
	first *cohort.Set
	n     int
}

// list returns the union or the intersection of sets.
func (g *graph) list(op bitmap.Op, of []cohort.Set) nodeID {
	if len(of) == 0 {
		return nothing
	}
	key := listKey{op, &of[0], len(of)}
	id, ok := g.lists[key]
	if !ok {
		if src := g.addAll(of); op == bitmap.Or {
			id = g.or(src...)
		} else {
			id = g.and(src...)
		}
		g.lists[key] = id
	}
	return id
}

// leaf returns the node of a stored bitmap, or nothing when no segment has it.
func (g *graph) leaf(b cohort.Bitmap) nodeID {
	if len(g.cat.SegmentsOf(b)) == 0 {
		return nothing
	}
	id, ok := g.leaves[b]
	if !ok {
		id = nodeID(len(g.nodes))
		g.leaves[b] = id
		g.nodes = append(g.nodes, node{bitmap: b})
	}
	return id
}

// operation returns the node of op over src, the same one for the same sources.
func (g *graph) operation(op bitmap.Op, src ...nodeID) nodeID {
	key := make([]byte, 1, 1+4*len(src))
	key[0] = byte(op)
	for _, s := range src {
		key = binary.LittleEndian.AppendUint32(key, uint32(s))
	}
	id, ok := g.shared[string(key)]
	if !ok {
		id = nodeID(len(g.nodes))
		g.shared[string(key)] = id
		g.nodes = append(g.nodes, node{op: op, src: src})
	}
	return id
}

func (g *graph) or(src ...nodeID) nodeID {
	src = distinct(src)
	if len(src) > 0 && src[0] == nothing {
		src = src[1:]
	}
	switch len(src) {
	case 0:
		return nothing
	case 1:
		return src[0]
	}
	return g.operation(bitmap.Or, src...)
}

func (g *graph) and(src ...nodeID) nodeID {
	src = distinct(src)
	if src[0] == nothing || len(src) == 1 {
		return src[0]
	}
	return g.operation(bitmap.And, src...)
}

func (g *graph) minus(a, b nodeID) nodeID {
	switch {
	case a == nothing || b == nothing:
		return a
	case a == b:
		return nothing
	}
	return g.operation(bitmap.Minus, a, b)
}

func (g *graph) xor(a, b nodeID) nodeID {
	switch {
	case a == nothing:
		return b
	case b == nothing:
		return a
	case a == b:
		return nothing
	}
	return g.operation(bitmap.Xor, min(a, b), max(a, b))
}

// distinct returns the IDs ascending, each once.
func distinct(ids []nodeID) []nodeID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// atLeast returns the users in k or more of the sets. Comparing a counter
// with k goes from the lowest bit of k that is set upwards.
func (g *graph) atLeast(k int, sets []cohort.Set) nodeID {
	c := g.counter(sets)
	switch {
	case k > len(c.of):
		return nothing
	case k == 1:
		return g.or(c.of...)
	case k == len(c.of):
		return g.and(c.of...)
	case bits.Len(uint(k)) > len(c.digits):
		return nothing
	}
	low := bits.TrailingZeros(uint(k))
	reached := c.digits[low]
	for i := low + 1; i < len(c.digits); i++ {
		if k>>i&1 == 1 {
			reached = g.and(c.digits[i], reached)
		} else {
			reached = g.or(c.digits[i], reached)
		}
	}
	return reached
}

// counter adds sets up by ripple-carry addition, once for a list of sets
// however many numbers it is compared with. Sets without users are left out:
// the digits, and with them the work for each number, are those of the rest.
func (g *graph) counter(sets []cohort.Set) counter {
	if c, ok := g.counts[&sets[0]]; ok && c.sets == len(sets) {
		return c
	}
	empty := func(id nodeID) bool { return id == nothing }
	c := counter{sets: len(sets), of: slices.DeleteFunc(g.addAll(sets), empty)}
	for n, carry := range c.of {
		// The sum of n+1 sets has no more digits, so no carry leaves the last.
		for i := 0; carry != nothing && i < bits.Len(uint(n+1)); i++ {
			if i == len(c.digits) {
				c.digits = append(c.digits, nothing)
			}
			c.digits[i], carry = g.xor(c.digits[i], carry), g.and(c.digits[i], carry)
		}
	}
	g.counts[&sets[0]] = c
	return c
}
