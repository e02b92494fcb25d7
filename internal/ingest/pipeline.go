package ingest

import (
	"context"
	"io"
	"sync"

	"bitboard/internal/ingest/rows"
)

// defaultBlockBytes is the size of the pieces in which sources are read.
const defaultBlockBytes = 256 << 10

// pipeline is blocks on their way: one goroutine cuts them out of a source,
// several read them side by side, and one takes the readings in the order of
// the blocks. They are few, so that memory is bounded.
type pipeline struct {
	free            chan *job     // not in use
	unread, inOrder chan *job     // cut out, both the same
	failed          error         // what the source ended with, once inOrder is closed
	taken           chan struct{} // closed when no more are taken
}

// job is a block and what it says.
type job struct {
	block   rows.Block
	reading reading
	done    chan struct{} // gets a value when the reading is there
}

func newPipeline(most int) *pipeline {
	p := &pipeline{
		free: make(chan *job, most), unread: make(chan *job, most), inOrder: make(chan *job, most),
		taken: make(chan struct{}),
	}
	for range most {
		p.free <- &job{done: make(chan struct{}, 1)}
	}
	return p
}

// readBlocks reads blocks until there are no more and takes what they say. An
// error of the source comes after all blocks before it.
func (im *importing) readBlocks(ctx context.Context, blocks *rows.Blocks, source io.Closer, take func(*reading) error) error {
	p := newPipeline(2*len(im.readers) + 2)
	var busy sync.WaitGroup
	busy.Go(func() { p.cut(blocks) })
	for _, r := range im.readers {
		busy.Go(func() { p.read(r, &im.known) })
	}
	err := p.take(ctx, take)
	close(p.taken)
	source.Close() // ends a wait for more of it
	busy.Wait()
	return err
}

// cut cuts blocks out until there are no more, or until no more are taken.
func (p *pipeline) cut(blocks *rows.Blocks) {
	defer close(p.inOrder)
	defer close(p.unread)
	for {
		select {
		case j := <-p.free:
			if p.failed = blocks.Next(&j.block); p.failed != nil {
				return
			}
			p.unread <- j
			p.inOrder <- j
		case <-p.taken:
			return
		}
	}
}

// read reads the blocks that others leave to it.
func (p *pipeline) read(r *reader, known *atomicTable) {
	for j := range p.unread {
		r.read(&j.block, known.Load(), &j.reading)
		j.done <- struct{}{}
	}
}

// take takes the readings.
func (p *pipeline) take(ctx context.Context, take func(*reading) error) error {
	for j := range p.inOrder {
		<-j.done
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(&j.reading); err != nil {
			return err
		}
		p.free <- j
	}
	if p.failed == io.EOF {
		return nil
	}
	return p.failed
}
