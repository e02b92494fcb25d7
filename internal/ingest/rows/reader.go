package rows

// Reader reads the rows of a source one after another.
type Reader struct {
	blocks *Blocks
	block  Block
	parser Parser
}

func newReader(b *Blocks) *Reader {
	r := &Reader{blocks: b}
	r.parser.Reset(&r.block)
	return r
}

// Next reads the next row, also one that is at fault. It returns io.EOF after
// the last one, and another error when the source cannot be read to its end:
// what it holds is then not complete.
func (r *Reader) Next(row *Row) error {
	for !r.parser.Next(row) {
		if err := r.blocks.Next(&r.block); err != nil {
			return err
		}
		r.parser.Reset(&r.block)
	}
	return nil
}
