package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/store/storetest"
)

// bitset is a set of bits in the model of a program.
type bitset map[int]bool

// evaluate runs a program on plain sets.
func evaluate(inputs []bitset, p bitmap.Program) (counts []int64, reads []bitset) {
	registers := map[int]bitset{}
	for i, in := range inputs {
		registers[i] = in
	}
	for _, st := range p.Steps {
		switch st.Op {
		case bitmap.Count:
			counts = append(counts, int64(len(registers[st.Src[0]])))
		case bitmap.Read:
			reads = append(reads, registers[st.Src[0]])
		default:
			registers[st.Dst] = combined(st, registers)
		}
	}
	return counts, reads
}

func combined(st bitmap.Step, registers map[int]bitset) bitset {
	in := map[int]int{}
	for _, r := range st.Src {
		for bit := range registers[r] {
			in[bit]++
		}
	}
	result := bitset{}
	for bit, n := range in {
		var keep bool
		switch st.Op {
		case bitmap.Or:
			keep = true
		case bitmap.And:
			keep = n == len(st.Src)
		case bitmap.Xor:
			keep = n%2 == 1
		case bitmap.Minus:
			keep = registers[st.Src[0]][bit] && !registers[st.Src[1]][bit]
		}
		if keep {
			result[bit] = true
		}
	}
	return result
}

func drawProgram(t *rapid.T, inputs int) bitmap.Program {
	p := bitmap.Program{Inputs: inputs}
	register := rapid.IntRange(0, inputs+3)
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		st := bitmap.Step{
			Op:  rapid.SampledFrom([]bitmap.Op{bitmap.Or, bitmap.And, bitmap.Minus, bitmap.Xor, bitmap.Count, bitmap.Read}).Draw(t, "op"),
			Dst: rapid.IntRange(inputs, inputs+3).Draw(t, "dst"),
		}
		lo, hi := 0, 40
		switch st.Op {
		case bitmap.Minus:
			lo, hi = 2, 2
		case bitmap.Count, bitmap.Read:
			lo, hi = 1, 1
		}
		st.Src = rapid.SliceOfN(register, lo, hi).Draw(t, "src")
		p.Steps = append(p.Steps, st)
	}
	for r := inputs; r < inputs+4; r++ {
		p.Steps = append(p.Steps, bitmap.Step{Op: bitmap.Count, Src: []int{r}})
	}
	return p
}

func programsAgreeWithTheModel(t *testing.T, k storetest.Kind) {
	const segment, inputs = 3, 6
	c := k.Config(t)
	s := open(t, c)
	client := raw(t, c.URL)
	names := make([]cohort.Bitmap, inputs)
	for i := range names {
		names[i] = active(i + 1)
	}
	rapid.Check(t, func(r *rapid.T) {
		in := make([]bitset, inputs)
		for i, b := range names {
			in[i] = bitset{}
			var data []byte
			// Lengths differ, and some of the bitmaps are absent.
			length := rapid.SampledFrom([]int{1, 7, 8, 9, 100, 1000, 4096}).Draw(r, "length")
			for _, bit := range rapid.SliceOfN(rapid.IntRange(0, length-1), 0, 40).Draw(r, "bits") {
				in[i][bit] = true
				data = bitmap.Set(data, bit)
			}
			key := fmt.Sprintf("%s:{s%d}:day:active:%s", c.Prefix, segment, b.Day.Compact())
			client.Del(t.Context(), key)
			if data != nil {
				client.Set(t.Context(), key, data, 0)
			}
		}
		p := drawProgram(r, inputs)
		got, err := s.Run(t.Context(), segment, names, p)
		if err != nil {
			r.Fatal(err)
		}
		counts, reads := evaluate(in, p)
		if diff := cmp.Diff(counts, got.Counts); diff != "" {
			r.Errorf("counts of %+v:\n%s", p, diff)
		}
		for i, want := range reads {
			have := bitset{}
			for bit := range bitmap.Ones(got.Reads[i]) {
				have[bit] = true
			}
			if diff := cmp.Diff(want, have, cmpopts.EquateEmpty()); diff != "" {
				r.Errorf("read %d of %+v:\n%s", i, p, diff)
			}
		}
	})
	if left := keysOf(t, client, c.Prefix, ":tmp:"); len(left) > 0 {
		t.Errorf("temporary keys are left: %v", left)
	}
}

func differenceOfUnequalLengths(t *testing.T, k storetest.Kind) {
	for _, c := range []struct {
		name string
		a, b []uint32
		want int64
	}{
		{"b is shorter", []uint32{1, 9, 4000}, []uint32{1}, 2},
		{"b is longer", []uint32{1, 9}, []uint32{9, 4000}, 1},
		{"b is absent", []uint32{1, 4000}, nil, 2},
		{"a is absent", nil, []uint32{1, 4000}, 0},
		{"both are absent", nil, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := k.Open(t)
			mustMerge(t, s, marks{activated: bits(c.a...), exposed: bits(c.b...)})
			for dst, p := range map[string]bitmap.Program{
				"to a new register": {Inputs: 2, Steps: []bitmap.Step{
					{Op: bitmap.Minus, Dst: 2, Src: []int{0, 1}}, {Op: bitmap.Count, Src: []int{2}}}},
				"onto a": {Inputs: 2, Steps: []bitmap.Step{
					{Op: bitmap.Or, Dst: 2, Src: []int{0}}, {Op: bitmap.Minus, Dst: 2, Src: []int{2, 1}}, {Op: bitmap.Count, Src: []int{2}}}},
				"onto b": {Inputs: 2, Steps: []bitmap.Step{
					{Op: bitmap.Or, Dst: 2, Src: []int{1}}, {Op: bitmap.Minus, Dst: 2, Src: []int{0, 2}}, {Op: bitmap.Count, Src: []int{2}}}},
			} {
				got, err := s.Run(t.Context(), 0, []cohort.Bitmap{activated, exposed}, p)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]int64{c.want}, got.Counts); diff != "" {
					t.Errorf("%s: %s", dst, diff)
				}
			}
		})
	}
}

func malformedProgramsAreRefused(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	for _, st := range []bitmap.Step{
		{Op: bitmap.Or, Dst: 0, Src: []int{0}},
		{Op: bitmap.Minus, Dst: 1, Src: []int{0}},
		{Op: bitmap.Or, Dst: 1, Src: []int{-1}},
		{Op: bitmap.Count},
		{Op: 99, Dst: 1, Src: []int{0}},
	} {
		p := bitmap.Program{Inputs: 1, Steps: []bitmap.Step{st, {Op: bitmap.Count, Src: []int{0}}}}
		if _, err := s.Run(t.Context(), 0, []cohort.Bitmap{exposed}, p); err == nil {
			t.Errorf("%+v was accepted", st)
		}
	}
	if _, err := s.Run(t.Context(), 0, nil, bitmap.Program{Inputs: 1}); err == nil {
		t.Error("a program over more bitmaps than given was accepted")
	}
}

func errorWithinAProgramIsAnError(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	raw(t, c.URL).HSet(t.Context(), c.Prefix+":{s0}:flag:exposed", "not", "a bitmap")
	p := bitmap.Program{Inputs: 1, Steps: []bitmap.Step{{Op: bitmap.Count, Src: []int{0}}}}
	if got, err := s.Run(t.Context(), 0, []cohort.Bitmap{exposed}, p); err == nil {
		t.Errorf("got %v, want an error", got)
	}
}

func marksOfAUser(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustMerge(t, s, marks{active(1): bits(5000), active(3): bits(5000, 1), exposed: bits(1)})
	got, err := s.Marks(t.Context(), 5000, []cohort.Bitmap{active(1), active(2), active(3), exposed, cohort.Known()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, false, true, false, true}, got); diff != "" {
		t.Error(diff)
	}
}

func bitsPastASegmentAreNobodys(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(5)})
	if err := raw(t, c.URL).SetBit(t.Context(), c.Prefix+":{s0}:day:active:20260301", int64(c.SegmentBits), 1).Err(); err != nil {
		t.Fatal(err)
	}
	p := bitmap.Program{Inputs: 1, Steps: []bitmap.Step{{Op: bitmap.Count, Src: []int{0}, Dst: 1}, {Op: bitmap.Read, Src: []int{0}, Dst: 1}}}
	got, err := s.Run(t.Context(), 0, []cohort.Bitmap{active(1)}, p)
	if err != nil || got.Counts[0] != 1 || len(got.Reads[0]) > c.SegmentBits/8 {
		t.Errorf("counted %v in %d bytes, %v", got.Counts, len(got.Reads[0]), err)
	}
}
