package bitmap

import (
	"math/bits"
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
)

// kernelWords is the size of a block that the counting kernels take: 8 KiB.
const kernelWords = 1024

// block is a stretch of a bitmap.
type block struct {
	words []uint64
	// bytes is the same memory in the order of the bitmap. Only counting and
	// bitwise operations see the words, so that bits stay in step between
	// operands whatever the machine.
	bytes []byte
	// view is a container of roaring over the same words, for its kernels, which
	// count with the widest instructions that the processor has. It is nil for
	// a block of another size than kernelWords.
	view *roaring.Bitmap
}

// newBlock returns an empty block. A view keeps to its words, rather than to a
// compressed copy of them, only when many are set while it is made; what they
// are later does not matter to the kernels.
func newBlock(words int) *block {
	b := &block{words: make([]uint64, words)}
	b.bytes = unsafe.Slice((*byte)(unsafe.Pointer(&b.words[0])), words*wordBytes)
	if words == kernelWords {
		for i := range b.words {
			b.words[i] = ^uint64(0)
		}
		b.view = roaring.FromDense(b.words, false)
		clear(b.words)
	}
	return b
}

// load fills the block with bytes, and with zeros after them.
func (b *block) load(from []byte) { clear(b.bytes[copy(b.bytes, from):]) }

// count returns the number of bits set.
func count(b *block) int64 { return countAnd(b, b) }

// countAnd returns the number of bits set in both blocks.
func countAnd(a, b *block) int64 {
	if a.view != nil && b.view != nil {
		return int64(a.view.AndCardinality(b.view))
	}
	n := 0
	other := b.words[:len(a.words)]
	for i, w := range a.words {
		n += bits.OnesCount64(w & other[i])
	}
	return int64(n)
}

// apply combines a block's words into another's.
func apply(op Op, dst, src []uint64) {
	src = src[:len(dst)]
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
	}
}
