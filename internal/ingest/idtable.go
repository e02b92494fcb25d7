package ingest

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
)

const (
	// firstSlots is how many slots a table starts with, a power of two.
	firstSlots = 1 << 12
	// chunkBytes is the size of the pieces in which a table keeps its IDs.
	chunkBytes = 1 << 20
	// mostChunks bounds a table to somewhat less than 4 GiB.
	mostChunks = 1<<12 - 1
	// entryHead is the bytes of an entry before its ID: the number and the
	// ID's length less one.
	entryHead = 5
)

// seed makes the hashes unknown to whoever chooses the IDs.
var seed = maphash.MakeSeed()

func hashID(id []byte) uint64 { return maphash.Bytes(seed, id) }

// idTable maps IDs of 1 to 256 bytes to numbers. One goroutine may add to it
// while others look IDs up: a slot is filled after its entry is complete, and
// an entry never changes. Whoever looks an ID up may miss one that was just
// added, and never gets another one's number.
type idTable struct {
	// slots holds 0, or the upper half of the ID's hash and the entry's place.
	slots  atomic.Pointer[[]atomic.Uint64]
	chunks [mostChunks]*[chunkBytes]byte
	used   int // bytes of the chunks, the first of which is spent so that no place is 0
	ids    int
}

// atomicTable is a table that can be replaced while others use it.
type atomicTable = atomic.Pointer[idTable]

func newIDTable() *idTable {
	t := &idTable{used: 1}
	slots := make([]atomic.Uint64, firstSlots)
	t.slots.Store(&slots)
	return t
}

// find returns the number of an ID with a hash.
func (t *idTable) find(hash uint64, id []byte) (number uint32, ok bool) {
	slots := *t.slots.Load()
	for i := hash & uint64(len(slots)-1); ; i = (i + 1) & uint64(len(slots)-1) {
		slot := slots[i].Load()
		if slot == 0 {
			return 0, false
		}
		if slot>>32 != hash>>32 {
			continue
		}
		if entry := t.entry(uint32(slot)); bytes.Equal(entry[entryHead:], id) {
			return binary.LittleEndian.Uint32(entry), true
		}
	}
}

// entry returns the entry at a place.
func (t *idTable) entry(place uint32) []byte {
	tail := t.chunks[place/chunkBytes][place%chunkBytes:]
	return tail[:entryHead+1+int(tail[entryHead-1])]
}

// add adds an ID that is not in the table.
func (t *idTable) add(hash uint64, id []byte, number uint32) {
	if 2*(t.ids+1) > len(*t.slots.Load()) {
		t.grow()
	}
	t.ids++
	fill(*t.slots.Load(), hash, t.append(id, number))
}

// append writes an entry and returns its place.
func (t *idTable) append(id []byte, number uint32) (place uint32) {
	size := entryHead + len(id)
	if t.used%chunkBytes+size > chunkBytes {
		t.used += chunkBytes - t.used%chunkBytes
	}
	if t.chunks[t.used/chunkBytes] == nil {
		t.chunks[t.used/chunkBytes] = new([chunkBytes]byte)
	}
	place = uint32(t.used)
	entry := t.chunks[place/chunkBytes][place%chunkBytes:][:size]
	binary.LittleEndian.PutUint32(entry, number)
	entry[entryHead-1] = byte(len(id) - 1)
	copy(entry[entryHead:], id)
	t.used += size
	return place
}

// fill puts an entry into the first free slot for its hash.
func fill(slots []atomic.Uint64, hash uint64, place uint32) {
	i := hash & uint64(len(slots)-1)
	for slots[i].Load() != 0 {
		i = (i + 1) & uint64(len(slots)-1)
	}
	slots[i].Store(hash>>32<<32 | uint64(place))
}

// grow doubles the slots. Those who look IDs up meanwhile use the old ones.
func (t *idTable) grow() {
	old := *t.slots.Load()
	slots := make([]atomic.Uint64, 2*len(old))
	for i := range old {
		if place := uint32(old[i].Load()); place != 0 {
			fill(slots, hashID(t.entry(place)[entryHead:]), place)
		}
	}
	t.slots.Store(&slots)
}

// size is how many bytes the table takes up.
func (t *idTable) size() int { return t.used + 8*len(*t.slots.Load()) }

// clear takes all IDs out. Nobody may look one up meanwhile.
func (t *idTable) clear() {
	clear(*t.slots.Load())
	t.used, t.ids = 1, 0
}
