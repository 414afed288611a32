// Runs a command on one of several machines, through the node beside it: bullring-attach(7).
//
//	leader DATA-DIR COMMAND [ARG...]
//
// The command has the fencing token in BULLRING_EPOCH. When the leadership is lost it gets SIGTERM, and
// SIGKILL when half of the time that is left is over.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"bullring.example/leader/attach"
)

func run(ctx context.Context, lead *attach.Leadership, words []string) error {
	// If this process is killed, so is the command: at the end of the thread that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), fmt.Sprintf("BULLRING_EPOCH=%d", lead.Epoch))
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if !lead.Valid() {
		return nil
	}
	if err := command.Start(); err != nil {
		return err
	}
	group := -command.Process.Pid
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			syscall.Kill(group, syscall.SIGTERM)
		case <-ended:
			return
		}
		select {
		case <-time.After(lead.TimeLeft() / 2):
			syscall.Kill(group, syscall.SIGKILL)
		case <-ended:
		}
	}()
	err := command.Wait()
	close(ended)
	syscall.Kill(group, syscall.SIGKILL) // what it has left behind
	if ctx.Err() != nil {
		return nil // it was told to end
	}
	return err
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: leader DATA-DIR COMMAND [ARG...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	err := attach.ErrLost
	for errors.Is(err, attach.ErrLost) {
		err = attach.Lead(ctx, os.Args[1], func(ctx context.Context, lead *attach.Leadership) error {
			return run(ctx, lead, os.Args[2:])
		})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "leader:", err)
		os.Exit(1)
	}
}
