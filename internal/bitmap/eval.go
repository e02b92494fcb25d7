package bitmap

import (
	"encoding/binary"
	"math/bits"
)

const wordBytes = 8

// Eval runs a program in memory on bitmaps of at most size bytes each. An
// absent input is nil. Redis and Eval give the same Result for every program,
// but that Eval's Reads are always size bytes long.
func Eval(p Program, inputs [][]byte, size int) Result {
	words := (size + wordBytes - 1) / wordBytes
	m := machine{words: words, regs: make([][]uint64, p.registers())}
	for i, b := range inputs {
		m.regs[i] = load(b)
	}
	var res Result
	for _, s := range p.Steps {
		switch s.Op {
		case Count:
			res.Counts = append(res.Counts, countWords(m.regs[s.Src[0]]))
		case Read:
			res.Reads = append(res.Reads, store(m.regs[s.Src[0]], size))
		default:
			m.combine(s, p.Inputs)
		}
	}
	return res
}

// registers returns how many registers the program names.
func (p Program) registers() int {
	n := p.Inputs
	for _, s := range p.Steps {
		if s.Op != Count && s.Op != Read {
			n = max(n, s.Dst+1)
		}
	}
	return n
}

type machine struct {
	words int
	regs  [][]uint64
}

// combine writes a step's result into a fresh copy when the destination is
// also read, and into the destination's own words otherwise.
func (m *machine) combine(s Step, inputs int) {
	dst := m.regs[s.Dst]
	for _, r := range s.Src {
		if r == s.Dst {
			dst = nil
		}
	}
	if s.Dst < inputs || len(dst) != m.words {
		dst = make([]uint64, m.words)
	}
	n := copy(dst, m.regs[s.Src[0]])
	clear(dst[n:])
	for _, r := range s.Src[1:] {
		apply(s.Op, dst, m.regs[r])
	}
	m.regs[s.Dst] = dst
}

func apply(op Op, dst, src []uint64) {
	src = src[:min(len(src), len(dst))]
	switch op {
	case Or:
		for i, w := range src {
			dst[i] |= w
		}
	case Xor:
		for i, w := range src {
			dst[i] ^= w
		}
	case Minus:
		for i, w := range src {
			dst[i] &^= w
		}
	case And:
		for i, w := range src {
			dst[i] &= w
		}
		clear(dst[len(src):])
	}
}

// load and store keep byte order, so that a word's bits stay in step between
// operands whatever the machine; only counting and bitwise operations see them.
func load(b []byte) []uint64 {
	words := make([]uint64, (len(b)+wordBytes-1)/wordBytes)
	full := len(b) / wordBytes
	for i := range full {
		words[i] = binary.LittleEndian.Uint64(b[i*wordBytes:])
	}
	for i, x := range b[full*wordBytes:] {
		words[full] |= uint64(x) << (8 * i)
	}
	return words
}

func store(words []uint64, size int) []byte {
	b := make([]byte, (size+wordBytes-1)/wordBytes*wordBytes)
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[i*wordBytes:], w)
	}
	return b[:size]
}

func countWords(words []uint64) int64 {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}
