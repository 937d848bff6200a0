// Package idcard tells what a Chinese identity number says about its holder,
// and whether its parts agree with each other. Nothing leaves the process: no
// number is sent, stored or logged, and no error repeats one.
//
// A number that is valid here is well formed. Whether it was ever issued is not
// known to anybody but the police.
package idcard
