package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// TestAServerThatRefusesWritesAnswers asks what would need temporary keys, a
// claim, or the notice that days have changed.
func TestAServerThatRefusesWritesAnswers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []any
	}{
		{"full", []any{"CONFIG", "SET", "maxmemory", "1"}},
		{"a replica", []any{"REPLICAOF", "127.0.0.1", "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := storetest.Start(t)
			st := storetest.Open(t, func(c *store.Config) { c.URL, c.Dense, c.SegmentBits = url, true, 1<<20 })
			b := &cacheBench{t: t, store: st}
			b.s = b.another()
			for d := week.From; d <= week.To; d++ {
				b.merge(day(d), 1, 1<<20, 2<<20)
			}
			do(t, url, tt.command...)
			b.checkAnswers(query.Options{Now: later})
			b.checkAnswers(query.Options{Now: later, Refresh: true})
		})
	}
}

func do(t *testing.T, url string, command ...any) {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
}

// checkAnswers asks a small question, a large one, and for members.
func (b *cacheBench) checkAnswers(o query.Options) {
	b.t.Helper()
	both := cohort.Intersection{Of: []cohort.Set{cohort.Stored{Bitmap: day(week.From)}, cohort.Stored{Bitmap: day(week.To)}}}
	size, err := b.s.Size(b.t.Context(), both, o)
	if err != nil || size.Value.Count != 3 {
		b.t.Errorf("size: %+v, %v", size.Value, err)
	}
	table := cohort.RetentionQuestion{Start: "active", Return: "active", Range: week, Periods: 20, Membership: cohort.AnyTime, AsOf: week.To}
	if _, err := query.Ask(b.t.Context(), b.s, table, o); err != nil {
		b.t.Error("a table:", err)
	}
	var members []string
	err = b.s.Members(b.t.Context(), both, o, func(ids *cohort.IDList) error {
		members = append(members, ids.Strings()...)
		return nil
	})
	if diff := cmp.Diff([]string{"1", "1048576", "2097152"}, members); err != nil || diff != "" {
		b.t.Errorf("members: %v %s", err, diff)
	}
}
