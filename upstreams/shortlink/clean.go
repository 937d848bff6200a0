package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// tracking are query keys that say where a link was shared, not what it names.
var tracking = []string{
	"fbclid", "gclid", "gbraid", "wbraid", "yclid", "igshid", "mc_cid", "mc_eid", "_hsenc",
	"spm", "scm", "spm_id_from", "from_spmid", "vd_source", "unique_k",
	"share_source", "share_medium", "share_plat", "share_session_id", "share_tag",
}

// clean removes tracking keys, and leaves the rest of a URL byte for byte.
func clean(raw string) string {
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	base, query, ok := strings.Cut(rest, "?")
	if !ok {
		return raw
	}
	pairs := strings.Split(query, "&")
	kept := slices.DeleteFunc(slices.Clone(pairs), isTracking)
	if len(kept) == len(pairs) {
		return raw
	}
	if len(kept) > 0 {
		base += "?" + strings.Join(kept, "&")
	}
	if hasFragment {
		base += "#" + fragment
	}
	return base
}

func isTracking(pair string) bool {
	key, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(key); err == nil {
		key = plain
	}
	key = strings.ToLower(key)
	return strings.HasPrefix(key, "utm_") || slices.Contains(tracking, key)
}
