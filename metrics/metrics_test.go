package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandlerServesRuntimeProcessAndBuild(t *testing.T) {
	reg := New("v1.2.3")
	reload := NewReload(reg)
	reload.Success.Set(1)
	w := httptest.NewRecorder()
	Handler(reg, strings.ToUpper).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{`sundry_build_info{goversion="GO`, `version="V1.2.3"} 1`, "go_goroutines", "process_", "sundry_config_last_reload_successful 1"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}
