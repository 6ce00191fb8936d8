// Package workloads measures what requests cost, from the token to the last byte. It contains only tests.
//
//   - ratios_test.go compares their CPU time with that of handlers that are written by hand (floors_test.go and
//     floor_writes_test.go), and that of SQLite with that of PostgreSQL: `make ratios`;
//   - workload_costs_test.go compares their allocations and round trips with those of the last commit: `make workloads`;
//   - standby_bench_test.go measures what standbys save, and admission_bench_test.go what a request costs that is refused.
package workloads
