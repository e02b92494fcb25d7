package store

import (
	"sync"

	"github.com/cespare/xxhash/v2"
)

// idCacheBytes bounds each of the cache's two tables, so that both together
// stay under 64 MiB.
const idCacheBytes = 32 << 20

// idCache remembers the offsets of IDs seen lately, of one generation of the
// data. It has two tables: a full young one becomes the old one, and an ID
// found in the old one is young again. So it is bounded, and what is used
// often stays.
type idCache struct {
	limit int // bytes of a table

	mu         sync.Mutex
	generation generation
	young, old idTable
}

func newIDCache(limit int) *idCache { return &idCache{limit: limit} }

func (c *idCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset(generation{})
}

func (c *idCache) reset(g generation) {
	c.generation, c.young, c.old = g, idTable{}, idTable{}
}

// lookUp fills in the offsets of the IDs it remembers and returns the
// positions of the others. In another generation than before it remembers none.
func (c *idCache) lookUp(g generation, ids []string, offsets []uint32) (missing []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != g {
		c.reset(g)
	}
	for i, id := range ids {
		hash := uint32(xxhash.Sum64String(id))
		offset, ok := c.young.find(hash, id)
		if !ok {
			if offset, ok = c.old.find(hash, id); ok {
				c.put(hash, id, offset)
			}
		}
		if !ok {
			if missing == nil {
				missing = make([]int, 0, len(ids)-i)
			}
			missing = append(missing, i)
			continue
		}
		offsets[i] = offset
	}
	return missing
}

// remember keeps the offsets of IDs of a generation.
func (c *idCache) remember(g generation, ids []string, offsets []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != g {
		return
	}
	for i, id := range ids {
		hash := uint32(xxhash.Sum64String(id))
		if _, ok := c.young.find(hash, id); !ok {
			c.put(hash, id, offsets[i])
		}
	}
}

// put adds an ID that the young table does not have.
func (c *idCache) put(hash uint32, id string, offset uint32) {
	if c.young.bytesWith(id) > c.limit {
		c.old, c.young = c.young, idTable{}
	}
	c.young.put(hash, id, offset)
}

// idTable is a hash table with the IDs' bytes in one piece: unlike a map it
// takes no allocation for an ID, and holds no pointer for the collector to follow.
type idTable struct {
	slots []idSlot // a power of two of them, or none
	used  int
	text  []byte // the IDs, one after the other
}

// idSlot is one ID, or free when its length is 0.
type idSlot struct {
	hash, offset uint32
	at           uint32 // where the ID begins in text
	length       uint16
}

const (
	idSlotBytes = 16
	fewestSlots = 1024
)

// find returns the offset of an ID with a hash.
func (t *idTable) find(hash uint32, id string) (offset uint32, ok bool) {
	if t.used == 0 {
		return 0, false
	}
	for i := int(hash) & (len(t.slots) - 1); t.slots[i].length > 0; i = (i + 1) & (len(t.slots) - 1) {
		s := &t.slots[i]
		if s.hash == hash && string(t.text[s.at:][:s.length]) == id {
			return s.offset, true
		}
	}
	return 0, false
}

// crowded reports whether one more ID needs more slots: a quarter stays free,
// so that a search ends soon.
func (t *idTable) crowded() bool { return 4*(t.used+1) > 3*len(t.slots) }

// bytesWith returns what the table takes up with one more ID.
func (t *idTable) bytesWith(id string) int {
	slots := len(t.slots)
	if t.crowded() {
		slots = max(fewestSlots, 2*slots)
	}
	return slots*idSlotBytes + len(t.text) + len(id)
}

// put adds an ID that is not there.
func (t *idTable) put(hash uint32, id string, offset uint32) {
	if t.crowded() {
		before := t.slots
		t.slots = make([]idSlot, max(fewestSlots, 2*len(before)))
		for _, s := range before {
			if s.length > 0 {
				t.place(s)
			}
		}
	}
	t.place(idSlot{hash, offset, uint32(len(t.text)), uint16(len(id))})
	t.text = append(t.text, id...)
	t.used++
}

func (t *idTable) place(s idSlot) {
	i := int(s.hash) & (len(t.slots) - 1)
	for t.slots[i].length > 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}
