package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"bitboard/internal/store"
)

// noEviction is the policy under which a server never removes keys by itself.
const noEviction = "noeviction"

// servers examines what the servers say about themselves.
func (e *examination) servers(ctx context.Context) error {
	all, err := e.Store.Servers(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("Redis %s at %s", s.Version, s.Address))
	}
	e.ok("server", "%s", strings.Join(names, ", "))
	e.eviction(all)
	e.headroom(all)
	e.persistence(all)
	return nil
}

func (e *examination) eviction(all []store.Server) {
	sound := true
	for _, s := range all {
		if s.Policy != noEviction {
			sound = false
			e.wrong("eviction", "%s has maxmemory-policy %s and would remove days when its memory is full, so that writes are refused; "+
				"set it with redis-cli CONFIG SET maxmemory-policy noeviction, and in the server's configuration", s.Address, s.Policy)
		}
		if s.EvictedKeys > 0 {
			sound = false
			e.wrong("eviction", "%s has removed %s since it started, of days or of user IDs, so that any number may be wrong; "+
				"restore a copy of the data, or import all of them under another prefix, then redis-cli CONFIG RESETSTAT", s.Address, count(s.EvictedKeys, "key"))
		}
	}
	if sound {
		e.ok("eviction", "no server removes keys, and none has")
	}
}

// headroom examines how full the memory is. Writes fail when nothing is left.
func (e *examination) headroom(all []store.Server) {
	used, sound := int64(0), true
	for _, s := range all {
		used += s.UsedMemory
		if s.MaxMemory > 0 && s.UsedMemory > s.MaxMemory/10*9 {
			sound = false
			e.wrong("memory", "%s uses %s of %s (maxmemory), and refuses writes when that is full; raise maxmemory, or give metrics a keep",
				s.Address, bytes(s.UsedMemory), bytes(s.MaxMemory))
		}
	}
	if sound {
		e.ok("memory", "%s in use, with room for more", bytes(used))
	}
}

func (e *examination) persistence(all []store.Server) {
	sound := true
	for _, s := range all {
		if !s.AppendOnly {
			sound = false
			e.hint("persistence", "%s keeps no append-only file: what was written last is lost when it dies; "+
				"set it with redis-cli CONFIG SET appendonly yes, and in the server's configuration", s.Address)
		}
	}
	if sound {
		e.ok("persistence", "each write is kept in an append-only file")
	}
}

// layout repeats what the store was opened with: another layout is refused then.
func (e *examination) layout(context.Context) error {
	e.ok("layout", "%s, as configured", e.Store.Layout())
	return nil
}

// bytes is a number of bytes for people.
func bytes(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// count is a number of things, e.g. 1 key or 1,204 keys.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return humanize.Comma(n) + " " + thing
}
