// This program overloads Atrium with an open loop: requests arrive at random moments, whether or not earlier ones have been
// answered. It starts the program on PostgreSQL (ATRIUM_TEST_POSTGRES) or else on a SQLite file:
//
//	scripts/with-postgres e2e/bin/overload -program bin/atrium -seconds 10
//
// It finds how many requests a second the server can answer, and sends one, two and four times as many from many organizations
// at once. Then one organization floods the server, by one caller, by many, or by invented tokens, beside a quiet one. The exit
// status is 1 if something does not hold that must hold on every machine: those who are refused are told when to come back, the
// quiet organization gets its answers, the probes answer, and the memory stays below its limit. With -judge it is also 1 if the
// figures miss their goals, which say something only on a machine that does nothing else.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

const (
	organizations = 8
	callers       = 6 // of each organization
	quietShare    = 0.05
	memoryLimit   = 512 // MiB
)

func main() {
	program := flag.String("program", "bin/atrium", "the program")
	seconds := flag.Float64("seconds", 10, "duration of each load")
	core := flag.String("core", "", "core of the server; empty means all")
	judge := flag.Bool("judge", false, "fail if a figure misses its goal")
	capacity := flag.Float64("capacity", 0, "requests a second that the server can answer; 0 finds that out")
	flags := flag.String("flags", "", "further flags of the server, separated by spaces")
	child := flag.Bool("child", false, "send the load that the standard input describes")
	flag.Parse()
	if *child {
		if err := runChild(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "overload:", err)
			os.Exit(1)
		}
		return
	}
	debug.SetGCPercent(800) // the load must not take the time of the server
	p := &proof{length: time.Duration(*seconds * float64(time.Second)), judges: *judge, capacity: *capacity}
	if err := p.run(context.Background(), *program, *core, strings.Fields(*flags)); err != nil {
		fmt.Println("overload:", err)
		os.Exit(1)
	}
}

// A proof is the run of all loads.
type proof struct {
	*process
	length   time.Duration
	judges   bool
	capacity float64
	faults   []string
}

func (p *proof) run(ctx context.Context, program, core string, flags []string) error {
	database := os.Getenv("ATRIUM_TEST_POSTGRES")
	if database == "" {
		url, remove, err := temporaryDatabase()
		if err != nil {
			return err
		}
		defer remove()
		database = url
	}
	var prefix, environment []string
	if core != "" {
		prefix, environment = []string{"taskset", "-c", core}, []string{fmt.Sprint("GOMAXPROCS=", strings.Count(core, ",")+1)}
	}
	if cores := strings.Count(core, ",") + 1; core != "" && !strings.HasPrefix(database, "sqlite:") {
		database += fmt.Sprint("&pool_max_conns=", 4*cores) // as on a machine with as many cores
	}
	var err error
	if p.process, err = start(ctx, program, database, prefix, environment, flags...); err != nil {
		return err
	}
	defer p.stop()
	var all []*organization
	for n := range organizations {
		o, err := p.organize(fmt.Sprintf("org-%d", n), callers)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	p.overload(ctx, all)
	p.flood(ctx, all)
	fmt.Printf("memory: at most %d MiB\n", p.peak())
	if p.peak() > memoryLimit {
		p.fault("the server took %d MiB", p.peak())
	}
	if len(p.faults) > 0 {
		return errors.New(strings.Join(p.faults, "; "))
	}
	return nil
}

func (p *proof) fault(format string, arguments ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, arguments...))
}

// miss records a figure that misses its goal.
func (p *proof) miss(format string, arguments ...any) {
	if p.judges {
		p.fault(format, arguments...)
	} else {
		fmt.Printf("below the goal: "+format+"\n", arguments...)
	}
}

// A step is a load with the CPU time of the server and what the probes said.
type step struct {
	*outcome
	cpu    time.Duration // of the server
	all    time.Duration // of the server and of the database
	probes *watch
}

func (p *proof) step(ctx context.Context, l load) step {
	return p.measure(ctx, l, func() *outcome { return l.run(ctx, p.length) })
}

// measure measures the server while run sends a load.
func (p *proof) measure(ctx context.Context, l load, run func() *outcome) step {
	before, database, probes := p.cpu(), p.databaseCPU(), p.watch(ctx)
	out := run()
	probes.end()
	took := p.cpu() - before
	s := step{out, took, took + p.databaseCPU() - database, probes}
	if probes.failed > 0 {
		p.fault("%s: %d of %d probes failed", l.name, probes.failed, probes.asked)
	}
	return s
}

func (p *proof) everyone(all []*organization) load {
	l := load{address: p.address}
	for _, o := range all {
		l.requests = append(l.requests, o.requests(p.address)...)
	}
	return l
}

// overload sends one, two and four times as many requests as the server can answer.
func (p *proof) overload(ctx context.Context, all []*organization) {
	l := p.everyone(all)
	l.saturate(8, p.length/2) // every token is known after that
	if p.capacity == 0 {
		p.capacity = l.saturate(8, p.length)
	}
	fmt.Printf("%.0f requests a second can be answered (%s)\n\n", p.capacity, strings.SplitN(p.database, ":", 2)[0])
	fmt.Println("| load | sent/s | good/s | p50 ms | p99 ms | refused/s | failed/s | CPU % of the server | with the database | probes, worst ms | memory MiB | sent late, p99 ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	var steps []step
	for _, times := range []float64{0.5, 1, 2, 4} {
		l.name, l.rate = fmt.Sprintf("%gx", times), p.capacity*times
		s := p.step(ctx, l)
		p.print(s)
		steps = append(steps, s)
	}
	one, four := steps[1], steps[3]
	peak := max(one.goodput(), steps[2].goodput(), four.goodput())
	served, refused := estimateCosts(steps, func(s step) time.Duration { return s.all })
	own, ownRefused := estimateCosts(steps, func(s step) time.Duration { return s.cpu })
	fmt.Printf("\nCPU of a served request %.0f us (server %.0f us), of a refused one %.0f us (server %.0f us): %.1f %%\n", served, own, refused, ownRefused, refused/served*100)
	if four.goodput() < 0.9*peak {
		p.miss("goodput at 4x is %.0f/s, and %.0f/s at its peak", four.goodput(), peak)
	}
	if refused > 0.05*served {
		p.miss("a refusal costs %.1f %% of a served request", refused/served*100)
	}
	for _, s := range steps {
		p.check(s.outcome)
	}
	if four.refused == 0 {
		p.fault("nothing is refused at 4x")
	}
	probe := p.step(ctx, load{name: "/livez", address: p.address, rate: 2 * p.capacity, requests: [][]byte{encode(http.MethodGet, p.address, "/livez", "", "")}})
	fmt.Printf("CPU of an answer of /livez, which does nothing: %.0f us\n", float64(probe.cpu.Microseconds())/float64(max(1, len(probe.served))))
}

// estimateCosts returns the CPU time of a served and of a refused request in microseconds:
// the least squares of what the steps took, which cpu returns.
func estimateCosts(steps []step, cpu func(step) time.Duration) (served, refused float64) {
	var ss, sr, rr, sc, rc float64
	for _, s := range steps {
		good, bad, took := float64(len(s.served)), float64(s.refused), float64(cpu(s).Microseconds())
		ss, sr, rr, sc, rc = ss+good*good, sr+good*bad, rr+bad*bad, sc+good*took, rc+bad*took
	}
	determinant := ss*rr - sr*sr
	if determinant == 0 {
		return sc / ss, 0
	}
	return (sc*rr - rc*sr) / determinant, (rc*ss - sc*sr) / determinant
}

func (p *proof) print(s step) {
	fmt.Printf("| %s | %.0f | %.0f | %.1f | %.1f | %.0f | %.0f | %.0f | %.0f | %d | %d | %.1f |\n", s.name, float64(s.countSent())/s.length.Seconds(), s.goodput(), percentile(s.served, 50), percentile(s.served, 99),
		float64(s.refused)/s.length.Seconds(), float64(s.countFailed())/s.length.Seconds(), s.cpu.Seconds()/s.length.Seconds()*100,
		s.all.Seconds()/s.length.Seconds()*100, s.probes.worst.Milliseconds(), p.peak(), percentile(s.late, 99))
}

// check finds answers that must not occur on any machine.
func (p *proof) check(o *outcome) {
	for failure, n := range o.failures {
		if strings.HasPrefix(failure, "a refusal without") {
			p.fault("%s: %d times %s", o.name, n, failure)
			return
		}
	}
	if len(o.failures) > 0 || o.unsent > 0 {
		p.miss("%s: %v, %d not sent", o.name, o.failures, o.unsent)
	}
}

// flood sends four times as many requests as the server can answer, beside a quiet
// organization.
func (p *proof) flood(ctx context.Context, all []*organization) {
	quiet, loud := all[0], all[1]
	requests := loud.requests(p.address)
	invented := make([]string, 20_000)
	for i := range invented {
		invented[i] = inventToken(loud.tokens[0])
	}
	modest := load{name: "alone", address: p.address, rate: p.capacity * quietShare, requests: quiet.requests(p.address)}
	fmt.Println("\n| beside | sent/s | good/s | p50 ms | p99 ms | refused | failed | flood good/s | flood refused/s | CPU % | sent late, p99 ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	alone := p.pair(ctx, modest, nil)
	for _, f := range []load{
		{name: "one caller", requests: requests[:4]},
		{name: "all callers", requests: requests},
		{name: "invented tokens", make: func() []byte {
			return encode("GET", p.address, "/registry/v2/repos?page_size=50", invented[rand.IntN(len(invented))], "")
		}},
	} {
		f.address, f.rate = p.address, 4*p.capacity
		flooded := p.pair(ctx, modest, &f)
		if sent := flooded.countSent(); len(flooded.served) < sent*9/10 {
			p.fault("beside a flood by %s, the quiet organization gets %d answers to %d requests", f.name, len(flooded.served), sent)
		}
		if percentile(flooded.served, 99) > 2*percentile(alone.served, 99) {
			p.miss("beside a flood by %s, the p99 of the quiet organization is %.1f ms instead of %.1f ms", f.name, percentile(flooded.served, 99), percentile(alone.served, 99))
		}
	}
}

// pair runs a modest load beside a flood, in a process of its own, and prints what became
// of it.
func (p *proof) pair(ctx context.Context, modest load, flood *load) *outcome {
	flooded := make(chan *outcome, 1)
	if flood == nil {
		flooded <- &outcome{load: load{name: "nobody"}, length: p.length}
	} else {
		go func() { flooded <- flood.run(ctx, p.length) }()
	}
	s := p.measure(ctx, modest, func() *outcome {
		out, err := modest.runApart(ctx, p.length)
		if err != nil {
			p.fault("the modest load: %v", err)
			return &outcome{load: modest, length: p.length}
		}
		return out
	})
	other := <-flooded
	fmt.Printf("| %s | %.0f | %.0f | %.1f | %.1f | %d | %d | %.0f | %.0f | %.0f | %.1f |\n", other.name, modest.rate, s.goodput(), percentile(s.served, 50), percentile(s.served, 99), s.refused, s.countFailed(),
		other.goodput(), float64(other.refused)/other.length.Seconds(), s.cpu.Seconds()/s.length.Seconds()*100, percentile(s.late, 99))
	return s.outcome
}

// inventToken returns a token like another one, with a subject and a signature that nobody
// has signed.
func inventToken(like string) string {
	parts := strings.Split(like, ".")
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	signature := make([]byte, 64)
	for i := range signature {
		signature[i] = byte(rand.IntN(256))
	}
	claims := strings.Replace(string(payload), `"sub":"`, fmt.Sprintf(`"sub":"%d`, rand.Int()), 1)
	return parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + base64.RawURLEncoding.EncodeToString(signature)
}
