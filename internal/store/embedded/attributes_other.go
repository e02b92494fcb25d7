//go:build !linux

package embedded

import "syscall"

// attributes keeps the server out of this process's group, so that a signal
// from the terminal does not end it before those who use it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
