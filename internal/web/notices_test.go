package web_test

import (
	"strings"
	"testing"

	"bitboard/internal/store/storetest"
	"bitboard/internal/web"
)

func TestNoticesStandOnEveryPage(t *testing.T) {
	s := siteWith(t, storetest.Open(t), []web.Notice{
		{Kind: "warning", Title: "stale.title", Message: "stale.message", Values: []string{"day", "<today>"}},
	}, week...)
	for _, path := range []string{"/", "/?as_of=2026-09-01", "/retention", "/cohorts", "/users", "/users?id=a", "/users?id=nobody", "/nope"} {
		for language, says := range map[string]string{
			"en":    "<strong>The newest data is from &lt;today&gt;.</strong> The days after it hold nothing",
			"zh-CN": "<strong>最新数据截至 &lt;today&gt;。</strong> 此后的日期没有数据",
		} {
			a := s.get(path, "Accept", html, "Accept-Language", language)
			if !strings.Contains(a.body, says) || !strings.Contains(a.body, `role="status"`) {
				t.Errorf("%s in %s does not say %q", path, language, says)
			}
		}
	}
}
