package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// interrupting calls f once, when what comes before it has been read.
type interrupting struct{ f func() }

func (i *interrupting) Read([]byte) (int, error) {
	if i.f != nil {
		i.f()
		i.f = nil
	}
	return 0, io.EOF
}

// An import remembers the offsets of IDs. In a store that was emptied meanwhile
// they are handed out to others, and two users would share a bit.
func TestImportIntoAStoreThatIsEmptiedMeanwhile(t *testing.T) {
	url, _ := storetest.Start(t)
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	for _, mode := range []Mode{Merge, Replace} {
		b := newBench(t, func(_ *Config, sc *store.Config) { sc.URL = url })
		var before strings.Builder
		before.WriteString("user_id,event,day\n")
		for i := range 2 * requestIDs { // so that offsets are remembered
			fmt.Fprintf(&before, "old%d,login,2026-03-01\n", i)
		}
		emptied := &interrupting{func() {
			if err := client.FlushAll(context.Background()).Err(); err != nil {
				t.Error(err)
			}
		}}
		after := strings.NewReader("new,login,2026-03-02\nold0,login,2026-03-02\n")
		source := Source{Name: "log.csv", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(before.String()), emptied, after)), nil
		}}
		_, _, err := b.run(t, Options{Mode: mode, Today: today}, source)
		if f := fault.As(err); f == nil || !errors.Is(err, fault.ErrConflict) {
			t.Errorf("mode %d: got %v, want an ErrConflict", mode, err)
		}
		b.has(t, on("active", "2026-03-02"), "")
	}
}
