// Package operations has what takes longer than its request, such as a large import, as AIP-151 has it. It imports core only.
//
//	operation.go   the record of an operation, and how it runs, is read and cancelled
package operations
