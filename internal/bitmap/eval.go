package bitmap

import "slices"

const (
	wordBytes = 8
	// evalWords bounds the registers of an evaluation, in words, to 8 MiB.
	evalWords = 1 << 20
	// leastBlock is the words that are worth a turn through the program.
	leastBlock = 8
)

// Eval runs a program in memory on bitmaps of at most size bytes each. An
// absent input is nil. Redis and Eval give the same Result for every program,
// but that Eval's Reads are always size bytes long.
//
// It goes through the program once for each block of the bitmaps, so that the
// intermediate results stay in the processor's cache, and its memory is bounded
// however long the program is. Every step is bitwise, so the blocks' counts add
// up.
func Eval(p Program, inputs [][]byte, size int) Result {
	m := newMachine(p, size)
	for from := 0; from < size; from += m.blockBytes() {
		m.run(inputs, from, min(from+m.blockBytes(), size))
	}
	return m.result
}

// machine runs a program on one block after the other.
type machine struct {
	program Program
	steps   []instruction
	regs    []*block
	spare   *block // takes the result of a step that reads its own destination
	words   int    // of a block
	result  Result
}

// instruction is a step, with the number of its result among the program's counts or reads.
type instruction struct {
	Step
	result int
	// fused steps count their two sources' intersection without storing it.
	fused bool
}

func newMachine(p Program, size int) *machine {
	m := &machine{program: p, regs: make([]*block, p.registers())}
	m.words = min(kernelWords, max(leastBlock, evalWords/(len(m.regs)+1)))
	m.steps = instructions(p)
	counts, reads := 0, 0
	for _, s := range m.steps {
		switch s.Op {
		case Count:
			counts = s.result + 1
		case Read:
			reads = s.result + 1
		}
	}
	if counts > 0 {
		m.result.Counts = make([]int64, counts)
	}
	for range reads {
		m.result.Reads = append(m.result.Reads, make([]byte, 0, size))
	}
	return m
}

func (m *machine) blockBytes() int { return m.words * wordBytes }

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

// instructions prepares the steps. An intersection that is only counted is
// never stored: that halves the work of a retention table.
func instructions(p Program) []instruction {
	last := lastReads(p)
	all := make([]instruction, 0, len(p.Steps))
	counts, reads := 0, 0
	for i := 0; i < len(p.Steps); i++ {
		in := instruction{Step: p.Steps[i]}
		if counted := i + 1; in.Op == And && len(in.Src) == 2 && counted < len(p.Steps) && last[counted] &&
			p.Steps[counted].Op == Count && p.Steps[counted].Src[0] == in.Dst {
			in.Op, in.fused = Count, true
			i = counted
		}
		switch in.Op {
		case Count:
			in.result = counts
			counts++
		case Read:
			in.result = reads
			reads++
		}
		all = append(all, in)
	}
	return all
}

// lastReads tells of each step that counts whether nobody reads its source
// after it.
func lastReads(p Program) []bool {
	last := make([]bool, len(p.Steps))
	read := make([]bool, p.registers())
	for i, s := range slices.Backward(p.Steps) {
		switch s.Op {
		case Count:
			last[i] = !read[s.Src[0]]
		case Read:
		default:
			read[s.Dst] = false
		}
		for _, r := range s.Src {
			read[r] = true
		}
	}
	return last
}

// run goes through the program for the bytes from..to-1 of the inputs.
func (m *machine) run(inputs [][]byte, from, to int) {
	for i, b := range inputs {
		m.register(i).load(b[min(from, len(b)):min(to, len(b))])
	}
	for i := range m.steps {
		switch in := &m.steps[i]; {
		case in.fused:
			m.result.Counts[in.result] += countAnd(m.register(in.Src[0]), m.register(in.Src[1]))
		case in.Op == Count:
			m.result.Counts[in.result] += count(m.register(in.Src[0]))
		case in.Op == Read:
			m.result.Reads[in.result] = append(m.result.Reads[in.result], m.register(in.Src[0]).bytes[:to-from]...)
		default:
			m.combine(in.Step)
		}
	}
}

// register returns a register's block, an empty one at first.
func (m *machine) register(r int) *block {
	if m.regs[r] == nil {
		m.regs[r] = newBlock(m.words)
	}
	return m.regs[r]
}

// combine carries out a step that writes a register.
func (m *machine) combine(s Step) {
	dst := m.register(s.Dst)
	if slices.Contains(s.Src, s.Dst) {
		if m.spare == nil {
			m.spare = newBlock(m.words)
		}
		dst = m.spare
	}
	copy(dst.words, m.register(s.Src[0]).words)
	for _, r := range s.Src[1:] {
		apply(s.Op, dst.words, m.register(r).words)
	}
	if dst == m.spare {
		m.spare, m.regs[s.Dst] = m.regs[s.Dst], m.spare
	}
}
