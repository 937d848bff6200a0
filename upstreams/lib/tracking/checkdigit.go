package tracking

// The check digits are those of https://github.com/jkeen/tracking_number_data,
// described in its CHECKSUM_ALGORITHMS.md. Each function expects a number of the
// right form.

// s10Fits checks nine digits between two letters and a country code: UPU standard S10.
func s10Fits(id string) bool {
	sum := 0
	for i, weight := range [8]int{8, 6, 4, 2, 3, 5, 9, 7} {
		sum += weight * digit(id[2+i])
	}
	check := 11 - sum%11
	switch check {
	case 10:
		check = 0
	case 11:
		check = 5
	}
	return check == digit(id[10])
}

// upsFits checks 1Z, 15 letters and digits, and one digit. Every second of the 15
// counts twice.
func upsFits(id string) bool {
	sum := 0
	for i := range 15 {
		c := id[2+i]
		value := digit(c)
		if c >= 'A' {
			value = int(c-3) % 10
		}
		sum += value * (1 + i%2)
	}
	return (10-sum%10)%10 == digit(id[17])
}

// fedexFits checks twelve digits.
func fedexFits(id string) bool {
	sum := 0
	for i := range 11 {
		sum += [3]int{3, 1, 7}[i%3] * digit(id[i])
	}
	return sum%11%10 == digit(id[11])
}

// dhlFits checks ten digits: the last is the remainder of the first nine divided by
// seven.
func dhlFits(id string) bool {
	rest := 0
	for i := range 9 {
		rest = (rest*10 + digit(id[i])) % 7
	}
	return rest == digit(id[9])
}

// uspsFits checks digits whose last completes the weighted sum to a multiple of ten,
// with weights 3 and 1 alternating leftwards from the last but one.
func uspsFits(id string) bool {
	sum, last := 0, len(id)-1
	for i := range last {
		weight := 1
		if (last-i)%2 == 1 {
			weight = 3
		}
		sum += weight * digit(id[i])
	}
	return (10-sum%10)%10 == digit(id[last])
}

func digit(c byte) int { return int(c - '0') }
