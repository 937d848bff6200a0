package waybill

// postalShape is that of UPU standard S10: RB123456785GB.
func postalShape(id string) bool {
	return len(id) == 13 && isUpper(rune(id[0])) && isUpper(rune(id[1])) && digits(id[2:11], 9, 9) && isUpper(rune(id[11])) && isUpper(rune(id[12]))
}

// postal adds the post whose country ends the number. China has two: EMS for
// numbers from E, and China Post. A number does not tell whether the parcel
// leaves the country, for which kuaidi100 has a second code of each.
func (f *finding) postal(id string) {
	if !postalShape(id) {
		return
	}
	fits, why := s10(id), "a postal number of "+id[11:]+", "+verdict(s10(id))
	if id[11:] != "CN" {
		if code, name := post(id[11:]); name != "" {
			*f = append(*f, Candidate{Code: code, Name: name, Confidence: sure(fits), Why: why})
		}
		return
	}
	home, abroad := "youzhengguonei", "youzhengguoji"
	if id[0] == 'E' {
		home, abroad = "ems", "emsguoji"
	}
	f.add(home, sure(fits), why)
	if fits {
		f.add(abroad, Likely, why)
	}
}
