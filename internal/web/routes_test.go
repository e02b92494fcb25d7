package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestEveryRouteNamesItsPermission(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range new(server).routes() {
		name := r.Method + " " + r.Path
		if seen[name] {
			t.Errorf("%s stands in the table twice", name)
		}
		seen[name] = true
		if !slices.Contains([]Permission{Open, View, Export, LookUp, Write}, r.Permission) {
			t.Errorf("%s needs %q, which is no permission", name, r.Permission)
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if api := strings.HasPrefix(r.Path, "/api/"); api && (r.Permission == Open || reads == (r.Permission == Write)) {
			t.Errorf("%s of the API needs %q only", name, r.Permission)
		}
	}
}
