package upstreams

// LargestPicture is how many bytes a picture of the source may have; 0 for a
// source whose answers are none.
func (s *Source) LargestPicture() int64 {
	if s.picture != nil {
		return s.picture.limit
	}
	if g, ok := s.kind.(*getter); ok && g.decode == nil {
		return g.limit
	}
	return 0
}
