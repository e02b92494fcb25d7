package ui

import "bitboard/views/text"

// Suspect returns the name of a reason why a number may be too low: missing,
// missing_segment, half_replaced, low or evicted. It is empty for no reason.
func Suspect(p *text.Printer, reason string) string {
	switch reason {
	case "":
		return ""
	case "missing":
		return p.T("value.no_data")
	case "missing_segment":
		return p.T("suspect.missing_segment")
	case "half_replaced":
		return p.T("suspect.half_replaced")
	case "evicted":
		return p.T("suspect.evicted")
	default:
		return p.T("suspect.low")
	}
}

// SuspectWithin is Suspect for a number about several days of which one or more
// are suspect.
func SuspectWithin(p *text.Printer, reason string) string {
	if reason == "" {
		return ""
	}
	return p.T("suspect.within", "what", Suspect(p, reason))
}

// why explains a reason in a sentence.
func why(p *text.Printer, reason string) string {
	switch reason {
	case "missing":
		return p.T("value.no_data.why")
	case "missing_segment":
		return p.T("suspect.missing_segment.why")
	case "half_replaced":
		return p.T("suspect.half_replaced.why")
	case "evicted":
		return p.T("suspect.evicted.why")
	default:
		return p.T("suspect.low.why")
	}
}
