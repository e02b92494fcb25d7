package bitmap_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"bitboard/internal/bitmap"
)

func TestBitsAreInRedisOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		bits []int
		want []byte
	}{
		{"nothing", nil, nil},
		{"the first bit is the most significant", []int{0}, []byte{0x80}},
		{"the last of a byte", []int{7}, []byte{0x01}},
		{"the first of the next byte", []int{8}, []byte{0x00, 0x80}},
		{"out of order and twice", []int{9, 0, 9}, []byte{0x80, 0x40}},
		{"over a word", []int{63, 64}, []byte{0, 0, 0, 0, 0, 0, 0, 0x01, 0x80}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []byte
			for _, b := range tt.bits {
				got = bitmap.Set(got, b)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnesEndWhenTheReaderDoes(t *testing.T) {
	var got []int
	for n := range bitmap.Ones([]byte{0xff, 0xff}) {
		if got = append(got, n); len(got) == 3 {
			break
		}
	}
	if diff := cmp.Diff([]int{0, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

// members is a set of positions: the model of a bitmap.
type members map[int]bool

func (m members) sorted() []int {
	var all []int
	for n := range m {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func (m members) bytes() []byte {
	var b []byte
	for n := range m {
		b = bitmap.Set(b, n)
	}
	return b
}

func drawMembers(r *rapid.T, size int) members {
	m := members{}
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 8*size-1), 0, 40).Draw(r, "members") {
		m[n] = true
	}
	return m
}

func TestOnesAndCountGiveBackWhatWasSet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := drawMembers(r, rapid.IntRange(1, 40).Draw(r, "bytes"))
		b := m.bytes()
		if diff := cmp.Diff(m.sorted(), slices.Collect(bitmap.Ones(b))); diff != "" {
			r.Error(diff)
		}
		if got := bitmap.CountBits(b); got != int64(len(m)) {
			r.Errorf("%d bits are counted, %d were set", got, len(m))
		}
	})
}

func TestEvalOfOddPrograms(t *testing.T) {
	count := func(r int) bitmap.Step { return bitmap.Step{Op: bitmap.Count, Src: []int{r}} }
	for _, tt := range []struct {
		name    string
		program bitmap.Program
		inputs  [][]byte
		want    bitmap.Result
	}{
		{"no steps", bitmap.Program{}, nil, bitmap.Result{}},
		{"an absent input", bitmap.Program{Inputs: 1, Steps: []bitmap.Step{count(0)}}, [][]byte{nil}, bitmap.Result{Counts: []int64{0}}},
		{
			"a longer input less a shorter one",
			bitmap.Program{Inputs: 2, Steps: []bitmap.Step{{Op: bitmap.Minus, Dst: 2, Src: []int{0, 1}}, count(2)}},
			[][]byte{{0xff, 0xff, 0xff}, {0x0f}}, bitmap.Result{Counts: []int64{20}},
		},
		{
			"a read is as long as the range",
			bitmap.Program{Inputs: 1, Steps: []bitmap.Step{{Op: bitmap.Read, Src: []int{0}}}},
			[][]byte{{0x12}}, bitmap.Result{Reads: [][]byte{{0x12, 0, 0, 0}}},
		},
		{
			"a register that is read and written",
			bitmap.Program{Inputs: 2, Steps: []bitmap.Step{
				{Op: bitmap.Or, Dst: 2, Src: []int{0}}, {Op: bitmap.Minus, Dst: 2, Src: []int{1, 2}}, count(2), count(0),
			}},
			[][]byte{{0xf0}, {0xff}}, bitmap.Result{Counts: []int64{4, 4}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, bitmap.Eval(tt.program, tt.inputs, 4)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const (
	modelInputs = 3
	modelTemps  = 3
)

// drawProgram draws a program whose steps only read registers that hold something.
func drawProgram(r *rapid.T) bitmap.Program {
	p := bitmap.Program{Inputs: modelInputs}
	written := []int{0, 1, 2}
	for range rapid.IntRange(1, 12).Draw(r, "steps") {
		st := bitmap.Step{Op: rapid.SampledFrom([]bitmap.Op{bitmap.Or, bitmap.And, bitmap.Minus, bitmap.Xor, bitmap.Count, bitmap.Read}).Draw(r, "op")}
		sources := 1
		switch st.Op {
		case bitmap.Minus:
			sources = 2
		case bitmap.Or, bitmap.And, bitmap.Xor:
			sources = rapid.IntRange(1, 4).Draw(r, "sources")
		}
		st.Src = rapid.SliceOfN(rapid.SampledFrom(written), sources, sources).Draw(r, "from")
		if st.Op != bitmap.Count && st.Op != bitmap.Read {
			st.Dst = modelInputs + rapid.IntRange(0, modelTemps-1).Draw(r, "to")
			written = append(written, st.Dst)
		}
		p.Steps = append(p.Steps, st)
		if st.Op == bitmap.And && rapid.Bool().Draw(r, "counted") {
			p.Steps = append(p.Steps, bitmap.Step{Op: bitmap.Count, Src: []int{st.Dst}})
		}
	}
	return p
}

// combine applies an operation to sets.
func combine(op bitmap.Op, of []members) members {
	out := members{}
	for n := range of[0] {
		out[n] = true
	}
	for _, m := range of[1:] {
		next := members{}
		for n := range out {
			if op == bitmap.Or || op == bitmap.And && m[n] || op != bitmap.Or && op != bitmap.And && !m[n] {
				next[n] = true
			}
		}
		for n := range m {
			if op == bitmap.Or || op == bitmap.Xor && !out[n] {
				next[n] = true
			}
		}
		out = next
	}
	return out
}

func TestEvalOfManyRegisters(t *testing.T) {
	const inputs, size = 3_000, 10_000
	p := bitmap.Program{Inputs: inputs}
	var in [][]byte
	for i := range inputs {
		in = append(in, bitmap.Set(nil, i))
		p.Steps = append(p.Steps, bitmap.Step{Op: bitmap.Or, Dst: inputs, Src: []int{max(0, i-1), i}}, bitmap.Step{Op: bitmap.Count, Src: []int{inputs}})
	}
	got := bitmap.Eval(p, in, size).Counts
	if got[0] != 1 || got[1] != 2 || got[inputs-1] != 2 {
		t.Errorf("counts %d, %d, …, %d", got[0], got[1], got[inputs-1])
	}
}

func TestEvalIsSetAlgebra(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		// A block has 8,192 bytes.
		size := rapid.OneOf(rapid.IntRange(1, 20), rapid.SampledFrom([]int{8191, 8192, 8193, 20_000})).Draw(r, "bytes")
		var sets [modelInputs + modelTemps]members
		inputs := make([][]byte, modelInputs)
		for i := range inputs {
			sets[i] = drawMembers(r, size)
			inputs[i] = sets[i].bytes()
		}
		p := drawProgram(r)
		got := bitmap.Eval(p, inputs, size)
		for _, st := range p.Steps {
			of := make([]members, len(st.Src))
			for i, s := range st.Src {
				of[i] = sets[s]
			}
			switch st.Op {
			case bitmap.Count:
				if got.Counts[0] != int64(len(of[0])) {
					r.Fatalf("%+v counts %d, want %d", st, got.Counts[0], len(of[0]))
				}
				got.Counts = got.Counts[1:]
			case bitmap.Read:
				if diff := cmp.Diff(of[0].sorted(), slices.Collect(bitmap.Ones(got.Reads[0]))); diff != "" {
					r.Fatalf("%+v reads\n%s", st, diff)
				}
				got.Reads = got.Reads[1:]
			default:
				sets[st.Dst] = combine(st.Op, of)
			}
		}
		if diff := cmp.Diff(bitmap.Result{}, got, cmpopts.EquateEmpty()); diff != "" {
			r.Error("more results than steps that yield one:\n" + diff)
		}
	})
}
