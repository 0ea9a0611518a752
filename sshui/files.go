package sshui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"charm.land/ssh"
	"github.com/pkg/sftp"
)

// serveFiles lets a viewer read the folder of sessions over SFTP. Nothing
// outside of it can be named, and nothing can be written.
func (s *Server) serveFiles(_ context.Context, sess ssh.Session) error {
	root, err := os.OpenRoot(s.cfg.Sessions)
	if err != nil {
		return fmt.Errorf("open the folder of sessions: %w", err)
	}
	defer root.Close()
	h := readOnly{root}
	server := sftp.NewRequestServer(sess, sftp.Handlers{FileGet: h, FilePut: h, FileCmd: h, FileList: h})
	err = server.Serve()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readOnly is a folder that can be read. Links that lead out of it cannot be
// followed.
type readOnly struct{ root *os.Root }

// local turns the absolute path that a client gives into one in the folder.
func local(name string) string {
	if p := strings.TrimPrefix(path.Clean("/"+name), "/"); p != "" {
		return p
	}
	return "."
}

func (r readOnly) Fileread(req *sftp.Request) (io.ReaderAt, error) {
	if req.Pflags().Write {
		return nil, sftp.ErrSSHFxPermissionDenied
	}
	name := local(req.Filepath)
	if info, err := r.root.Stat(name); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, sftp.ErrSSHFxNoSuchFile
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, plainError(err)
	}
	return f, nil
}

func (readOnly) Filewrite(*sftp.Request) (io.WriterAt, error) {
	return nil, sftp.ErrSSHFxPermissionDenied
}

func (readOnly) Filecmd(*sftp.Request) error { return sftp.ErrSSHFxPermissionDenied }

func (r readOnly) Filelist(req *sftp.Request) (sftp.ListerAt, error) {
	name := local(req.Filepath)
	switch req.Method {
	case "List":
		f, err := r.root.Open(name)
		if err != nil {
			return nil, plainError(err)
		}
		defer f.Close()
		infos, err := f.Readdir(-1)
		return infoList(infos), plainError(err)
	case "Stat":
		info, err := r.root.Stat(name)
		if err != nil {
			return nil, plainError(err)
		}
		return infoList{info}, nil
	}
	return nil, sftp.ErrSSHFxOpUnsupported
}

// plainError keeps paths of the hub to itself.
func plainError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return sftp.ErrSSHFxNoSuchFile
	case errors.Is(err, fs.ErrPermission):
		return sftp.ErrSSHFxPermissionDenied
	}
	return sftp.ErrSSHFxFailure
}

// infoList gives what a folder holds in pieces.
type infoList []fs.FileInfo

func (l infoList) ListAt(out []fs.FileInfo, offset int64) (int, error) {
	if offset >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(out, l[offset:])
	if n < len(out) {
		return n, io.EOF
	}
	return n, nil
}
