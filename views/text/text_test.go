package text

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFor(t *testing.T) {
	tests := []struct {
		name        string
		preferences []string
		want        string
	}{
		{"nothing asked for", nil, "en"},
		{"a chosen language", []string{"zh-CN"}, "zh-CN"},
		{"the choice goes before the browser's", []string{"en", "zh-CN,zh;q=0.9"}, "en"},
		{"an empty choice is passed over", []string{"", "zh-CN,zh;q=0.9,en;q=0.8"}, "zh-CN"},
		{"a language of another country", []string{"en-AU"}, "en"},
		{"Chinese without a country", []string{"zh"}, "zh-CN"},
		{"a language we do not have", []string{"fr-FR"}, "en"},
		{"the second best of a header", []string{"fr,zh;q=0.5"}, "zh-CN"},
		{"what cannot be read is passed over", []string{";;q=x", "zh-CN"}, "zh-CN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := For(tt.preferences...).Code(); got != tt.want {
				t.Errorf("For(%q) = %s, want %s", tt.preferences, got, tt.want)
			}
		})
	}
}

func TestPrinter(t *testing.T) {
	en, zh := For("en"), For("zh-CN")
	tests := []struct{ name, got, want string }{
		{"a grouped number", en.N(1234567), "1,234,567"},
		{"zero", en.N(0), "0"},
		{"a rate", en.Percent(0.42837), "42.8%"},
		{"a whole rate", en.Percent(1), "100.0%"},
		{"a rate without decimals", en.WholePercent(0.5), "50%"},
		{"a quotient", en.Decimal(1.2345), "1.23"},
		{"a rise", en.Signed(0.0349), "+3.5%"},
		{"a fall", en.Signed(-0.012), "−1.2%"},
		{"a change too small to show", en.Signed(-0.0001), "±0.0%"},
		{"points", en.Points(0.0113), "+1.1"},
		{"points lost", en.Points(-0.2), "−20.0"},
		{"a date", en.Date("2026-03-02"), "2 Mar 2026"},
		{"a date in Chinese", zh.Date("2026-03-02"), "2026年3月2日"},
		{"a date with its weekday", en.LongDate("2026-03-02"), "Mon, 2 Mar 2026"},
		{"a weekday without the year", en.WeekdayDate("2026-03-02"), "Mon, 2 Mar"},
		{"a month", en.Month("2026-03-01"), "March 2026"},
		{"a month's name in Chinese", zh.MonthName(time.December), "十二月"},
		{"a range", en.Range("2026-03-02", "2026-03-08"), "2 Mar – 8 Mar 2026"},
		{"a range over two years", en.Range("2025-12-28", "2026-01-03"), "28 Dec 2025 – 3 Jan 2026"},
		{"a range of one day", en.Range("2026-03-02", "2026-03-02"), "2 Mar 2026"},
		{"what is no date", en.Date("soon"), "soon"},
		{"an instant in its own zone", en.Time("2026-03-18T14:05:09+08:00"), "18 Mar 2026, 14:05:09"},
		{"one", en.Count("users.days", 1), "1 day"},
		{"none", en.Count("users.days", 0), "0 days"},
		{"many", en.Count("users.days", 1200), "1,200 days"},
		{"a language without plural", zh.Count("users.days", 1), "1 天"},
		{"a placeholder", en.T("error.status", "status", "404"), "Error 404"},
		{"an unknown key is shown", en.T("no.such.key"), "no.such.key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	want := []Language{{"en", "English"}, {"zh-CN", "简体中文"}}
	if diff := cmp.Diff(want, Languages()); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
}
