// gorilla/websocket (Debian golang-github-gorilla-websocket-dev): blocking calls on Go's poller.
//
//	go_gorilla PORT SIZE INFLIGHT COUNT
//
// Build: GO111MODULE=off GOPATH=/usr/share/gocode go build -o go_gorilla main.go
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

func argument(index int) int {
	if len(os.Args) <= index {
		log.Fatal("usage: go_gorilla PORT SIZE INFLIGHT COUNT")
	}
	value, err := strconv.Atoi(os.Args[index])
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// The processor's time of this process, in seconds.
func processor() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func main() {
	port, size, inflight, count := argument(1), argument(2), argument(3), argument(4)
	dialer := websocket.Dialer{ReadBufferSize: 64 << 10, WriteBufferSize: 64 << 10}
	connection, _, err := dialer.Dial(fmt.Sprintf("ws://127.0.0.1:%d/", port), nil)
	if err != nil {
		log.Fatal(err)
	}
	payload := make([]byte, size)
	sent := 0
	send := func() {
		if err := connection.WriteMessage(websocket.BinaryMessage, payload); err != nil {
			log.Fatal(err)
		}
		sent++
	}

	processorBegan, began := processor(), time.Now()
	for sent < inflight && sent < count {
		send()
	}
	for received := 0; received < count; received++ {
		_, message, err := connection.ReadMessage()
		if err != nil {
			log.Fatal(err)
		}
		if len(message) != size {
			log.Fatalf("%d bytes instead of %d", len(message), size)
		}
		if sent < count {
			send()
		}
	}
	wall, used := time.Since(began).Seconds(), processor()-processorBegan
	rate := float64(count) / wall
	fmt.Printf("go-gorilla size=%d win=%d n=%d rt/s=%.0f MB/s=%.1f us_cpu/msg=%.2f\n",
		size, inflight, count, rate, rate*float64(size)/1e6, used/float64(count)*1e6)
}
