package cohort

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// IDList is user IDs in order, in one piece of memory, so that millions a second
// can be handed on. The zero value is an empty list.
type IDList struct {
	lines []byte   // each ID, then a line break
	ends  []uint32 // of the IDs in lines, before the line break
}

// Len returns the number of IDs.
func (l *IDList) Len() int { return len(l.ends) }

// At returns an ID. It is valid until the list is reset.
func (l *IDList) At(i int) []byte {
	if i == 0 {
		return l.lines[:l.ends[0]]
	}
	return l.lines[l.ends[i-1]+1 : l.ends[i]]
}

// Lines returns the IDs, each with a line break behind it. IDs may hold line
// breaks themselves. It is valid until the list is reset.
func (l *IDList) Lines() []byte { return l.lines }

// Strings returns a copy of the IDs.
func (l *IDList) Strings() []string {
	all := make([]string, l.Len())
	for i := range all {
		all[i] = string(l.At(i))
	}
	return all
}

// Reset empties the list and keeps its memory.
func (l *IDList) Reset() { l.lines, l.ends = l.lines[:0], l.ends[:0] }

// Append adds an ID.
func (l *IDList) Append(id string) {
	l.lines = append(l.lines, id...)
	l.ends = append(l.ends, uint32(len(l.lines)))
	l.lines = append(l.lines, '\n')
}

const (
	// lowDigits are the last digits of a number, which come from a table.
	lowDigits = 4
	lowNumber = 10_000
	// numberRoom is what a number takes at most, as it is written here: eight
	// bytes of high digits at a time, low digits, a line break.
	numberRoom = 8 + lowDigits + 1
)

// fourDigits are the numbers below 10,000 as four digits.
var fourDigits = func() (table [lowNumber]uint32) {
	for n := range uint32(lowNumber) {
		table[n] = '0' + n/1000 | ('0'+n/100%10)<<8 | ('0'+n/10%10)<<16 | ('0'+n%10)<<24
	}
	return table
}()

// AppendNumbers adds numbers in decimal. It is fastest when they ascend.
func (l *IDList) AppendNumbers(numbers []uint32) {
	l.ends = slices.Grow(l.ends, len(numbers))
	l.lines = slices.Grow(l.lines, numberRoom*len(numbers))
	lines, at := l.lines[:cap(l.lines)], len(l.lines)
	var high uint32
	var digits [8]byte // of high
	count := 0
	for _, n := range numbers {
		if n < lowNumber {
			at += len(strconv.AppendUint(lines[at:at], uint64(n), 10))
		} else {
			if h := n / lowNumber; h != high {
				high, count = h, len(strconv.AppendUint(digits[:0], uint64(h), 10))
			}
			binary.LittleEndian.PutUint64(lines[at:], binary.LittleEndian.Uint64(digits[:]))
			at += count
			binary.LittleEndian.PutUint32(lines[at:], fourDigits[n-high*lowNumber])
			at += lowDigits
		}
		l.ends = append(l.ends, uint32(at))
		lines[at] = '\n'
		at++
	}
	l.lines = lines[:at]
}
