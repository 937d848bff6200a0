package waybill

// The check digits of https://github.com/jkeen/tracking_number_data, whose
// CHECKSUM_ALGORITHMS.md describes them. Each function expects a number of the
// right shape.

// s10 checks nine digits between two letters and a country: UPU standard S10.
func s10(id string) bool {
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

// ups checks 1Z, 15 letters and digits, and one digit. Every second of the 15
// counts twice.
func ups(id string) bool {
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

// fedex checks twelve digits.
func fedex(id string) bool {
	sum := 0
	for i := range 11 {
		sum += [3]int{3, 1, 7}[i%3] * digit(id[i])
	}
	return sum%11%10 == digit(id[11])
}

// dhl checks ten digits: the last is what remains of the nine by seven.
func dhl(id string) bool {
	rest := 0
	for i := range 9 {
		rest = (rest*10 + digit(id[i])) % 7
	}
	return rest == digit(id[9])
}

// usps checks digits whose last makes the sum whole, with weights 3 and 1 in
// turn from the last but one leftwards.
func usps(id string) bool {
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
