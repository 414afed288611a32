package attach

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// The words of a page, which the node writes at each renewal.
type words struct {
	sequence, epoch      uint64
	validUntil, stopByNs int64
}

type page struct{ shared *words }

const pageBytes = 64

// The descriptor is closed. The memory is returned with the last pointer to the page: a task may ask
// it after the end of its leadership.
func mapPage(descriptor int) (*page, error) {
	defer syscall.Close(descriptor)
	memory, err := syscall.Mmap(descriptor, 0, pageBytes, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	mapped := &page{(*words)(unsafe.Pointer(&memory[0]))}
	runtime.SetFinalizer(mapped, func(*page) { syscall.Munmap(memory) })
	return mapped, nil
}

// Zeros if the node has stopped in the middle of a change.
func (p *page) read() (epoch uint64, validUntil, stopBy int64) {
	defer runtime.KeepAlive(p)
	for looks := 0; looks < 1000; looks++ {
		sequence := atomic.LoadUint64(&p.shared.sequence)
		epoch = atomic.LoadUint64(&p.shared.epoch)
		validUntil = atomic.LoadInt64(&p.shared.validUntil)
		stopBy = atomic.LoadInt64(&p.shared.stopByNs)
		if sequence%2 == 0 && atomic.LoadUint64(&p.shared.sequence) == sequence {
			return epoch, validUntil, stopBy
		}
	}
	return 0, 0, 0
}

// By CLOCK_BOOTTIME, as all instants of the node are; Go's own clocks stand while the machine sleeps.
func until(instant int64) time.Duration {
	const clockBoottime = 7
	var now syscall.Timespec
	_, _, failed := syscall.Syscall(
		syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
	if failed != 0 || now.Nano() >= instant {
		return 0
	}
	return time.Duration(instant - now.Nano())
}
