package httpsource

import "sundry/upstreams/sharelink"

// scriptDecoder reads the object that a page's script assigns to the marker, as
// in window.__INITIAL_STATE__={...}.
func scriptDecoder(marker string) func([]byte) (any, error) {
	return func(page []byte) (any, error) {
		object, err := sharelink.InitState(page, marker)
		if err != nil {
			return nil, err
		}
		return DecodeJSON(object)
	}
}
