package bitmap

// Op is what a Step does.
type Op uint8

// The operations. Operands of different lengths are padded with zeros at the
// end of the shorter, and an absent bitmap is empty.
const (
	// Or writes the union of its sources to Dst.
	Or Op = iota
	// And writes the intersection of its sources to Dst.
	And
	// Minus writes the first of its two sources less the second to Dst.
	Minus
	// Xor writes the symmetric difference of its sources to Dst.
	Xor
	// Count yields the number of bits set in its one source.
	Count
	// Read yields the bytes of its one source.
	Read
)

// Step is one operation on registers. Registers 0 to Program.Inputs-1 hold the
// stored bitmaps and are never written; the others are temporary. A register
// may be written again, and a step may write a register that it reads.
type Step struct {
	Op  Op
	Dst int // the register written; no meaning for Count and Read
	Src []int
}

// Program is straight-line code over the bitmaps of one segment. An executor
// runs it as Redis commands, or here in memory; both give the same Result.
type Program struct {
	Inputs int
	Steps  []Step
}

// Result is what a Program's Count and Read steps yield, each in step order.
type Result struct {
	Counts []int64
	Reads  [][]byte
}
