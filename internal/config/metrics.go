package config

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// maxKeep is the longest that days can be kept, a hundred years.
const maxKeep = 36600

var (
	metricKeys = []string{"name", "kind", "title", "keep", "key", "segment_bits", "writable"}
)

// metricList is the metrics of the strongest source that gives some.
type metricList struct {
	from    *origin
	metrics []cohort.Metric
	// existing are those of the metrics that other programs keep.
	existing []existing
	// lines holds the line of each name, also of metrics with mistakes, so that
	// one mistake does not cause others.
	lines map[string]int
	// unread says that the names are not known because there was no list.
	unread bool
}

func readMetrics(b *builder, o *origin, path string, n *yaml.Node) {
	list := metricList{from: o, lines: map[string]int{}}
	items, ok := o.items(path, n)
	list.unread = !ok
	if ok && len(items) == 0 {
		o.wrong(n.Line, "metrics is an empty list; give at least one metric")
	}
	for _, item := range items {
		list.add(o, item)
	}
	b.metrics = list
}

// add reads one metric and appends it unless its name is there already.
func (l *metricList) add(o *origin, n *yaml.Node) {
	d := draft{origin: o, lines: map[string]int{}}
	if !o.entries("a metric", n, d.field) {
		return
	}
	d.whole(n.Line)
	name, line := d.metric.Name, d.lines["name"]
	if first, twice := l.lines[name]; twice {
		o.wrong(line, "metric %s is given twice, first on line %d", name, first)
		return
	}
	if name != "" {
		l.lines[name] = line
		l.metrics = append(l.metrics, d.metric)
		if !d.Key.IsZero() {
			d.of = name
			l.existing = append(l.existing, d.existing)
		}
	}
}

// draft is a metric that is being read.
type draft struct {
	origin *origin
	metric cohort.Metric
	existing
	lines map[string]int // of the fields that are there, right or wrong
}

// field reads one field of the metric.
func (d *draft) field(key, value *yaml.Node) {
	o := d.origin
	if !slices.Contains(metricKeys, key.Value) {
		o.unknown(key.Line, key.Value, " of a metric", metricKeys)
		return
	}
	d.lines[key.Value] = value.Line
	text, ok := o.text(key.Value, value)
	if !ok {
		return
	}
	switch key.Value {
	case "name":
		d.name(text)
	case "kind":
		d.kind(text)
	case "title":
		d.metric.Title = text
	case "keep":
		d.keep(text)
	case "key":
		d.key(text)
	case "segment_bits":
		d.segmentBits(text)
	case "writable":
		d.writable(text)
	}
}

func (d *draft) name(text string) {
	if !cohort.ValidName(text) {
		d.origin.wrong(d.lines["name"], "metric name %s is not valid; give lower-case letters, digits and _, beginning with a letter, "+
			"and no word of the expressions such as all, first or today", fault.Show(text))
		return
	}
	d.metric.Name = text
}

func (d *draft) kind(text string) {
	i := slices.Index(cohort.KindNames, text)
	if i < 0 {
		d.origin.wrong(d.lines["kind"], "unknown kind %s of a metric%s", fault.Show(text), hint(text, cohort.KindNames))
		return
	}
	d.metric.Kind = cohort.Kind(i)
}

func (d *draft) keep(text string) {
	days, err := strconv.Atoi(text)
	if err != nil || days < 0 || days > maxKeep {
		d.origin.wrong(d.lines["keep"], "keep: %s is not a number of days from 0 (for ever) to %d", fault.Show(text), maxKeep)
		return
	}
	d.metric.Keep = days
}

// whole makes the checks that need all fields; line is the metric's own.
func (d *draft) whole(line int) {
	for _, required := range []string{"name", "kind"} {
		if d.lines[required] == 0 {
			d.origin.wrong(line, "a metric needs a %s", required)
		}
	}
	if d.metric.Keep > 0 && !d.metric.HasDays() {
		d.origin.wrong(d.lines["keep"], "keep: a flag has no days to keep; leave it out")
	}
	d.wholeKey()
	if d.metric.Title == "" {
		d.metric.Title = d.metric.Name
	}
}

func (l *metricList) names() []string {
	names := make([]string, len(l.metrics))
	for i, m := range l.metrics {
		names[i] = m.Name
	}
	return names
}

// readOnly reports whether a metric takes no marks.
func (l *metricList) readOnly(name string) bool {
	return slices.ContainsFunc(l.metrics, func(m cohort.Metric) bool { return m.Name == name && m.ReadOnly() })
}
