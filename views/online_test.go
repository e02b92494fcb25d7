package views

import (
	"encoding/json"

	"github.com/a-h/templ"

	"bitboard/views/ui"
)

func online() OnlinePage {
	return OnlinePage{
		Form: OnlineForm{
			Metrics: []ui.Choice{{Value: "online", Label: "Active users", Current: true}},
			Minutes: []ui.Choice{{Value: "1m", Label: "1"}, {Value: "5m", Label: "5", Current: true}},
		},
		Live: "/online/live?metric=online&within=5m", Refresh: "/online?metric=online&within=5m",
		Now:   OnlineNow{Online: 1203, Recent: 980, Minutes: 5, Segments: []OnlineSegment{{0, 1048575, 1200, 980}, {1048576, 2097151, 3, 0}}},
		Today: OnlineToday{Number: ui.Number{Count: 4000, People: "/cohorts?expr=online%40today"}, Expr: "online@2026-03-10"},
		Beats: BeatsPanel{Report: Report{CSV: "/online.csv?metric=online", Options: json.RawMessage(`{"series":[]}`)}, Any: true, Rows: []BeatRow{{"12:00", 900, true}, {"12:01", 0, false}}},
	}
}

func onlineStates() []state {
	change := func(edit func(*OnlinePage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			o := online()
			o.Page = p
			edit(&o)
			return Online(o)
		}
	}
	return []state{
		{"online", change(func(*OnlinePage) {})},
		{"online with nobody", change(func(o *OnlinePage) { o.Now, o.Beats = OnlineNow{Minutes: 1}, BeatsPanel{} })},
		{"online with failed panels", change(func(o *OnlinePage) { o.Now.Error, o.Today.Error, o.Beats.Error = "a", "b", "c" })},
		{"online without a metric", change(func(o *OnlinePage) { o.Live = "" })},
		{"online with a wrong time", change(func(o *OnlinePage) { o.Form.Problem = &Problem{"within", NoPosition, "too long"} })},
	}
}
