package views

import (
	"encoding/json"
	"fmt"
	"time"

	"bitboard/views/text"
	"bitboard/views/ui"
)

// asOf is the day that every fixture takes as today.
var asOf = time.Date(2026, time.March, 18, 0, 0, 0, 0, time.UTC)

func day(ago int) string { return asOf.AddDate(0, 0, -ago).Format("2006-01-02") }

func ptr[T any](v T) *T { return &v }

func people(n int64) ui.Number {
	return ui.Number{Count: n, People: fmt.Sprintf("/cohorts?expr=active%%40today&n=%d", n)}
}

func page() Page {
	return Page{
		Text:       text.For("en"),
		URL:        "/?metric=active",
		Zone:       "Asia/Shanghai",
		AsOf:       day(0),
		ComputedAt: "2026-03-18T14:05:09+08:00",
		Version:    "0.1.0",
	}
}

func metrics() []ui.Choice {
	return []ui.Choice{
		{Value: "active", Label: "Active users", Current: true},
		{Value: "signed_in", Label: "Sign-ins"},
	}
}

// wave is a plausible number of active users some days ago.
func wave(ago int, base int64) int64 {
	weekend := int64(0)
	if w := asOf.AddDate(0, 0, -ago).Weekday(); w == time.Saturday || w == time.Sunday {
		weekend = base / 5
	}
	return base + int64(90-ago)*base/400 - weekend + int64((ago*37)%11)*base/300
}

func overview() OverviewPage {
	o := OverviewPage{
		Page: page(),
		DAU:  countFact1(12843, 1, 12410),
		WAU:  countFact1(38112, 7, 38590),
		MAU:  countFact1(81240, 28, 79002),
		NextDay: RateFact{
			Day: day(2), From: day(2), To: day(1), Of: people(12610), Kept: people(5402), Rate: ptr(0.4284),
			Expr: "active@" + day(2) + " & active@" + day(1), Before: ptr(0.4171), BeforeDay: day(9),
		},
		Form:   OverviewForm{Metrics: metrics(), From: day(60), To: day(0)},
		Active: ActivePanel{Options: json.RawMessage(`{"series":[]}`), CSV: "/api/v1/active?metric=active&format=csv"},
		Return: ReturnPanel{Options: json.RawMessage(`{"series":[]}`), CSV: "/api/v1/retention?start=active&format=csv"},
	}
	for ago := 60; ago >= 0; ago-- {
		share := int64(1)
		if ago == 0 {
			share = 2
		}
		o.Active.Rows = append(o.Active.Rows, ActiveRow{
			Day: day(ago), DAU: people(wave(ago, 10000) / share), WAU: people(wave(ago, 31000)), MAU: people(wave(ago, 66000)), Complete: ago > 0,
		})
		of := wave(ago, 10000) / share
		row := ReturnRow{Day: day(ago), Of: people(of), Kept: people(of * 42 / 100), Rate: ptr(0.40 + float64(wave(ago, 1000)%50)/1000), Complete: ago > 1}
		if ago > 0 {
			o.Return.Rows = append(o.Return.Rows, row)
		}
	}
	return o
}

func countFact1(n int64, days int, before int64) CountFact {
	f := CountFact{
		Number: people(n), From: day(days), To: day(1), Before: &before, BeforeDay: day(8),
		Expr: "active@" + day(days) + ".." + day(1),
	}
	for ago := 28; ago > 0; ago-- {
		f.Trend = append(f.Trend, wave(ago, n))
	}
	return f
}
