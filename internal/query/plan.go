package query

import (
	"math"
	"slices"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// operandBytes is what finding one operand costs, as bytes worked through
	// in the same time: about 0.2 µs.
	operandBytes = 4 << 10
	// batchBytes is the work of one transaction: about 1 ms of the store's time.
	batchBytes = 16 << 20
	// transferFactor is how much dearer a byte is that crosses to this process
	// than one that the store works through itself.
	transferFactor = 3
)

// plan is how a graph is run: which nodes are wanted, in what batches, by
// which engine. It is the same for every segment.
type plan struct {
	*graph
	outputs []nodeID   // distinct, not nothing
	batches [][]nodeID // for bitop: the outputs, as many as one transaction may compute
	engine  Engine
	worked  int64 // for bitop: the bytes that the store works through for a segment
}

// newPlan plans the counting or reading of sets and returns the node of each.
// It is an ErrInvalid to want an engine that cannot do it.
func (s *Service) newPlan(cat *cohort.Catalogue, known past, sets []cohort.Set, want Engine) (*plan, []nodeID, error) {
	if !s.bitopFits() {
		if want == Bitop {
			return nil, nil, fault.Invalid("bad_value", "engine",
				"engine bitop cannot work here: two bitmaps of a segment have more than max_bitop_bytes, %d bytes; give fold or auto", s.config.MaxBitopBytes)
		}
		want = Fold
	}
	g, ids := newGraph(cat, known, sets)
	if other, found := s.keptByOthers(g); found {
		if want == Bitop {
			return nil, nil, fault.Invalid("bad_value", "engine",
				"engine bitop cannot work here: %s is kept by another program under keys that may lie anywhere and be large; give fold or auto", other)
		}
		want = Fold
	}
	p := &plan{graph: g, outputs: slices.DeleteFunc(distinct(ids), func(id nodeID) bool { return id == nothing })}
	bitmapBytes := int64(s.segmentBytes() + operandBytes)
	p.engine = want
	switch want {
	case Bitop:
		p.batch(bitmapBytes, math.MaxInt64, math.MaxInt64)
	case Auto, "":
		p.engine = Bitop
		if !p.batch(bitmapBytes, transferFactor*bitmapBytes*int64(len(g.leaves)), 4*batchBytes) {
			p.engine = Fold
		}
	}
	return p, ids, nil
}

// keptByOthers names something that the graph reads and another program keeps.
func (s *Service) keptByOthers(g *graph) (name string, found bool) {
	if !s.workspace.HasOthers() {
		return "", false
	}
	for b := range g.leaves {
		if m, _ := s.workspace.Metric(b.Metric); m.ReadOnly() && b.Kind != cohort.ListBitmap {
			return m.Name, true
		}
		if b.Kind == cohort.KnownBitmap && s.workspace.KnownKey {
			return "the set of all users", true
		}
	}
	return "", false
}

// bitopFits reports whether a command may take two bitmaps of a segment.
func (s *Service) bitopFits() bool {
	return s.config.MaxBitopBytes == 0 || 2*int64(s.segmentBytes()) <= s.config.MaxBitopBytes
}

func (s *Service) segmentBytes() int { return (s.store.SegmentBits() + 7) / 8 }

// batch divides the outputs so that no batch costs much more than one
// transaction may. A batch computes anew what it shares with another. The
// costs are in bytes that the store works through, for one segment. It gives
// up, and returns false, when all batches together or one of them cost more
// than is allowed.
func (p *plan) batch(bitmapBytes, most, mostOfOne int64) bool {
	in := make([]int, len(p.nodes)) // by node: the batch that computes it, from 1
	var batch []nodeID
	total, cost := int64(0), int64(0)
	for _, id := range p.outputs {
		added := bitmapBytes * p.operands(id, len(p.batches)+1, in)
		if len(batch) > 0 && cost+added > batchBytes {
			p.batches = append(p.batches, batch)
			total += cost
			batch, cost = nil, 0
			added = bitmapBytes * p.operands(id, len(p.batches)+1, in)
		}
		batch = append(batch, id)
		if cost += added; cost > mostOfOne || total+cost > most {
			return false
		}
	}
	if len(batch) > 0 {
		p.batches = append(p.batches, batch)
	}
	p.worked = total + cost
	return true
}

// operands counts the operands of the steps that an output adds to a batch,
// its own count included, and notes them as belonging to it.
func (p *plan) operands(output nodeID, batch int, in []int) int64 {
	n := int64(1)
	stack := []nodeID{output}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if in[id] == batch || id == nothing {
			continue
		}
		in[id] = batch
		n += int64(len(p.nodes[id].src))
		stack = append(stack, p.nodes[id].src...)
	}
	return n
}
