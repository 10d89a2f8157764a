package lisp

import (
	"math/big"
	"math/rand/v2"
)

// randomState is where random takes its numbers from. The one that *random-state* holds
// at first is different in each environment.
type randomState struct{ generator *rand.PCG }

// theRandomState stands for the state of an environment in the table of variables.
var theRandomState = &randomState{}

func newRandomState() *randomState {
	return &randomState{generator: rand.NewPCG(rand.Uint64(), rand.Uint64())}
}

var symRandomState = CL("*RANDOM-STATE*")

// randomFunctions make random numbers.
func randomFunctions() []Builtin {
	return []Builtin{
		{Name: "random", LambdaList: "(limit &optional state)", Doc: "A random number from 0 to below limit.", Named: randomNumber},
		{Name: "make-random-state", LambdaList: "(&optional state)", Doc: "A copy of a state for random, of the current one without an argument or for nil, and a new one for t.", Named: func(c *Call, args Args) Value {
			state := args.Get("state")
			generator := newRandomState().generator
			if state != Value(T) {
				generator = c.randomState(state).generator
			}
			return Allocate(c, randomState{generator: Allocate(c, *generator)})
		}},
	}
}

// randomState takes a state for random; the current one is the default.
func (c *Call) randomState(v Value) *randomState {
	if !Given(v) {
		v = c.special(c.global(symRandomState))
	}
	state, ok := v.(*randomState)
	if !ok {
		c.TypeError(v, "RANDOM-STATE")
	}
	return state
}

func (c *Call) randomSource(v Value) *rand.Rand { return rand.New(c.randomState(v).generator) }

// randomNumber is random.
func randomNumber(c *Call, args Args) Value {
	limitArg := args.Get("limit")
	source := c.randomSource(args.Get("state"))
	switch limit := limitArg.(type) {
	case int64:
		if limit > 0 {
			return Integer(source.Int64N(limit))
		}
	case float32:
		if limit > 0 {
			return source.Float32() * limit
		}
	case float64:
		if limit > 0 {
			return source.Float64() * limit
		}
	case *big.Int:
		if limit.Sign() > 0 {
			c.chargeExact(limit, limit, quotientCost)
			words := make([]big.Word, len(limit.Bits())+1)
			for i := range words {
				words[i] = big.Word(source.Uint64())
			}
			n := new(big.Int).SetBits(words)
			return normal(n.Mod(n, limit))
		}
	}
	c.TypeError(limitArg, "(OR (INTEGER 1) (FLOAT (0)))")
	return nil
}
