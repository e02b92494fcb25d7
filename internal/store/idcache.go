package store

import (
	"strings"
	"sync"
)

const (
	// idCacheBytes bounds each of the cache's two generations by the estimate
	// below, so that both together stay under about 64 MiB.
	idCacheBytes = 32 << 20
	// idEntryBytes is what a map entry costs besides the ID's own bytes: the
	// string header, the offset, and the map's free slots.
	idEntryBytes = 48
)

// idCache remembers the offsets of IDs seen lately, of one generation of the data.
// It has two generations: a full young one becomes the old one, and an ID
// found in the old one is young again. So it is bounded, and what is used
// often stays.
type idCache struct {
	mu         sync.Mutex
	generation generation
	young, old map[string]uint32
	bytes      int // of the young generation
}

func newIDCache() *idCache {
	c := &idCache{}
	c.reset(generation{})
	return c
}

func (c *idCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset(generation{})
}

func (c *idCache) reset(g generation) {
	c.generation, c.young, c.old, c.bytes = g, map[string]uint32{}, nil, 0
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
		offset, ok := c.young[id]
		if !ok {
			if offset, ok = c.old[id]; ok {
				c.put(id, offset)
			}
		}
		if !ok {
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
		// The caller's string may be a piece of something much larger.
		c.put(strings.Clone(id), offsets[i])
	}
}

func (c *idCache) put(id string, offset uint32) {
	c.young[id] = offset
	c.bytes += len(id) + idEntryBytes
	if c.bytes > idCacheBytes {
		c.old, c.young, c.bytes = c.young, map[string]uint32{}, 0
	}
}
