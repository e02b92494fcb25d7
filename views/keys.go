package views

// searchAnchor leads to the field of the user search.
const searchAnchor = "#f-id"

// presetKeys choose the ranges with a name, in their order.
const presetKeys = "1234567"

// presetKey is the key of a range with a name, or "" when there are too many.
func presetKey(i int) string {
	if i >= len(presetKeys) {
		return ""
	}
	return presetKeys[i : i+1]
}

// keyHelp is some keys and what they do.
type keyHelp struct {
	keys  []string
	label string
}

// between stands between two of the keys: some are the ends of a row of keys.
func (k keyHelp) between() string {
	if k.keys[0] == presetKeys[:1] {
		return " – "
	}
	return " "
}

// keys are all keys that do something on some page.
func (p Page) keys() []keyHelp {
	return []keyHelp{
		{[]string{"/"}, p.Text.T("keys.find")},
		{[]string{"p", "n"}, p.Text.T("keys.step")},
		{[]string{presetKeys[:1], presetKeys[len(presetKeys)-1:]}, p.Text.T("keys.presets")},
		{[]string{"d", "w", "m"}, p.Text.T("keys.granularity")},
		{[]string{"?"}, p.Text.T("keys.help")},
	}
}

// searchURL is where a user is searched for.
func (p Page) searchURL() string {
	if p.TodayURL != "" {
		return "/users?as_of=" + p.AsOf + searchAnchor
	}
	return "/users" + searchAnchor
}
