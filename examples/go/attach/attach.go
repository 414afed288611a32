// Package attach leads through the node on this machine: a client of its attach.sock, as
// bullring-attach(7) describes it.
package attach

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"syscall"
	"time"
)

// ErrLost is returned by Lead when the leadership was taken away before the task had ended.
var ErrLost = errors.New("the leadership was lost")

// A Leadership is what a task works under. Any goroutine may ask it.
type Leadership struct {
	Epoch uint64 // the fencing token: have what you write to refuse a lower one
	page  *page
}

// Valid says that no other process can lead at this instant. It makes one system call, for the clock,
// and waits for nobody. Ask before each act that only the leader may do.
func (l *Leadership) Valid() bool {
	epoch, validUntil, _ := l.page.read() // before the clock
	return epoch == l.Epoch && until(validUntil) > 0
}

// TimeLeft is how long nobody else can lead, if nothing is renewed any more; also after the loss.
func (l *Leadership) TimeLeft() time.Duration {
	epoch, validUntil, stopBy := l.page.read()
	if epoch != l.Epoch {
		return until(stopBy)
	}
	return until(validUntil)
}

type line struct {
	Event, Error string
	Epoch        uint64
}

// Lead waits until this process leads, and calls the task. Its context ends when the leadership has to
// end, or the outer one does; the leadership is given up when the task has returned, and not before.
// So wait in it for all that it has started. A node that ends while this process waits is an error.
func Lead(ctx context.Context, dataDir string, task func(context.Context, *Leadership) error) error {
	conn, page, greeting, err := connect(filepath.Join(dataDir, "attach.sock"))
	if err != nil {
		return err
	}
	lines := make(chan line)
	go read(io.MultiReader(bytes.NewReader(greeting), conn), lines)
	defer func() {
		// A process that still waits does not any more then.
		io.WriteString(conn, `{"op":"done"}`+"\n")
		conn.Close()
		for range lines {
		}
	}()
	if _, err := io.WriteString(conn, `{"op":"campaign"}`+"\n"); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case told, connected := <-lines:
			if !connected {
				return errors.New("the node has ended")
			}
			if told.Event == "error" {
				return errors.New(told.Error)
			}
			if told.Event == "elected" {
				return lead(ctx, &Leadership{told.Epoch, page}, lines, task)
			}
		}
	}
}

func lead(ctx context.Context, lead *Leadership, lines <-chan line,
	task func(context.Context, *Leadership) error) error {
	held, lost := context.WithCancel(ctx)
	defer lost()
	go func() {
		defer lost()
		for told := range lines {
			if told.Event == "stop" {
				lost()
			}
		}
	}()
	go func() {
		defer lost()
		watch(held, lead)
	}()
	err := task(held, lead)
	if held.Err() != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.Canceled)) {
		return ErrLost
	}
	return err
}

// Returns when so little of the lease is left that a node which still ran would have said "stop".
func watch(ctx context.Context, lead *Leadership) {
	low := lead.TimeLeft() / 4
	for left := lead.TimeLeft(); left > low; left = lead.TimeLeft() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(left - low):
		}
	}
}

func connect(path string) (*net.UnixConn, *page, []byte, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, nil, err
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	greeting, rights := make([]byte, 4096), make([]byte, syscall.CmsgSpace(4))
	count, rightsCount, _, _, err := conn.ReadMsgUnix(greeting, rights)
	if err == nil {
		var page *page
		if page, err = pageIn(rights[:rightsCount], greeting[:count]); err == nil {
			conn.SetReadDeadline(time.Time{})
			return conn, page, greeting[:count], nil
		}
	}
	conn.Close()
	return nil, nil, nil, err
}

func pageIn(rights, greeting []byte) (*page, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, fmt.Errorf("it lets nobody in: %s", greeting)
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	return mapPage(descriptors[0])
}

// The connection's end closes the channel.
func read(from io.Reader, lines chan<- line) {
	defer close(lines)
	for decoder := json.NewDecoder(from); ; {
		var told line
		if decoder.Decode(&told) != nil {
			return
		}
		lines <- told
	}
}
