package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestRangesOfPages(t *testing.T) {
	s := newSite(t, week...)
	for _, tt := range []struct {
		name, path string
		want       []string
	}{
		{"the default is a preset", "/", []string{"11 Feb – 10 Mar 2026", `href="/?range=28d" data-key="3" aria-current="true"`, `name="range" value="28d"`, `rel="prev"`}},
		{"a preset in the past", "/?range=last_month&as_of=2026-03-06", []string{"1 Feb – 28 Feb 2026", `range=last_month" data-key="6" aria-current="true"`}},
		{"as many days before and after", "/?from=2026-02-20&to=2026-02-24&metric=active",
			[]string{`href="/?from=2026-02-15&amp;metric=active&amp;to=2026-02-19" rel="prev"`, `href="/?from=2026-02-25&amp;metric=active&amp;to=2026-03-01" rel="next"`, `href="#f-from" aria-current="true"`}},
		{"dates that are those of a preset", "/?from=2026-03-04&to=2026-03-10", []string{`href="/?range=7d" data-key="2" aria-current="true"`}},
		{"dates win over a name", "/?range=7d&from=2026-03-01&to=2026-03-05", []string{"1 Mar – 5 Mar 2026", `name="from" type="date" value="2026-03-01"`}},
		{"complete days", "/?range=7d&complete=1", []string{"3 Mar – 9 Mar 2026", `href="/?range=7d" aria-current="true">Complete periods only`, `name="complete" value="1"`}},
		{"complete weeks", "/engagement?range=28d&complete=1&granularity=week", []string{"9 Feb – 8 Mar 2026", "from=2026-02-09&amp;granularity=week&amp;metric=active&amp;to=2026-03-08"}},
		{"complete weeks by default", "/retention?complete=1&granularity=week", []string{"12 Jan – 8 Mar 2026"}},
		{"a preset of retention", "/retention?range=yesterday", []string{"9 Mar 2026", "from=2026-03-09&amp;"}},
		{"a name that no range has", "/?range=8d", []string{"8d&#34; is not accepted here"}},
		{"a wrong date", "/retention?from=x", []string{"aria-invalid"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.get(tt.path, "Accept", html)
			if a.status != http.StatusOK {
				t.Fatalf("got %d", a.status)
			}
			for _, want := range tt.want {
				if !strings.Contains(a.body, want) {
					t.Errorf("%s holds no %q", tt.path, want)
				}
			}
		})
	}
	for path, without := range map[string]string{
		"/?to=2026-03-10":                          `rel="next"`, // nothing is after today
		"/?range=7d&from=2026-03-01&to=2026-03-05": `name="range"`,
		"/retention?from=x":                        `rel="prev"`,
	} {
		if a := s.get(path, "Accept", html); strings.Contains(a.body, without) {
			t.Errorf("%s holds %s", path, without)
		}
	}
}

func TestAFormKeepsAPresetThatMovesOnWithToday(t *testing.T) {
	s := newSite(t, week...)
	for _, page := range []string{"/", "/engagement", "/retention"} {
		a := s.get(page+"?range=7d&from=2026-03-04&to=2026-03-10&filter=activated", "Accept", html)
		if to := a.header.Get("Location"); a.status != http.StatusSeeOther || to != page+"?filter=activated&range=7d" {
			t.Errorf("%s: got %d to %q", page, a.status, to)
		}
	}
}
