package upstreams

// LargestPicture is how many bytes a picture of the source may have; 0 for a
// source whose answers are none.
func (s *Source) LargestPicture() int64 {
	if s.Picture != nil {
		return s.Picture.LargestPicture()
	}
	if f, ok := s.Kind.Fetcher.(interface{ LargestPicture() int64 }); ok {
		return f.LargestPicture()
	}
	return 0
}
