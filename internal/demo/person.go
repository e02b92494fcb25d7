package demo

// temper is a kind of person.
type temper struct {
	share    float64 // of all newcomers
	habit    float64 // chance to come on a working day, at first
	spread   float64 // how much the habit differs from person to person
	leaving  float64 // chance to leave after a day
	activate float64 // chance to activate at all
}

var tempers = []temper{
	{share: 0.34, habit: 0.16, spread: 0.10, leaving: 0.300, activate: 0.18},
	{share: 0.42, habit: 0.22, spread: 0.14, leaving: 0.016, activate: 0.55},
	{share: 0.24, habit: 0.62, spread: 0.25, leaving: 0.0035, activate: 0.86},
}

const (
	signsIn       = 0.62 // chance that a visit begins with a sign-in
	seesFeature   = 0.11 // chance that a visit shows the new feature
	returns       = 0.22 // chance that somebody who left comes back
	awayLeast     = 18   // days
	awaySpread    = 120  // days
	betterLeaving = 0.62 // what is left of leaving for newcomers who were received better
	habitLoss     = 0.45 // what leaving is multiplied by once a person has activated
	activation    = 0.38 // chance to activate on a visit, for those who will
)

// person is one user's nature.
type person struct {
	habit, leaving float64
	willActivate   bool
}

func (h *history) newPerson(day int) person {
	r := h.random
	at, t := r.Float64(), tempers[len(tempers)-1]
	for _, candidate := range tempers {
		if at < candidate.share {
			t = candidate
			break
		}
		at -= candidate.share
	}
	p := person{
		habit:        t.habit + t.spread*(r.Float64()-0.5)*2,
		leaving:      t.leaving,
		willActivate: r.Float64() < t.activate,
	}
	if Days-1-day < betterStart {
		p.leaving *= betterLeaving
	}
	return p
}

// live marks what one person does from the day of signing up on.
func (h *history) live(offset uint32, day int) {
	p := h.newPerson(day)
	for i := day; i < Days; i++ {
		if d := &h.days[i]; i == day || h.random.Float64() < p.habit*d.pull {
			h.visit(&p, offset, i, i == day)
		}
		if h.random.Float64() < p.leaving {
			if h.random.Float64() >= returns {
				return
			}
			i += awayLeast + h.random.IntN(awaySpread)
		}
	}
}

// visit marks a visit on the i-th day.
func (h *history) visit(p *person, offset uint32, i int, first bool) {
	d, r := &h.days[i], h.random
	word, bit := offset/64, uint64(1)<<(offset%64)
	arrived := d.kept == 1 || r.Float64() < d.kept
	set := func(day []uint64) {
		if arrived {
			day[word] |= bit
		}
	}
	set(d.active)
	if first || r.Float64() < signsIn {
		set(d.signedIn)
	}
	if p.willActivate && r.Float64() < activation {
		p.willActivate = false
		p.leaving *= habitLoss
		h.activated[word] |= bit // the flag comes from elsewhere: it never failed
		set(d.activated)
	}
	if Days-1-i <= launch && r.Float64() < seesFeature {
		h.exposed[word] |= bit
	}
}
