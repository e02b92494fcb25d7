// Package static holds the style sheet, the scripts and the icon, and serves
// each under a URL that carries a hash of its bytes, so that a browser may
// keep it for good.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed css/*.css *.js *.svg
var files embed.FS

// Prefix is the path under which Handler expects to be mounted.
const Prefix = "/static/"

const (
	hashLength   = 12 // hex digits of SHA-256 in a URL
	cacheForGood = "public, max-age=31536000, immutable"
)

// styleSheets are joined, in this order, into app.css.
var styleSheets = []string{
	"css/tokens.css", "css/base.css", "css/layout.css", "css/components.css", "css/tables.css", "css/pages.css", "css/modes.css",
}

// asset is one file, ready to be sent.
type asset struct {
	url         string
	contentType string
	etag        string
	plain, gzip []byte
}

// byName and byURL are made once at start; a broken embed stops the program there.
var byName, byURL = load()

func load() (names, urls map[string]*asset) {
	names, urls = map[string]*asset{}, map[string]*asset{}
	add := func(name string, content []byte) {
		a := newAsset(name, content)
		names[name], urls[a.url] = a, a
	}
	add("app.css", bytes.Join(readAll(styleSheets), []byte("\n")))
	for _, name := range []string{"charts.js", "online.js", "jobs.js", "copy.js", "calendar.js", "builder.js", "keys.js", "echarts.min.js", "favicon.svg"} {
		add(name, readAll([]string{name})[0])
	}
	return names, urls
}

// readAll returns the embedded files; one that is missing is a mistake in this
// package that no input can cause.
func readAll(names []string) [][]byte {
	contents := make([][]byte, len(names))
	for i, name := range names {
		content, err := files.ReadFile(name)
		if err != nil {
			panic(err) //nolint:forbidigo // as regexp.MustCompile: the input is compiled in
		}
		contents[i] = content
	}
	return contents
}

func newAsset(name string, content []byte) *asset {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])[:hashLength]
	ext := path.Ext(name)
	return &asset{
		url:         Prefix + strings.TrimSuffix(name, ext) + "." + hash + ext,
		contentType: contentType(ext),
		etag:        `"` + hash + `"`,
		plain:       content,
		gzip:        compress(content),
	}
}

func contentType(ext string) string {
	if ext == ".js" { // what the system's tables say differs between machines
		return "text/javascript; charset=utf-8"
	}
	return mime.TypeByExtension(ext)
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(content) // writes to a bytes.Buffer do not fail
	_ = w.Close()
	return b.Bytes()
}

// URL returns the path of an asset, e.g. /static/app.0123456789ab.css for
// app.css. A name that is not embedded gives a path that answers 404.
func URL(name string) string {
	if a, ok := byName[name]; ok {
		return a.url
	}
	return Prefix + name
}

// Handler serves the assets by their URLs. Any other path, and so any wrong
// hash, is a 404.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	a, ok := byURL[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	a.send(w, r)
}

func (a *asset) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", cacheForGood)
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	if matches(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.plain
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = a.gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // the client went away; there is nobody to tell
}

// matches reports whether an If-None-Match header names etag; proxies that
// compress may have made it weak.
func matches(header, etag string) bool {
	return slices.ContainsFunc(strings.Split(header, ","), func(s string) bool {
		s = strings.TrimPrefix(strings.TrimSpace(s), "W/")
		return s == etag || s == "*"
	})
}

// acceptsGzip reads an Accept-Encoding header; gzip;q=0 refuses it.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !found || (err == nil && weight > 0)
	}
	return false
}
