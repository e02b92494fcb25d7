package embedded

import "syscall"

// attributes keeps the server out of this process's group, so that a signal
// from the terminal does not end it before those who use it, and lets the
// kernel end it when this process is killed. A killed server leaves at once,
// and nobody can begin to talk to one that is about to end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
