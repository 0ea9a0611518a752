package capture

import "errors"

// ErrChanged says that no record stands where one stood.
var ErrChanged = errors.New("the log has changed: no record stands there any more")

// Limits of Bodies.
const (
	maxOpenBodies = 64      // files held open
	maxTempBodies = 4       // of them, decompressed copies in temporary files
	maxTempSize   = 4 << 30 // longest segment that is decompressed, in bytes
)

// Bodies reads records again by their place. It holds a bounded number of
// files open: 64, at most 4 of them compressed segments, which are
// decompressed once into temporary files without a name. Safe for concurrent use.
type Bodies struct{}

// NewBodies reads logs of fsys; Close ends it.
func NewBodies(fsys FS) *Bodies { panic("TODO") }

// Read fills rec with the record that stands at ref in the log whose first
// segment is at path, and returns buf, grown when needed, which rec.Raw
// aliases. What a record takes from earlier lines is zero here: SessionID,
// Label and Seq of tapes that this program did not write. When the log has been
// truncated or replaced, the error is ErrChanged or the record is another one:
// compare Seq.
func (b *Bodies) Read(path string, ref Ref, rec *Record, buf []byte) ([]byte, error) { panic("TODO") }

// Forget closes the files of the log at path, because it was replaced or is
// no longer shown.
func (b *Bodies) Forget(path string) { panic("TODO") }

// Close closes all files.
func (b *Bodies) Close() error { panic("TODO") }
