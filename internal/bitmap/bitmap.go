// Package bitmap works on the bytes of a bitmap in Redis's bit order: bit 0 is
// the most significant bit of byte 0. It is pure.
package bitmap

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// CountBits returns the number of bits set.
func CountBits(b []byte) int64 {
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	return int64(n)
}

// Ones yields the positions of the bits set, ascending.
func Ones(b []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for base := 0; base < len(b); base += 8 {
			word := wordAt(b, base)
			for word != 0 {
				n := bits.LeadingZeros64(word)
				if !yield(base*8 + n) {
					return
				}
				word &^= 1 << (63 - n)
			}
		}
	}
}

// wordAt returns the eight bytes at base, zeros past the end, first bit highest.
func wordAt(b []byte, base int) uint64 {
	if base+8 <= len(b) {
		return binary.BigEndian.Uint64(b[base:])
	}
	var tail [8]byte
	copy(tail[:], b[base:])
	return binary.BigEndian.Uint64(tail[:])
}

// Set sets the bit at a position and returns the bitmap, grown when needed.
func Set(b []byte, position int) []byte {
	for position>>3 >= len(b) {
		b = append(b, make([]byte, position>>3+1-len(b))...)
	}
	b[position>>3] |= 0x80 >> (position & 7)
	return b
}
