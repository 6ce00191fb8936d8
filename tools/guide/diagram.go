package main

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// A diagram is a flowchart in the small part of Mermaid that the pages use: boxes, stores, questions, and arrows with labels. GitHub
// draws the same text. The guide has no script, so the picture is made here.
type diagram struct {
	title string
	arrow string // the id of the head of its arrows, which is its own on the page
	down  bool   // The ranks follow each other downward (TD), and not to the right (LR).
	nodes map[string]*node
	order []*node
	edges []*edge
}

// A node is a box, or a point that an edge passes on its way through a rank.
type node struct {
	lines []string // none for a point
	class string
	rank  int
	place float64 // in the rank

	along, across         float64 // the middle
	sizeAlong, sizeAcross float64
}

type edge struct {
	from, to *node
	both     bool
	label    string
	through  []*node
}

// The measures of a diagram are in pixels.
const (
	letterWidth = 7.3
	lineHeight  = 18
	padding     = 12
	gapAcross   = 18
	gapAlong    = 42
	margin      = 6
)

var (
	mermaidBlock = regexp.MustCompile(`(?s)<pre><code class="language-mermaid">(.*?)</code></pre>`)
	mermaidNode  = `(\w+)(?:\[\(([^)]*)\)\]|\[([^\]]*)\]|\{([^}]*)\})?`
	mermaidEdge  = regexp.MustCompile(`^` + mermaidNode + ` (<?-->) ?(?:\|([^|]*)\| ?)?` + mermaidNode + `$`)

	errDiagram = errors.New("the guide cannot draw this line of a diagram")
)

// drawDiagrams replaces the blocks of Mermaid in a page with pictures.
func drawDiagrams(page string) (string, error) {
	var failed error
	count := 0
	page = mermaidBlock.ReplaceAllStringFunc(page, func(block string) string {
		d, err := parseDiagram(html.UnescapeString(mermaidBlock.FindStringSubmatch(block)[1]))
		if err != nil {
			failed = err
			return ""
		}
		count++
		d.arrow = fmt.Sprintf("arrow-%d", count)
		d.layOut()
		return d.draw()
	})
	return page, failed
}

func parseDiagram(text string) (*diagram, error) {
	d := &diagram{nodes: map[string]*node{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if title, found := strings.CutPrefix(line, "accTitle: "); found {
			d.title = title
		} else if line == "flowchart TD" {
			d.down = true
		} else if m := mermaidEdge.FindStringSubmatch(line); m != nil {
			e := &edge{from: d.add(m[1:5]), both: m[5] == "<-->", label: m[6], to: d.add(m[7:11])}
			d.edges = append(d.edges, e)
		} else if line != "" && line != "flowchart LR" {
			return nil, fmt.Errorf("%w: %s", errDiagram, line)
		}
	}
	if d.title == "" || len(d.edges) == 0 {
		return nil, fmt.Errorf("%w: it needs accTitle, and arrows: %s", errDiagram, text)
	}
	return d, nil
}

// add returns the node of a name. The other parts are its text: that of a store, a box or a question.
func (d *diagram) add(parts []string) *node {
	n := d.nodes[parts[0]]
	if n == nil {
		n = &node{class: "box", lines: []string{parts[0]}}
		d.nodes[parts[0]], d.order = n, append(d.order, n)
	}
	for i, class := range []string{"store", "box", "question"} {
		if parts[i+1] != "" {
			n.class, n.lines = class, strings.Split(parts[i+1], "<br>")
		}
	}
	return n
}

// layOut gives each node its rank, a place in it and coordinates.
func (d *diagram) layOut() {
	for range d.order { // The longest way to a node decides its rank.
		for _, e := range d.edges {
			e.to.rank = max(e.to.rank, e.from.rank+1)
		}
	}
	ranks := make([][]*node, len(d.order)+1)
	for _, n := range d.order {
		ranks[n.rank] = append(ranks[n.rank], n)
		longest := 0
		for _, line := range n.lines {
			longest = max(longest, len([]rune(line)))
		}
		width, height := float64(longest)*letterWidth+2*padding, float64(len(n.lines))*lineHeight+padding
		n.sizeAlong, n.sizeAcross = width, height
		if d.down {
			n.sizeAlong, n.sizeAcross = height, width
		}
	}
	neighbors := map[*node][]*node{}
	connect := func(a, b *node) { neighbors[a], neighbors[b] = append(neighbors[a], b), append(neighbors[b], a) }
	for _, e := range d.edges {
		last := e.from
		for rank := e.from.rank + 1; rank < e.to.rank; rank++ {
			point := &node{rank: rank}
			ranks[rank] = append(ranks[rank], point)
			e.through = append(e.through, point)
			connect(last, point)
			last = point
		}
		connect(last, e.to)
	}
	// Nodes move to the middle of their neighbors, so that few arrows cross.
	for _, nodes := range ranks {
		for i, n := range nodes {
			n.place = float64(i) - float64(len(nodes)-1)/2
		}
	}
	for round := range 8 {
		for i := range ranks {
			rank := i
			if round%2 == 1 {
				rank = len(ranks) - 1 - i
			}
			for _, n := range ranks[rank] {
				n.place = middle(n, neighbors[n], round%2 == 0)
			}
			slices.SortStableFunc(ranks[rank], func(a, b *node) int { return int((a.place - b.place) * 1000) })
			for i, n := range ranks[rank] {
				n.place = float64(i) - float64(len(ranks[rank])-1)/2
			}
		}
	}
	along := float64(margin)
	for i, nodes := range ranks {
		size, total := 0.0, -float64(gapAcross)
		for _, n := range nodes {
			size, total = max(size, n.sizeAlong), total+n.sizeAcross+gapAcross
		}
		gap := float64(gapAlong)
		for _, e := range d.edges {
			if length := float64(len([]rune(e.label))) * letterWidth; e.label != "" && e.from.rank == i && !d.down {
				gap = max(gap, length+28)
			}
		}
		across := -total / 2
		for _, n := range nodes {
			n.along, n.across = along+size/2, across+n.sizeAcross/2
			across += n.sizeAcross + gapAcross
		}
		along += size + gap
	}
}

// middle returns the mean place of the neighbors in the rank before, or after. Without any, a node stays.
func middle(n *node, neighbors []*node, before bool) float64 {
	sum, count := 0.0, 0
	for _, other := range neighbors {
		if (other.rank < n.rank) == before {
			sum, count = sum+other.place, count+1
		}
	}
	if count == 0 {
		return n.place
	}
	return sum / float64(count)
}

// point returns the coordinates of a place along and across the ranks, as SVG has them.
func (d *diagram) point(along, across float64) string {
	if d.down {
		along, across = across, along
	}
	return fmt.Sprintf("%.0f %.0f", along, across)
}

// draw returns the picture, as a region that the keyboard can scroll.
func (d *diagram) draw() string {
	low, high, end := 0.0, 0.0, 0.0
	for _, n := range d.order {
		low, high, end = min(low, n.across-n.sizeAcross/2), max(high, n.across+n.sizeAcross/2), max(end, n.along+n.sizeAlong/2)
	}
	var svg strings.Builder
	size := strings.Fields(d.point(end+margin, high-low+2*margin))
	origin := d.point(0, low-margin)
	fmt.Fprintf(&svg, `<div class="wide" role="group" aria-label="Diagram" tabindex="0">`+"\n"+`<svg class="diagram" role="img" aria-label="%s" width="%s" height="%s" viewBox="%s %s %s">`,
		html.EscapeString(d.title), size[0], size[1], origin, size[0], size[1])
	fmt.Fprintf(&svg, `<defs><marker id="%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>`+"\n", d.arrow)
	var labels strings.Builder
	for _, e := range d.edges {
		path, label := d.curve(e)
		start := ""
		if e.both {
			start = fmt.Sprintf(` marker-start="url(#%s)"`, d.arrow)
		}
		fmt.Fprintf(&svg, `<path class="way"%s marker-end="url(#%s)" d="%s"/>`+"\n", start, d.arrow, path)
		if e.label != "" {
			x, y, _ := strings.Cut(label, " ")
			fmt.Fprintf(&labels, `<text class="label" x="%s" y="%s" dy="-5">%s</text>`+"\n", x, y, html.EscapeString(e.label))
		}
	}
	for _, n := range d.order {
		width, height := n.sizeAlong, n.sizeAcross
		if d.down {
			width, height = height, width
		}
		corner := d.point(n.along-n.sizeAlong/2, n.across-n.sizeAcross/2)
		x, y, _ := strings.Cut(corner, " ")
		fmt.Fprintf(&svg, `<rect class="%s" x="%s" y="%s" width="%.0f" height="%.0f" rx="%d"/>`, n.class, x, y, width, height, map[string]int{"box": 6, "store": 3, "question": 18}[n.class])
		for i, line := range n.lines {
			x, y, _ := strings.Cut(d.point(n.along, n.across), " ")
			fmt.Fprintf(&svg, `<text x="%s" y="%s" dy="%.0f">%s</text>`, x, y, (float64(i)-float64(len(n.lines)-1)/2)*lineHeight+5, html.EscapeString(line))
		}
		svg.WriteString("\n")
	}
	return svg.String() + labels.String() + "</svg>\n</div>"
}

// curve returns the path of an edge, and the point in its middle.
func (d *diagram) curve(e *edge) (path, label string) {
	stops := append(slices.Concat([]*node{e.from}, e.through), e.to)
	for i := 1; i < len(stops); i++ {
		a, b := stops[i-1], stops[i]
		from, to := a.along+a.sizeAlong/2, b.along-b.sizeAlong/2
		half := (from + to) / 2
		if i == 1 {
			path = "M" + d.point(from, a.across)
			label = d.point(half, (a.across+b.across)/2)
		}
		path += "C" + d.point(half, a.across) + " " + d.point(half, b.across) + " " + d.point(to, b.across)
	}
	return path, label
}
