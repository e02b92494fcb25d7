package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

const (
	// examples is how many of many things a line names.
	examples = 5
	// biggestKeys is how many of the biggest keys are named.
	biggestKeys = 10
	// oldJob is the age from which a job's temporary keys are reported.
	oldJob = time.Hour
)

// tally counts things and remembers the first few.
type tally struct {
	n     int
	first []string
}

func (t *tally) add(thing string) {
	t.n++
	if len(t.first) < examples {
		t.first = append(t.first, thing)
	}
}

// String lists the things.
func (t tally) String() string {
	text := strings.Join(t.first, ", ")
	if more := t.n - len(t.first); more > 0 {
		text += " and " + humanize.Comma(int64(more)) + " more"
	}
	return text
}

// some lists the first of many names.
func some(names []string) string {
	var t tally
	for _, name := range names {
		t.add(name)
	}
	return t.String()
}

// census is what a survey of all keys found.
type census struct {
	keys    int64
	memory  int64
	family  map[store.Family]int64 // memory, in bytes
	biggest []store.Key            // descending
	// bitmaps are the stored bitmaps that can be read, with their segments.
	bitmaps map[cohort.Bitmap]map[int]bool
	// unreadable are the segments whose known users are of another type.
	unreadable map[int]bool

	foreign, long, high tally
	expiring, lasting   tally
	endless, old        tally
}

// survey looks at every key.
func (e *examination) survey(ctx context.Context) error {
	e.keys = &census{family: map[store.Family]int64{}, bitmaps: map[cohort.Bitmap]map[int]bool{}, unreadable: map[int]bool{}}
	state, err := e.Store.Syncs(ctx)
	if err != nil {
		return err
	}
	if err := e.Store.Survey(ctx, func(k store.Key) { e.see(k, state.Running) }); err != nil {
		return err
	}
	e.types()
	e.lengths()
	e.expiries()
	e.temps()
	return nil
}

func (e *examination) see(k store.Key, running string) {
	c := e.keys
	c.weigh(k)
	if k.Type != k.WantType && k.Family != store.OtherFamily {
		c.foreign.add(fmt.Sprintf("%s is a %s where a %s belongs", k.Name, k.Type, k.WantType))
		if k.Family == store.BitmapFamily && k.Bitmap == cohort.Known() {
			c.unreadable[k.Segment] = true
		}
		return
	}
	switch k.Family {
	case store.BitmapFamily:
		e.seeBitmap(k)
	case store.TempFamily:
		if k.Expires.IsZero() {
			c.endless.add(k.Name)
		}
		if age := e.Now.Sub(k.Begun); !k.Begun.IsZero() && age > oldJob && k.Job != running {
			c.old.add(fmt.Sprintf("%s of a job begun %s ago", k.Name, age.Round(time.Minute)))
		}
	case store.DictionaryFamily, store.RecordFamily:
		c.checkExpiry(k)
	}
}

func (e *examination) seeBitmap(k store.Key) {
	c := e.keys
	c.checkExpiry(k)
	if k.Length > int64(e.segmentBytes()) {
		c.long.add(fmt.Sprintf("%s of %s", k.Name, count(k.Length, "byte")))
	}
	if int64(k.Segment)*int64(e.Store.SegmentBits()) > int64(e.MaxOffset) {
		c.high.add(k.Name)
		return
	}
	if c.bitmaps[k.Bitmap] == nil {
		c.bitmaps[k.Bitmap] = map[int]bool{}
	}
	c.bitmaps[k.Bitmap][k.Segment] = true
}

// checkExpiry compares when a key expires with when it should.
func (c *census) checkExpiry(k store.Key) {
	switch {
	case k.Expires.Equal(k.WantExpires):
	case k.WantExpires.IsZero():
		c.expiring.add(k.Name)
	default:
		c.lasting.add(fmt.Sprintf("EXPIREAT %s %d", k.Name, k.WantExpires.Unix()))
	}
}

// weigh adds the key to the sums and keeps the biggest.
func (c *census) weigh(k store.Key) {
	c.keys++
	c.memory += k.Memory
	c.family[k.Family] += k.Memory
	at, _ := slices.BinarySearchFunc(c.biggest, k, func(a, b store.Key) int { return int(b.Memory - a.Memory) })
	if at < biggestKeys {
		c.biggest = slices.Insert(c.biggest, at, k)
		c.biggest = c.biggest[:min(len(c.biggest), biggestKeys)]
	}
}
