package store

import (
	"testing"
	"time"

	"bitboard/internal/cohort"
)

func TestKeys(t *testing.T) {
	k := keys{"bb"}
	day := cohort.DayOfMetric("active", cohort.DayOfDate(2026, time.March, 1))
	for _, c := range []struct{ got, want string }{
		{k.bitmap(day, 12), "bb:{s12}:day:active:20260301"},
		{k.bitmap(cohort.Flag("exposed"), 12), "bb:{s12}:flag:exposed"},
		{k.bitmap(cohort.Known(), 0), "bb:{s0}:known"},
		{k.bitmap(cohort.HistoryOf("active", day.Day, 36), 12), "bb:{s12}:hist:active:20260301:10"},
		{k.segmentsOf(member(cohort.HistoryOf("active", day.Day, 36))), "bb:{meta}:segments:hist:active:20260301"},
		{k.temp(12, "job", 3), "bb:{s12}:tmp:job:3"},
		{k.pending(12, "id"), "bb:{s12}:tmp:id:pending"},
		{k.layout(), "bb:{meta}:layout"},
		{k.catalogue(), "bb:{meta}:catalogue"},
		{k.catalogueVersion(), "bb:{meta}:catalogue:version"},
		{k.segmentsOf(member(day)), "bb:{meta}:segments:day:active:20260301"},
		{k.nextOffset(), "bb:{meta}:next_offset"},
		{k.cohorts(), "bb:{meta}:cohorts"},
		{k.cohortsVersion(), "bb:{meta}:cohorts:version"},
		{k.sync("id"), "bb:{meta}:sync:id"},
		{k.forward(262143), "bb:{i262143}:f"},
		{k.reverse(7), "bb:{i7}:r"},
	} {
		if c.got != c.want {
			t.Errorf("got key %s, want %s", c.got, c.want)
		}
	}
}

func TestBitmapKeysAreReadBack(t *testing.T) {
	k := keys{"bb"}
	for _, b := range []cohort.Bitmap{
		cohort.DayOfMetric("signed_in", cohort.DayOfDate(2024, time.February, 29)), cohort.Flag("exposed"), cohort.Known(),
		cohort.HistoryOf("signed_in", cohort.DayOfDate(2024, time.February, 29), 1<<63+5),
	} {
		got, segment, ok := k.parse(k.bitmap(b, 3276))
		if !ok || got != b || segment != 3276 {
			t.Errorf("%s was read as %v in segment %d, %v", k.bitmap(b, 3276), got, segment, ok)
		}
	}
}

func TestOtherKeysAreNoBitmaps(t *testing.T) {
	for _, key := range []string{
		"bb:{s1}:tmp:job:3", "bb:{s1}:live:online", "bb:{s1}:beat:online:202603011205",
		"bb:{s1}:day:active:20260230", "bb:{s1}:day:active:2026-03-01", "bb:{s1}:day:active", "bb:{s1}:day:Active:20260301",
		"bb:{s1}:hist:active:20260331", "bb:{s1}:hist:active:20260331:", "bb:{s1}:hist:active:20260331:01", "bb:{s1}:hist:active:20260331:Z", "bb:{s1}:hist:",
		"bb:{s1}:flag:", "bb:{s1}:flag:all", "bb:{s1}:known:", "bb:{s01}:known", "bb:{s-1}:known", "bb:{s}:known",
		"bb:{sx}:known", "b:{s1}:known", "bb:{s1}known", "bb:{meta}:layout", "",
	} {
		if b, segment, ok := (keys{"bb"}).parse(key); ok {
			t.Errorf("%q was read as %v in segment %d", key, b, segment)
		}
	}
}
