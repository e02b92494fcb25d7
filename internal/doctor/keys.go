package doctor

import (
	"context"
	"fmt"
	"strings"

	"bitboard/internal/store"
)

func (e *examination) types() {
	if t := e.keys.foreign; t.n > 0 {
		e.wrong("types", "%s: another program wrote it; rename or delete it, or configure another prefix", t)
		return
	}
	e.ok("types", "each of %s is of the type that belongs there", count(e.keys.keys, "key"))
}

func (e *examination) lengths() {
	if t := e.keys.long; t.n > 0 {
		e.wrong("lengths", "%s longer than a segment of %d bits, whose users past its end are never counted: %s; have its writer use the configured segment_bits, then delete it and write it again",
			count(int64(t.n), "bitmap"), e.Store.SegmentBits(), t)
	}
	if t := e.keys.high; t.n > 0 {
		e.wrong("lengths", "%s in a segment above max_offset %d, which is never read: %s; raise max_offset, or delete it",
			count(int64(t.n), "bitmap"), e.MaxOffset, t)
	}
	if e.keys.long.n+e.keys.high.n == 0 {
		e.ok("lengths", "each bitmap fits its segment, and none is above max_offset")
	}
}

func (e *examination) expiries() {
	if t := e.keys.lasting; t.n > 0 {
		e.wrong("expiry", "%s of a metric with keep that will not expire when it should; set it with redis-cli: %s", count(int64(t.n), "bitmap"), t)
	}
	if t := e.keys.expiring; t.n > 0 {
		e.wrong("expiry", "%s that should stay and will expire: %s; redis-cli PERSIST each", count(int64(t.n), "key"), t)
	}
	if e.keys.lasting.n+e.keys.expiring.n == 0 {
		e.ok("expiry", "days expire as keep says, and all else stays")
	}
}

func (e *examination) temps() {
	if t := e.keys.endless; t.n > 0 {
		e.wrong("temporary keys", "%s without a time to live: %s; delete with redis-cli UNLINK", count(int64(t.n), "key"), t)
	}
	if t := e.keys.old; t.n > 0 {
		e.wrong("temporary keys", "%s older than an hour: %s; when no import is running, delete with redis-cli UNLINK", count(int64(t.n), "key"), t)
	}
	if e.keys.endless.n+e.keys.old.n == 0 {
		e.ok("temporary keys", "none without a time to live, none of a job that died more than an hour ago")
	}
}

// sizes says where the memory is.
func (e *examination) sizes(context.Context) error {
	c := e.keys
	bitmaps, histories, dictionary := c.family[store.BitmapFamily], c.family[store.HistoryFamily], c.family[store.DictionaryFamily]
	e.ok("size", "%s in %s: bitmaps %s, histories of first days %s, dictionary %s, all else %s", bytes(c.memory), count(c.keys, "key"),
		bytes(bitmaps), bytes(histories), bytes(dictionary), bytes(c.memory-bitmaps-histories-dictionary))
	if len(c.biggest) == 0 {
		return nil
	}
	var names []string
	for _, k := range c.biggest {
		names = append(names, fmt.Sprintf("%s %s", k.Name, bytes(k.Memory)))
	}
	e.ok("biggest keys", "%s", strings.Join(names, ", "))
	return nil
}
