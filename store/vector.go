package store

import "sync/atomic"

// vector is a list that one goroutine appends to while others read. Elements
// lie in chunks that never move; readers see what was published last.
type vector[T any] struct {
	dir       atomic.Pointer[[]*chunk[T]]
	published atomic.Uint32
	own       []*chunk[T] // the appender's directory, a prefix of which is published
	n         uint32
}

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

type chunk[T any] [chunkLen]T

// grow appends a zero element and returns it for filling in. It must not be
// written any more once publish was called.
func (v *vector[T]) grow() (uint32, *T) {
	i := v.n
	if i&(chunkLen-1) == 0 {
		v.own = append(v.own, new(chunk[T]))
	}
	v.n++
	return i, &v.own[i>>chunkBits][i&(chunkLen-1)]
}

// at is the appender's access to an element, published or not.
func (v *vector[T]) at(i uint32) *T { return &v.own[i>>chunkBits][i&(chunkLen-1)] }

// share lets readers reach all elements so far by their index, while Len
// stays as it is: for elements that others, published first, refer to.
func (v *vector[T]) share() {
	if d := v.dir.Load(); d == nil || len(*d) != len(v.own) {
		dir := v.own[:len(v.own):len(v.own)]
		v.dir.Store(&dir)
	}
}

// publish lets readers see all elements so far.
func (v *vector[T]) publish() {
	if v.published.Load() == v.n {
		return
	}
	v.share()
	v.published.Store(v.n)
}

// Len is the number of elements that readers may see.
func (v *vector[T]) Len() uint32 { return v.published.Load() }

// read returns a published element; the caller does not write to it.
func (v *vector[T]) read(i uint32) *T {
	return &(*v.dir.Load())[i>>chunkBits][i&(chunkLen-1)]
}
