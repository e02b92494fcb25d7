package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func request(t *testing.T, method, url string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, url, http.NoBody)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestHandlerServesEachAssetForGood(t *testing.T) {
	types := map[string]string{
		"app.css":        "text/css; charset=utf-8",
		"charts.js":      "text/javascript; charset=utf-8",
		"echarts.min.js": "text/javascript; charset=utf-8",
		"copy.js":        "text/javascript; charset=utf-8",
		"calendar.js":    "text/javascript; charset=utf-8",
		"jobs.js":        "text/javascript; charset=utf-8",
		"online.js":      "text/javascript; charset=utf-8",
		"builder.js":     "text/javascript; charset=utf-8",
		"keys.js":        "text/javascript; charset=utf-8",
		"favicon.svg":    "image/svg+xml",
	}
	if len(byName) != len(types) {
		t.Errorf("%d assets are served, %d are tested", len(byName), len(types))
	}
	for name, contentType := range types {
		t.Run(name, func(t *testing.T) {
			res := request(t, http.MethodGet, URL(name), nil)
			want := map[string]string{
				"Content-Type":           contentType,
				"Cache-Control":          "public, max-age=31536000, immutable",
				"ETag":                   byName[name].etag,
				"X-Content-Type-Options": "nosniff",
				"Content-Encoding":       "",
			}
			if res.Code != http.StatusOK {
				t.Fatalf("status %d", res.Code)
			}
			for header, value := range want {
				if got := res.Header().Get(header); got != value {
					t.Errorf("%s: %q, want %q", header, got, value)
				}
			}
			if !bytes.Equal(res.Body.Bytes(), byName[name].plain) {
				t.Error("the body is not the file")
			}
		})
	}
}

func TestHandlerGzip(t *testing.T) {
	tests := []struct{ name, accept, want string }{
		{"asked for", "gzip, br", "gzip"},
		{"with a weight", "br;q=1.0, gzip;q=0.8", "gzip"},
		{"refused", "gzip;q=0", ""},
		{"not named", "br", ""},
		{"nothing named", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := request(t, http.MethodGet, URL("app.css"), map[string]string{"Accept-Encoding": tt.accept})
			if got := res.Header().Get("Content-Encoding"); got != tt.want {
				t.Fatalf("Content-Encoding %q, want %q", got, tt.want)
			}
			content := io.Reader(res.Body)
			if tt.want == "gzip" {
				unpacked, err := gzip.NewReader(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				content = unpacked
			}
			got, err := io.ReadAll(content)
			if err != nil || !bytes.Equal(got, byName["app.css"].plain) {
				t.Errorf("the unpacked body is not the file (%v)", err)
			}
		})
	}
}

func TestHandlerRefuses(t *testing.T) {
	tests := []struct {
		name, method, url string
		header            map[string]string
		want              int
	}{
		{"a wrong hash", http.MethodGet, "/static/app.000000000000.css", nil, http.StatusNotFound},
		{"no hash", http.MethodGet, "/static/app.css", nil, http.StatusNotFound},
		{"a source file", http.MethodGet, "/static/css/base.css", nil, http.StatusNotFound},
		{"the folder", http.MethodGet, "/static/", nil, http.StatusNotFound},
		{"writing", http.MethodPost, URL("app.css"), nil, http.StatusMethodNotAllowed},
		{"what the browser has", http.MethodGet, URL("app.css"), map[string]string{"If-None-Match": byName["app.css"].etag}, http.StatusNotModified},
		{"what the browser has, made weak", http.MethodGet, URL("app.css"), map[string]string{"If-None-Match": `"x", W/` + byName["app.css"].etag}, http.StatusNotModified},
		{"an older version", http.MethodGet, URL("app.css"), map[string]string{"If-None-Match": `"x"`}, http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := request(t, tt.method, tt.url, tt.header)
			if res.Code != tt.want {
				t.Errorf("status %d, want %d", res.Code, tt.want)
			}
			if tt.want == http.StatusNotModified && len(res.Body.Bytes()) > 0 {
				t.Error("a 304 has a body")
			}
		})
	}
}

func TestHeadSendsNoBody(t *testing.T) {
	res := request(t, http.MethodHead, URL("favicon.svg"), nil)
	if res.Code != http.StatusOK || len(res.Body.Bytes()) != 0 || res.Header().Get("Content-Length") == "0" {
		t.Errorf("status %d, length %s", res.Code, res.Header().Get("Content-Length"))
	}
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	for _, name := range []string{"app.css", "charts.js", "favicon.svg"} {
		content := strings.ReplaceAll(string(byName[name].plain), "http://www.w3.org/2000/svg", "")
		if found := regexp.MustCompile(`https?://|@import|//cdn|url\(`).FindString(content); found != "" {
			t.Errorf("%s names another place: %s", name, found)
		}
	}
}

func TestChartLibraryKeepsItsNoticeAndItsSize(t *testing.T) {
	library := byName["echarts.min.js"].plain
	if !bytes.HasPrefix(library, []byte("/*! Apache ECharts 5.6.0")) {
		t.Error("the licence notice is gone")
	}
	if len(library) > 630_000 {
		t.Errorf("the chart library has %d bytes; leave out what is not used", len(library))
	}
}

// A visitor loads the bundle once; what the charts do not use must not creep in.
func TestTheChartBundleIsSmallAndNamesItsLicences(t *testing.T) {
	const most = 520_000
	bundle := byName["echarts.min.js"].plain
	if len(bundle) > most {
		t.Errorf("echarts.min.js has %d bytes, more than %d: which part of it is in use?", len(bundle), most)
	}
	head, _, _ := bytes.Cut(bundle, []byte("*/"))
	for _, notice := range []string{"Apache ECharts", "Apache License, Version 2.0", "BSD 3-Clause", "0BSD"} {
		if !bytes.Contains(head, []byte(notice)) {
			t.Errorf("echarts.min.js does not begin with the notice %q", notice)
		}
	}
}
