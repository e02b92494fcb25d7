package config

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store/pattern"
)

// existing is the metric that another program keeps, and the line of its key.
type existing struct {
	Existing
	of   string
	line int
}

// key reads the pattern of the metric's keys.
func (d *draft) key(text string) {
	p, err := pattern.Parse(text)
	if err != nil {
		d.origin.wrong(d.lines["key"], "key: %v", err)
		return
	}
	d.Key, d.line = p, d.lines["key"]
}

func (d *draft) segmentBits(text string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n%8 != 0 || n > maxSegmentBits {
		d.origin.wrong(d.lines["segment_bits"], "segment_bits: %s is not a positive multiple of 8 up to %d", fault.Show(text), int64(maxSegmentBits))
		return
	}
	d.SegmentBits = n
}

func (d *draft) writable(text string) {
	if i, err := oneOf(text, "false", "true"); err != nil {
		d.origin.wrong(d.lines["writable"], "writable: %v", err)
	} else if i == 1 {
		d.origin.wrong(d.lines["writable"], "writable: this version only reads bitmaps that other programs keep; leave it out")
	}
}

// wholeKey checks how the key goes together with the other fields. A field that
// is wrong by itself has been reported already.
func (d *draft) wholeKey() {
	if d.lines["key"] == 0 {
		for _, of := range []string{"segment_bits", "writable"} {
			if line := d.lines[of]; line > 0 {
				d.origin.wrong(line, "%s: it is for a metric with a key of its own; give the key too, or leave it out", of)
			}
		}
		return
	}
	if d.lines["keep"] > 0 && d.metric.Keep > 0 {
		d.origin.wrong(d.lines["keep"], "keep: keys of other programs are never made to expire; leave it out")
	}
	if d.Key.IsZero() {
		return
	}
	d.metric.Source = cohort.ExistingBitmaps
	if d.Key.HasUser() {
		d.metric.Source = cohort.UserMonths
	}
	d.segments()
	if d.lines["kind"] > 0 {
		d.placeholders()
	}
}

// segments compares segment_bits with the key.
func (d *draft) segments() {
	switch given := d.lines["segment_bits"]; {
	case given > 0 && !d.Key.HasSegment():
		d.origin.wrong(given, "segment_bits: the key %s has no {segment}; leave it out", fault.Show(d.Key.String()))
	case given == 0 && d.Key.HasSegment():
		d.origin.wrong(d.line, "key: {segment} needs segment_bits beside it, the number of users in each key, such as segment_bits: 1000000")
	}
}

// placeholders compares the kind of the metric with the key.
func (d *draft) placeholders() {
	kind, p := d.metric.Kind, d.Key
	switch {
	case kind == cohort.KindPresence:
		d.origin.wrong(d.lines["kind"], "kind: a presence metric has no key of its own; give daily or flag")
	case kind == cohort.KindFlag && p.HasUser():
		d.origin.wrong(d.line, "key: {user} is for a daily metric, and this one is a flag")
	case kind == cohort.KindFlag && p.HasDate():
		d.origin.wrong(d.line, "key: a flag has one bitmap and no {date}; leave it out, or make the metric daily")
	case kind == cohort.KindDaily && !p.HasDate():
		d.origin.wrong(d.line, "key: a daily metric has a bitmap for each day; put a {date:2006-01-02} into it, or make the metric a flag")
	}
}

// knownKey is the key of all users, and where it was given.
type knownKey struct {
	pattern.Pattern
	from *origin
	line int
}

func readKnown(b *builder, o *origin, path string, n *yaml.Node) {
	text, ok := o.text(path, n)
	if !ok {
		return
	}
	p, err := pattern.Parse(text)
	switch {
	case err != nil:
		o.wrong(n.Line, "known: %v", err)
	case p.HasDate() || p.HasSegment() || p.HasUser():
		o.wrong(n.Line, "known: the key of all users has no placeholders; got %s", fault.Show(text))
	default:
		b.known = knownKey{p, o, n.Line}
	}
}

// existing takes over what other programs keep, and checks that no key is meant
// for two things.
func (b *builder) existing() {
	own := pattern.StartingWith(b.cfg.Prefix + ":{")
	if b.known.from != nil {
		b.cfg.Known, b.cfg.Workspace.KnownKey = b.known.Pattern, true
		if pattern.Overlap(b.known.Pattern, own) {
			b.known.from.wrong(b.known.line, "known: %s may be one of Bitboard's own keys, which start with %s:{; give another key or another prefix",
				fault.Show(b.known.String()), b.cfg.Prefix)
		}
	}
	for i, e := range b.metrics.existing {
		if pattern.Overlap(e.Key, own) {
			b.metrics.from.wrong(e.line, "key: %s may be one of Bitboard's own keys, which start with %s:{; give another key or another prefix",
				fault.Show(e.Key.String()), b.cfg.Prefix)
		}
		same := func(o existing) bool { return pattern.Overlap(e.Key, o.Key) }
		if at := slices.IndexFunc(b.metrics.existing[:i], same); at >= 0 {
			first := b.metrics.existing[at]
			b.metrics.from.wrong(e.line, "key: a key of metric %s may be one of metric %s too, on line %d; tell them apart", e.of, first.of, first.line)
		}
		if b.cfg.Existing == nil {
			b.cfg.Existing = map[string]Existing{}
		}
		b.cfg.Existing[e.of] = e.Existing
	}
}
