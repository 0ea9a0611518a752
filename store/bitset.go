package store

import "math/bits"

// bitset is a set of frame indexes that knows the rank of its elements: one
// bit for each frame of the session, and a count for each 4,096 of them.
type bitset struct {
	words  []uint64
	counts []uint16 // elements in each block
	n      uint32   // elements
}

const (
	blockBits  = 12
	blockWords = 1 << (blockBits - 6)
)

func (b *bitset) has(i uint32) bool {
	w := int(i >> 6)
	return w < len(b.words) && b.words[w]&(1<<(i&63)) != 0
}

// put adds or removes i.
func (b *bitset) put(i uint32, in bool) {
	if b.has(i) == in {
		return
	}
	w, block := int(i>>6), int(i>>blockBits)
	for w >= len(b.words) {
		b.words = append(b.words, make([]uint64, blockWords)...)
		b.counts = append(b.counts, 0)
	}
	b.words[w] ^= 1 << (i & 63)
	if in {
		b.counts[block]++
		b.n++
	} else {
		b.counts[block]--
		b.n--
	}
}

// rank is the number of elements below i.
func (b *bitset) rank(i uint32) uint32 {
	block := min(int(i>>blockBits), len(b.counts))
	n := 0
	for _, c := range b.counts[:block] {
		n += int(c)
	}
	for w := block * blockWords; w < len(b.words) && w <= int(i>>6); w++ {
		word := b.words[w]
		if w == int(i>>6) {
			word &= 1<<(i&63) - 1
		}
		n += bits.OnesCount64(word)
	}
	return uint32(n)
}

// rows appends the elements from rank row on, at most n, to dst.
func (b *bitset) rows(dst []uint32, row uint32, n int) []uint32 {
	block := 0
	for block < len(b.counts) && row >= uint32(b.counts[block]) {
		row -= uint32(b.counts[block])
		block++
	}
	for w := block * blockWords; w < len(b.words) && n > 0; w++ {
		word := b.words[w]
		if c := uint32(bits.OnesCount64(word)); row >= c {
			row -= c
			continue
		}
		for ; word != 0 && n > 0; word &= word - 1 {
			if row > 0 {
				row--
				continue
			}
			dst = append(dst, uint32(w)<<6+uint32(bits.TrailingZeros64(word)))
			n--
		}
	}
	return dst
}

// before is the greatest element below i and not below least.
func (b *bitset) before(i, least uint32) (uint32, bool) {
	w := int(i >> 6)
	mask := uint64(1)<<(i&63) - 1
	if w >= len(b.words) {
		w, mask = len(b.words)-1, ^uint64(0)
	}
	for ; w >= int(least>>6); w-- {
		if word := b.words[w] & mask; word != 0 {
			at := uint32(w)<<6 + 63 - uint32(bits.LeadingZeros64(word))
			return at, at >= least
		}
		mask = ^uint64(0)
	}
	return 0, false
}
