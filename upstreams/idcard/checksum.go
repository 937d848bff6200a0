package idcard

// weights of the first 17 digits, powers of two modulo 11: GB 11643-1999.
var weights = [long - 1]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2}

// checkDigit is the last character of a number that begins with these 17
// digits: ISO 7064, MOD 11-2.
func checkDigit(digits string) byte {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return "10X98765432"[sum%11]
}

// upgraded is the number of 18 characters that replaced one of 15 digits.
func upgraded(number string) string {
	digits := number[:6] + "19" + number[6:]
	return digits + string(checkDigit(digits))
}
