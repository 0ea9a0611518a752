package sshui

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	gossh "golang.org/x/crypto/ssh"
)

// hostKeyName is the file of the host key in its folder.
const hostKeyName = "ssh_host_ed25519_key"

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 20 * time.Millisecond

// HostKey reads the host key from a folder, and makes both when they are not
// there yet. Hubs that start together agree on one. A key that cannot be read
// is an error: viewers would be told that the machine is another one.
func HostKey(ctx context.Context, dir string) (gossh.Signer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the host key: %w", err)
	}
	path := filepath.Join(dir, hostKeyName)
	signer, err := loadHostKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return signer, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("wait for another hub that makes the host key: %w", err)
	}
	defer func() { _ = lock.Close() }() // the lock ends with the process at the latest
	if signer, err = loadHostKey(path); !errors.Is(err, fs.ErrNotExist) {
		return signer, err
	}
	if err := makeHostKey(path); err != nil {
		return nil, fmt.Errorf("make the host key: %w", err)
	}
	return loadHostKey(path)
}

func loadHostKey(path string) (gossh.Signer, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("read the host key: %w; make it readable, or move it away for a new one (viewers are then warned)", err)
	}
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the host key %s can be read by others (mode %04o); chmod 600 %s", path, info.Mode().Perm(), path)
	}
	signer, err := gossh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("the host key %s is damaged: %w; restore it, or move it away for a new one (viewers are then warned)", path, err)
	}
	if signer.PublicKey().Type() != gossh.KeyAlgoED25519 {
		return nil, fmt.Errorf("the host key %s is a %s; want an ed25519 key", path, signer.PublicKey().Type())
	}
	return signer, nil
}

// makeHostKey writes a key whole or not at all.
func makeHostKey(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(key, "mcpsnoop")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(pem.EncodeToMemory(block))
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
