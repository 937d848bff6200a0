package idcard

import "slices"

// Data gives all of it ready for JSON and jq, by these keys:
//
//	valid            bool
//	type             resident, hmt_permit or foreigner_permanent
//	length           18 or 15
//	checksum_ok      bool; nil for 15 digits
//	area_code        six digits                           }
//	province, city, county                                }
//	area             what is known of these, joined       } nil for foreigners
//	area_known       bool                                 }
//	abolished        bool; nil for an unknown code        }
//	birthday         2006-01-02; nil for no date
//	age              years; nil for no date or one to come
//	sex              male or female
//	zodiac           animal of the lunar year; nil for no date
//	constellation    nil for no date
//	masked           four characters, stars, four characters
//	upgraded_masked  the same of the number that replaced 15 digits; else nil
//	reasons          list of text, maybe empty
//
// A city or county is empty where there is no such level, nil where unknown.
func (i *Info) Data() map[string]any {
	data := map[string]any{
		"valid": i.Valid, "type": string(i.Type), "length": i.Length,
		"checksum_ok": nil, "sex": "female",
		"birthday": nil, "age": nil, "zodiac": nil, "constellation": nil,
		"masked": i.Masked, "upgraded_masked": text(i.UpgradedMasked),
		"reasons": i.reasons(),
	}
	if i.Length == long {
		data["checksum_ok"] = !slices.Contains(i.Reasons, BadChecksum)
	}
	if i.Male {
		data["sex"] = "male"
	}
	i.dates(data)
	i.Area.data(data)
	return data
}

func (i *Info) dates(data map[string]any) {
	if i.Birthday.IsZero() {
		return
	}
	data["birthday"] = i.Birthday.Format("2006-01-02")
	data["zodiac"] = animal(i.Birthday)
	data["constellation"] = constellation(i.Birthday)
	if !slices.Contains(i.Reasons, FutureDate) {
		data["age"] = i.Age
	}
}

// data adds the keys of an area, or of none.
func (a *Area) data(data map[string]any) {
	for _, key := range []string{"area_code", "province", "city", "county", "area", "area_known", "abolished"} {
		data[key] = nil
	}
	if a == nil {
		return
	}
	data["area_code"], data["area_known"] = a.Code, a.Known
	data["province"], data["area"] = text(a.Province), text(a.Name())
	if a.City != nil {
		data["city"] = *a.City
	}
	if a.County != nil {
		data["county"] = *a.County
	}
	if a.Known {
		data["abolished"] = a.Abolished
	}
}

func (i *Info) reasons() []any {
	list := make([]any, 0, len(i.Reasons))
	for _, r := range i.Reasons {
		list = append(list, string(r))
	}
	return list
}

// text is nil for nothing: unlike "", that is unknown in JSON.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
