package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

const schemaVersion = 1

// layoutScript writes the layout record and the epoch unless they are there,
// and returns the record as it is now, so that two starters agree on the first.
// The epoch is a random name of the data: it changes when Redis is emptied.
// With both there nothing is written, so that a full store can be read.
var layoutScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('SET', KEYS[2], ARGV[1]) end
return redis.call('HMGET', KEYS[1], 'schema', 'ids', 'segment_bits', 'timezone')
`)

// layoutFields are the record's fields in the order of layoutScript's reply.
var layoutFields = []string{"schema", "ids", "segment_bits", "timezone"}

func (s *Store) layout() []string {
	ids := "dictionary"
	if s.config.Dense {
		ids = "dense"
	}
	return []string{strconv.Itoa(schemaVersion), ids, strconv.Itoa(s.config.SegmentBits), s.config.Zone}
}

// settleLayout writes the layout record first of all, or compares it with the
// configuration when it is there.
func (s *Store) settleLayout(ctx context.Context) error {
	configured := s.layout()
	args := []any{random()}
	for i, f := range layoutFields {
		args = append(args, f, configured[i])
	}
	stored, err := layoutScript.Run(ctx, s.client, []string{s.keys.layout(), s.keys.epoch()}, args...).Slice()
	if err != nil {
		return s.failed(ctx, "write the layout record", err)
	}
	return s.compareLayout(stored, configured)
}

func (s *Store) compareLayout(stored []any, configured []string) error {
	var differences []string
	for i, f := range layoutFields {
		if has, _ := stored[i].(string); has != configured[i] {
			differences = append(differences, fmt.Sprintf("%s %q is stored but %q is configured", f, has, configured[i]))
		}
	}
	if differences == nil {
		return nil
	}
	return &fault.Error{Kind: fault.ErrConflict, Code: "layout_mismatch", Position: fault.NoPosition,
		Message: fmt.Sprintf("the data under prefix %s at %s have another layout: %s; configure what is stored, or another prefix",
			s.config.Prefix, s.shown, strings.Join(differences, ", "))}
}
