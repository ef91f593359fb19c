// Goroutines, generic functions, closures, and memory that is collected meanwhile.
package main

import (
	"fmt"
	"sort"
)

//go:noinline
func stop(n int) int { return n + 1 }

//go:noinline
func recursion(n int) int {
	if n == 0 {
		return stop(n)
	}
	var bytes [100]int
	bytes[n%100] = recursion(n - 1)
	return bytes[n%100] + bytes[(n+1)%100]
}

type tree[T any] struct {
	left, right *tree[T]
	value       T
}

//go:noinline
func (t *tree[T]) add(value T, less func(a, b T) bool) *tree[T] {
	if t == nil {
		return &tree[T]{value: value}
	}
	if less(value, t.value) {
		t.left = t.left.add(value, less)
	} else {
		t.right = t.right.add(value, less)
	}
	return t
}

func work(n int) string {
	var t *tree[int]
	for i := 0; i < n; i++ {
		t = t.add((i*7)%5, func(a, b int) bool { stop(a); return a < b })
	}
	numbers := []int{3, 1, 2}
	sort.Slice(numbers, func(a, b int) bool { return stop(numbers[a]) < numbers[b] })
	return fmt.Sprint(t.value, numbers)
}

func main() {
	results := make(chan string)
	go func() {
		recursion(50)
		results <- work(4)
	}()
	fmt.Println(<-results)
}
