package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// mostSources is the most sources of one BITOP; Redis is many times slower with
// more. Two are the least.
const mostSources, leastSources = 16, 2

// bitopSources is how many sources a BITOP may have so that it works through no
// more than is configured.
func (s *Store) bitopSources() int {
	if s.config.MaxBitopBytes == 0 {
		return mostSources
	}
	fit := s.config.MaxBitopBytes / int64(s.config.SegmentBits/8)
	return int(max(leastSources, min(fit, mostSources)))
}

// Run runs a program over the stored bitmaps of a segment in one transaction:
// register i of the program's inputs holds inputs[i], absent ones are empty.
// Its temporary keys are gone when it ends. A history that is absent is an
// error. A program that yields nothing takes no round trip.
func (s *Store) Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error) {
	if err := checkProgram(len(inputs), p); err != nil {
		return bitmap.Result{}, err
	}
	yields := func(st bitmap.Step) bool { return st.Op == bitmap.Count || st.Op == bitmap.Read }
	if !slices.ContainsFunc(p.Steps, yields) {
		return bitmap.Result{}, nil
	}
	t := s.newTransaction(ctx, segment, inputs, p)
	for _, st := range p.Steps {
		t.step(st)
	}
	t.removeTemps()
	asked := s.askPresence(ctx, t.pipe, segment, inputs)
	if err := s.exec(ctx, "compute over bitmaps", t.pipe); err != nil {
		return bitmap.Result{}, err
	}
	return t.result(), s.checkPresence(ctx, asked)
}

func checkProgram(inputs int, p bitmap.Program) error {
	if inputs != p.Inputs {
		return fmt.Errorf("store: a program over %d bitmaps was given %d", p.Inputs, inputs)
	}
	for i, st := range p.Steps {
		ok := st.Dst >= p.Inputs && !slices.ContainsFunc(st.Src, func(r int) bool { return r < 0 })
		switch st.Op {
		case bitmap.Or, bitmap.And, bitmap.Xor:
		case bitmap.Minus:
			ok = ok && len(st.Src) == 2
		case bitmap.Count, bitmap.Read:
			ok = len(st.Src) == 1 && st.Src[0] >= 0
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("store: step %d of a program is malformed: %+v", i, st)
		}
	}
	return nil
}

// transaction is a program being turned into the commands of one MULTI.
type transaction struct {
	store   *Store
	ctx     context.Context
	pipe    redis.Pipeliner
	segment int
	job     string
	keys    []string // of the inputs
	scratch int      // a register that the program does not use
	temps   map[int]bool
	counts  []*redis.IntCmd
	reads   []*redis.StringCmd
}

func (s *Store) newTransaction(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) *transaction {
	t := &transaction{store: s, ctx: ctx, pipe: s.client.TxPipeline(), segment: segment, job: random(),
		keys: make([]string, len(inputs)), scratch: p.Inputs, temps: map[int]bool{}}
	for i, b := range inputs {
		t.keys[i] = s.keys.bitmap(b, segment)
	}
	for _, st := range p.Steps {
		t.scratch = max(t.scratch, st.Dst+1)
		for _, r := range st.Src {
			t.scratch = max(t.scratch, r+1)
		}
	}
	return t
}

func (t *transaction) key(register int) string {
	if register < len(t.keys) {
		return t.keys[register]
	}
	return t.store.keys.temp(t.segment, t.job, register)
}

func (t *transaction) step(st bitmap.Step) {
	switch st.Op {
	case bitmap.Count:
		t.counts = append(t.counts, t.pipe.BitCount(t.ctx, t.key(st.Src[0]), &redis.BitCount{End: t.last()}))
	case bitmap.Read:
		t.reads = append(t.reads, t.pipe.GetRange(t.ctx, t.key(st.Src[0]), 0, t.last()))
	case bitmap.Minus:
		t.minus(st.Dst, st.Src[0], st.Src[1])
	default:
		t.combine(st.Op, st.Dst, st.Src)
	}
}

// last is a segment's last byte. Another program may have written past it; those
// bits would be taken for users of other segments.
func (t *transaction) last() int64 { return int64(t.store.config.SegmentBits)/8 - 1 }

// minus writes a less b as a XOR (a AND b), which is right whatever the two
// lengths are; a NOT of a shorter b would drop the end of a.
func (t *transaction) minus(dst, a, b int) {
	both := dst
	if dst == a {
		both = t.scratch // a is still needed for the second step
	}
	t.bitop(bitmap.And, both, []int{a, b})
	t.bitop(bitmap.Xor, dst, []int{a, both})
}

// combine writes the OR, AND or XOR of any number of registers, at most
// bitopSources a command.
func (t *transaction) combine(op bitmap.Op, dst int, src []int) {
	src = arrange(op, dst, src)
	if len(src) == 0 {
		t.pipe.Unlink(t.ctx, t.key(dst))
		return
	}
	most := t.store.bitopSources()
	n := min(len(src), most)
	t.bitop(op, dst, src[:n])
	for rest := src[n:]; len(rest) > 0; rest = rest[n:] {
		n = min(len(rest), most-1)
		t.bitop(op, dst, append([]int{dst}, rest[:n]...))
	}
}

// arrange puts dst first among its own sources, before the first command of a
// chain overwrites it.
func arrange(op bitmap.Op, dst int, src []int) []int {
	own := len(src)
	src = slices.DeleteFunc(slices.Clone(src), func(r int) bool { return r == dst })
	own -= len(src)
	if own == 0 || op == bitmap.Xor && own%2 == 0 {
		return src
	}
	return slices.Insert(src, 0, dst)
}

func (t *transaction) bitop(op bitmap.Op, dst int, src []int) {
	t.temps[dst] = true
	sources := make([]string, len(src))
	for i, r := range src {
		sources[i] = t.key(r)
	}
	switch op {
	case bitmap.Or:
		t.pipe.BitOpOr(t.ctx, t.key(dst), sources...)
	case bitmap.And:
		t.pipe.BitOpAnd(t.ctx, t.key(dst), sources...)
	default:
		t.pipe.BitOpXor(t.ctx, t.key(dst), sources...)
	}
}

// removeTemps ends the transaction. The temporary keys get their time to live
// first: should anything keep the last command from being carried out, they
// still go away.
func (t *transaction) removeTemps() {
	if len(t.temps) == 0 {
		return
	}
	var names []string
	for r := range t.temps {
		names = append(names, t.key(r))
		t.pipe.Expire(t.ctx, t.key(r), t.store.config.TempTTL)
	}
	t.pipe.Unlink(t.ctx, names...)
}

func (t *transaction) result() bitmap.Result {
	var r bitmap.Result
	for _, c := range t.counts {
		r.Counts = append(r.Counts, c.Val())
	}
	for _, c := range t.reads {
		r.Reads = append(r.Reads, bytesOf(c))
	}
	return r
}
