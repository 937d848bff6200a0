package admin

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed console
var consoleFiles embed.FS

// console serves the page for operators. It loads nothing from elsewhere, and
// may not.
func console(mux *http.ServeMux) {
	files, err := fs.Sub(consoleFiles, "console")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	pages := http.StripPrefix("/admin/", http.FileServerFS(files))
	mux.HandleFunc("GET /admin/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		pages.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /admin", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/admin/", http.StatusSeeOther) })
}
