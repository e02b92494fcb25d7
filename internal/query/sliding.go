package query

import (
	"cmp"
	"slices"

	"bitboard/internal/cohort"
)

// leastSliding is the width, in days, from which windows are worth dividing.
const leastSliding = 4

// width is windows of a metric that are equally long.
type width struct {
	metric string
	days   int
}

// findSliding finds the windows of equal length that overlap, and divides each
// where a block of that length begins. A head ends with its block and a tail
// begins with one, so that heads and tails are nested ranges: whatever the
// length of the windows, a window takes about three unions, one to grow a head,
// one to grow a tail, and one to unite the two. The method is that of van Herk
// (Pattern Recognition Letters 13, 1992) and of Gil and Werman (IEEE PAMI 15,
// 1993), with unions for their maxima.
func (n nestedRanges) findSliding() {
	windows := map[width][]cohort.OnAny{}
	for s := range n.seen {
		if days := s.Days.Len(); days >= leastSliding && s.Days.From > cohort.MinDay {
			k := width{s.Metric, days}
			windows[k] = append(windows[k], s)
		}
	}
	for k, all := range windows {
		slices.SortFunc(all, func(a, b cohort.OnAny) int { return cmp.Compare(a.Days.From, b.Days.From) })
		for i := 1; i < len(all); i++ {
			if step := all[i].Days.From - all[i-1].Days.From; 2*int(step) <= k.days {
				n.divide(all[i-1], k.days)
				n.divide(all[i], k.days)
			}
		}
	}
}

// divide notes where the block begins in which a window ends.
func (n nestedRanges) divide(s cohort.OnAny, days int) {
	block := s.Days.To - cohort.Day(floorMod(int(s.Days.To), days))
	if block <= s.Days.From {
		n.atEnd[s] = true // it is a whole block, and so the longest of the tails
		return
	}
	n.sliding[s] = block
	head, tail, _ := n.halves(s)
	n.seen[head], n.seen[tail], n.atEnd[tail] = true, true, true
}

// halves returns the parts of a window that was divided.
func (n nestedRanges) halves(s cohort.OnAny) (head, tail cohort.OnAny, slides bool) {
	block, slides := n.sliding[s]
	head, tail = s, s
	head.Days.To, tail.Days.From = block-1, block
	return head, tail, slides
}

// floorMod is a modulo n, never negative.
func floorMod(a, n int) int { return ((a % n) + n) % n }
