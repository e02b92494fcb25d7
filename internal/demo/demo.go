// Package demo makes the activity of a product that does not exist: people who
// sign up, come back, leave and sometimes return, with weekdays, growth, a
// change that kept newcomers better, a feature that not everybody saw, a day
// whose data never arrived and one on which most were lost. The same day and
// hour always make the same data.
package demo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
)

// The metrics that the activity marks.
const (
	Active      = "active"
	SignedIn    = "signed_in"
	Activated   = "activated"
	ActivatedOn = "activated_on"
	Exposed     = "exposed"
)

// Metrics is what Marks needs: each metric's name and kind.
var Metrics = map[string]cohort.Kind{
	Active: cohort.KindDaily, SignedIn: cohort.KindDaily, Activated: cohort.KindFlag, ActivatedOn: cohort.KindDaily, Exposed: cohort.KindFlag,
}

const (
	// Users is how many people ever signed up. Their IDs are their offsets, in
	// the order in which they came.
	Users = 200_000
	// Days is how long the product has been there.
	Days = 400

	// Days before today on which something happened.
	betterStart = 96 // newcomers have been received better since then
	launch      = 45 // some people have seen the new feature since then
	failed      = 20 // the last Wednesday up to then: its data never arrived
	low         = 48 // the last Tuesday up to then: most of its data were lost

	lowShare = 0.14
	growth   = 3.2  // newcomers a day, the last day's over the first's
	noise    = 0.03 // how much two like days differ
)

// Marks returns who did what up to today, of which a share in (0, 1] is over.
func Marks(today cohort.Day, share float64) map[cohort.Bitmap]*roaring.Bitmap {
	h := &history{today: today, share: share, marks: map[cohort.Bitmap][]uint64{}, random: rand.New(rand.NewPCG(1, 2))}
	h.activated, h.exposed = h.bits(cohort.Flag(Activated)), h.bits(cohort.Flag(Exposed))
	h.days = make([]dayMarks, Days)
	for i := range h.days {
		h.days[i] = h.day(today - Days + 1 + cohort.Day(i))
	}
	offset := uint32(0)
	for i, n := range h.newcomers() {
		for range n {
			h.live(offset, i)
			offset++
		}
	}
	return h.bitmaps()
}

// history is the product's past as it is being made up.
type history struct {
	today              cohort.Day
	share              float64 // of today that is over
	random             *rand.Rand
	marks              map[cohort.Bitmap][]uint64
	days               []dayMarks
	activated, exposed []uint64
}

// dayMarks is the bits of one day, and how likely a habit is kept on it.
type dayMarks struct {
	active, signedIn, activated []uint64
	pull                        float64 // 1 on a full working day
	kept                        float64 // the share of the marks that arrived
}

func (h *history) day(d cohort.Day) dayMarks {
	m := dayMarks{
		active:    h.bits(cohort.DayOfMetric(Active, d)),
		signedIn:  h.bits(cohort.DayOfMetric(SignedIn, d)),
		activated: h.bits(cohort.DayOfMetric(ActivatedOn, d)),
		pull:      weekdayPull[d.Weekday()] * (1 + noise*h.random.NormFloat64()),
		kept:      1,
	}
	if _, month, day := d.Date(); month == time.December && day >= 24 {
		m.pull *= holidayPull
	}
	switch d {
	case h.today:
		m.pull *= h.share
	case lastOf(time.Wednesday, h.today-failed):
		m.kept = 0
	case lastOf(time.Tuesday, h.today-low):
		m.kept = lowShare
	}
	return m
}

// lastOf returns the last such weekday up to a day.
func lastOf(w time.Weekday, d cohort.Day) cohort.Day {
	return d - cohort.Day((d.Weekday()-w+7)%7)
}

// bits makes the bits of a bitmap.
func (h *history) bits(b cohort.Bitmap) []uint64 {
	words := make([]uint64, (Users+63)/64)
	h.marks[b] = words
	return words
}

// holidayPull is what the last days of the year are multiplied by.
const holidayPull = 0.66

// weekdayPull is how much of a working day's visits a weekday has, from Sunday on.
var weekdayPull = [7]float64{0.52, 0.98, 1, 0.99, 0.96, 0.9, 0.56}

// newcomers returns how many people sign up on each day: more and more, fewer
// at weekends, and Users in all.
func (h *history) newcomers() []int {
	weights, sum := make([]float64, Days), 0.0
	for i := range weights {
		weights[i] = h.days[i].pull * math.Pow(growth, float64(i)/Days) * (1 + noise*h.random.NormFloat64())
		sum += weights[i]
	}
	counts := make([]int, Days)
	total, reached := 0.0, 0
	for i, w := range weights {
		total += w
		next := int(math.Round(total / sum * Users))
		counts[i], reached = next-reached, next
	}
	return counts
}

// bitmaps returns what is not empty.
func (h *history) bitmaps() map[cohort.Bitmap]*roaring.Bitmap {
	all := make(map[cohort.Bitmap]*roaring.Bitmap, len(h.marks))
	for b, words := range h.marks {
		users := roaring.FromDense(words, false)
		if !users.IsEmpty() {
			all[b] = users
		}
	}
	return all
}
