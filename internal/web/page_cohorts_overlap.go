package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"bitboard/internal/cohort"
	"bitboard/internal/euler"
	"bitboard/views"
)

// The size of the diagram in its own units, the margin that letters need included.
const (
	drawingWidth  = 400
	drawingHeight = 260
	drawingMargin = 26
	// letterAway is how far from a circle its letter stands.
	letterAway = 13
	// numberHeight and digitWidth are what a number takes up.
	numberHeight = 13
	digitWidth   = 7.2
)

// exactEnough is the share of all users by which a region may be off unsaid.
const exactEnough = 0.01

// overlap counts the regions that the groups divide their users into, together.
func (r reporter) overlap(groups []group) views.OverlapPanel {
	exprs := make([]string, 1<<len(groups))
	sets := make([]cohort.Set, 0, len(exprs))
	for region := 1; region < len(exprs); region++ {
		e, err := cohort.Combine(regionTerms(groups, region))
		if err != nil {
			return views.OverlapPanel{Error: r.panelError(r.echo, err)}
		}
		people, err := r.Query.Parse(r.ctx, e.String(), r.params.today)
		if err != nil {
			return views.OverlapPanel{Error: r.panelError(r.echo, err)}
		}
		exprs[region], sets = e.String(), append(sets, people.Set)
	}
	sizes, err := r.Query.Sizes(r.ctx, sets, r.params.opts)
	if err != nil {
		return views.OverlapPanel{Error: r.panelError(r.echo, err)}
	}
	return r.overlapPanel(groups, exprs, append([]int64{0}, sizes.Value...))
}

// regionTerms are the conditions of who is in some of the groups and in none of the
// others; bit i of the region says that it lies in group i.
func regionTerms(groups []group, region int) []cohort.Term {
	var in, out []cohort.Term
	for i, g := range groups {
		t := cohort.Term{Kind: cohort.OtherTerm, Text: g.String()}
		if region&(1<<i) != 0 {
			in = append(in, t)
		} else {
			t.Join = cohort.JoinMinus
			out = append(out, t)
		}
	}
	return append(in, out...)
}

// overlapPanel shows the counts of regions, indexed as regionTerms are.
func (r reporter) overlapPanel(groups []group, exprs []string, counts []int64) views.OverlapPanel {
	sizes := make(euler.Sizes, len(counts))
	var union int64
	for region, n := range counts {
		sizes[region] = float64(n)
		union += n
	}
	panel := views.OverlapPanel{Union: r.params.people(union, unionOf(groups))}
	for i, g := range groups {
		var size int64
		for region, n := range counts {
			if region&(1<<i) != 0 {
				size += n
			}
		}
		panel.Groups = append(panel.Groups, views.ComparedGroup{
			Letter: g.letter, Title: g.title, Expr: g.String(), Users: r.params.people(size, g.String()), Share: share(size, union),
		})
	}
	for region := 1; region < len(counts); region++ {
		row := views.OverlapRegion{Users: r.params.people(counts[region], exprs[region]), Share: share(counts[region], union)}
		for i, g := range groups {
			if region&(1<<i) != 0 {
				row.In = append(row.In, g.letter)
			}
		}
		panel.Regions = append(panel.Regions, row)
	}
	slices.SortStableFunc(panel.Regions, func(a, b views.OverlapRegion) int { return cmp.Compare(len(a.In), len(b.In)) })
	if union > 0 {
		d := euler.Draw(sizes)
		if d.Off > exactEnough {
			panel.Off = d.Off
		}
		panel.Drawing = r.drawing(d, groups, counts)
	}
	return panel
}

func unionOf(groups []group) string {
	terms := make([]cohort.Term, len(groups))
	for i, g := range groups {
		terms[i] = cohort.Term{Join: cohort.JoinOr, Kind: cohort.OtherTerm, Text: g.String()}
	}
	e, err := cohort.Combine(terms)
	if err != nil {
		return "" // too long to be written: the number leads nowhere
	}
	return e.String()
}

// drawing puts a diagram into the units of the page.
func (r reporter) drawing(d euler.Diagram, groups []group, counts []int64) *views.Drawing {
	left, top, right, bottom := d.Box()
	scale := min((drawingWidth-2*drawingMargin)/(right-left), (drawingHeight-2*drawingMargin)/(bottom-top))
	x := func(v float64) float64 { return drawingMargin + (v-left)*scale }
	y := func(v float64) float64 { return drawingMargin + (v-top)*scale }
	drawn := &views.Drawing{Width: coordinate((right-left)*scale + 2*drawingMargin), Height: coordinate((bottom-top)*scale + 2*drawingMargin)}
	middleX, middleY := (left+right)/2, (top+bottom)/2
	for i, c := range d.Circles {
		if c.R == 0 {
			continue
		}
		class := compareParams[i]
		drawn.Circles = append(drawn.Circles, views.DrawnCircle{X: coordinate(x(c.X)), Y: coordinate(y(c.Y)), R: coordinate(c.R * scale), Class: class})
		dx, dy := c.X-middleX, c.Y-middleY
		if away := math.Hypot(dx, dy); away > 0 {
			dx, dy = dx/away, dy/away
		} else {
			dx, dy = 0, -1
		}
		reach := c.R*scale + letterAway
		drawn.Texts = append(drawn.Texts, views.DrawnText{X: coordinate(x(c.X) + dx*reach), Y: coordinate(y(c.Y) + dy*reach), Text: groups[i].letter, Class: class})
	}
	for region, place := range d.Places() {
		text := r.text.N(counts[region])
		if room := place.Room * scale; room > numberHeight/2 && math.Hypot(numberHeight/2, float64(len(text))*digitWidth/2) <= room {
			drawn.Texts = append(drawn.Texts, views.DrawnText{X: coordinate(x(place.X)), Y: coordinate(y(place.Y)), Text: text})
		}
	}
	return drawn
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
