package query

import "sync"

// arenaSlack is the memory that the store needs beside the bytes of a bitmap.
const arenaSlack = 2

// arenas is memory for the bitmaps of a segment, used again and again: making
// it anew would take a good part of the time of reading them.
type arenas struct{ free sync.Pool }

// take returns n bytes of any content.
func (a *arenas) take(n int) []byte {
	if b, ok := a.free.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return make([]byte, n)
}

// give takes bytes back that nobody uses any more.
func (a *arenas) give(b []byte) { a.free.Put(&b) }
