package config

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"bitboard/internal/fault"
)

// AnyEvent stands for every event name that is not named otherwise.
const AnyEvent = "*"

// eventTable is the events of the strongest source that gives some.
type eventTable struct {
	from  *origin
	lines []eventLine
}

// eventLine is one event with the metrics that it marks.
type eventLine struct {
	name    string
	targets []target
}

// target is a metric that an event names, and the line where it does.
type target struct {
	metric string
	line   int
}

func readEvents(b *builder, o *origin, path string, n *yaml.Node) {
	table := eventTable{from: o}
	if shape(resolve(n)) == "nothing" {
		o.wrong(n.Line, "events holds nothing; write {} when no event is mapped")
		return
	}
	o.entries(path, n, func(key, value *yaml.Node) { table.add(o, key, value) })
	b.events = table
}

func (t *eventTable) add(o *origin, key, value *yaml.Node) {
	if key.Value == "" {
		o.wrong(key.Line, "an event needs a name; got an empty one")
		return
	}
	path := "event " + fault.Show(key.Value)
	items, ok := o.items(path, value)
	if ok && len(items) == 0 {
		o.wrong(value.Line, "%s marks no metric; name at least one", path)
	}
	line := eventLine{name: key.Value}
	for _, item := range items {
		name, ok := o.text("a metric of "+path, item)
		switch {
		case !ok:
		case slices.ContainsFunc(line.targets, func(t target) bool { return t.metric == name }):
			o.wrong(item.Line, "%s names metric %s twice", path, fault.Show(name))
		default:
			line.targets = append(line.targets, target{name, item.Line})
		}
	}
	t.lines = append(t.lines, line)
}

// check returns the table with every named metric checked.
func (t eventTable) check(metrics metricList) map[string][]string {
	events := map[string][]string{}
	for _, line := range t.lines {
		for _, target := range line.targets {
			if _, known := metrics.lines[target.metric]; !known && !metrics.unread {
				t.from.wrong(target.line, "event %s names the unknown metric %s%s",
					fault.Show(line.name), fault.Show(target.metric), hint(target.metric, metrics.names()))
			}
			if metrics.readOnly(target.metric) {
				t.from.wrong(target.line, "event %s names the metric %s, which another program keeps and which is only read", fault.Show(line.name), target.metric)
			}
			events[line.name] = append(events[line.name], target.metric)
		}
	}
	return events
}

// fitting returns what of the table makes sense with other metrics than its
// own: the metrics that are there and take marks, for events that have no metric of their own name.
func (t eventTable) fitting(metrics metricList) map[string][]string {
	events := map[string][]string{}
	for _, line := range t.lines {
		if _, own := metrics.lines[line.name]; own {
			continue
		}
		for _, target := range line.targets {
			if _, known := metrics.lines[target.metric]; known && !metrics.readOnly(target.metric) {
				events[line.name] = append(events[line.name], target.metric)
			}
		}
	}
	return events
}
