package rows

import "bytes"

// Parser reads the rows of blocks. It keeps its memory from one block to the
// next, and is not safe for concurrent use.
type Parser struct {
	block *Block
	at    int   // where the next line begins
	line  int64 // its number
	flaws []flaw
	// unquoted holds the row's fields that had doubled quotes.
	unquoted []byte
	json     objects
}

// NDJSON returns a parser of a text of JSON objects, whatever its first line
// looks like.
func NDJSON(text []byte) *Parser {
	p := &Parser{}
	p.Reset(&Block{format: &activity, text: bytes.TrimPrefix(text, byteOrderMark), line: 1})
	return p
}

// Reset makes the parser begin with a block.
func (p *Parser) Reset(b *Block) {
	p.block, p.at, p.line, p.flaws = b, 0, b.line, b.flaws
	p.json.format = b.format
}

// Next reads the next row, also one that is at fault. It returns false after
// the block's last one.
func (p *Parser) Next(row *Row) bool {
	for {
		row.reset(p.line)
		if len(p.flaws) > 0 && p.flaws[0].at == p.at {
			row.Fault = p.flaws[0].fault
			p.flaws = p.flaws[1:]
			p.pass(p.lineEnd(), 1)
			return true
		}
		if p.at == len(p.block.text) {
			return false
		}
		if p.read(row, p.block.text[p.at:p.lineEnd()]) {
			return true
		}
	}
}

// lineEnd returns where the line ends that the parser is at.
func (p *Parser) lineEnd() int {
	if i := bytes.IndexByte(p.block.text[p.at:], '\n'); i >= 0 {
		return p.at + i
	}
	return len(p.block.text)
}

// pass moves on past what ends at a position, and the line break after it.
func (p *Parser) pass(end, lines int) {
	p.at = min(end+1, len(p.block.text))
	p.line += int64(lines)
}

// read reads and passes the row that begins with a line. It returns false for
// a blank line.
func (p *Parser) read(row *Row, line []byte) bool {
	switch {
	case len(line) > MaxRecord:
		row.Fault = tooLong()
		p.pass(p.at+len(line), 1)
		return true
	case p.block.columns == nil:
		return p.readJSON(row, line)
	default:
		return p.readCSV(row, line)
	}
}
