package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/suggest"
)

// Budget is what one turn may use, from the person's message to the answer. Zero means no limit.
// Rounds always has a limit.
type Budget struct {
	Rounds int           // actions whose results go back to the model
	Tokens int           // read and written by models
	Time   time.Duration // excludes the time in which a person decides or answers
	Cost   float64       // US dollars, counted for the models whose price is known
}

// DefaultBudget applies where no setting says otherwise.
var DefaultBudget = Budget{Rounds: 20, Tokens: 1_000_000, Time: time.Hour, Cost: 2}

// budgetRow is one setting of a budget.
type budgetRow struct {
	name string
	set  func(b *Budget, value string) error
}

var budgetRows = []budgetRow{
	{"BUDGET_ROUNDS", (*Budget).setRounds},
	{"BUDGET_TOKENS", (*Budget).setTokens},
	{"BUDGET_TIME", (*Budget).setTime},
	{"BUDGET_COST", (*Budget).setCost},
}

// BudgetNames returns the names of the settings that make up a budget.
func BudgetNames() []string {
	names := make([]string, len(budgetRows))
	for i, row := range budgetRows {
		names[i] = row.name
	}
	return names
}

// Set sets one limit by the name of its setting. The error says what is wrong with the value.
func (b *Budget) Set(name, value string) error {
	for _, row := range budgetRows {
		if row.name == name {
			return row.set(b, strings.TrimSpace(value))
		}
	}
	return fmt.Errorf("there is no budget setting %q: did you mean %s?", name, suggest.Of(name, BudgetNames()))
}

// CheckBudget returns what is wrong with a value of the named setting, or nil.
func CheckBudget(name, value string) error { return new(Budget).Set(name, value) }

// maximumRounds is the highest number of rounds that a person can set, so that every turn ends.
const maximumRounds = 1000

func (b *Budget) setRounds(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maximumRounds {
		return fmt.Errorf("%q is not a number from 1 to %d", value, maximumRounds)
	}
	b.Rounds = n
	return nil
}

// setTokens reads "50000", "50k", "2M", or "off".
func (b *Budget) setTokens(value string) error {
	if strings.EqualFold(value, "off") {
		b.Tokens = 0
		return nil
	}
	digits, times := value, 1
	for suffix, factor := range map[string]int{"k": 1000, "K": 1000, "M": 1_000_000, "m": 1_000_000} {
		if cut, found := strings.CutSuffix(value, suffix); found {
			digits, times = cut, factor
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 1_000_000_000 {
		return fmt.Errorf("%q is not a number of tokens, such as 50000, 50k or 2M, or off", value)
	}
	b.Tokens = n * times
	return nil
}

func (b *Budget) setTime(value string) error {
	if strings.EqualFold(value, "off") {
		b.Time = 0
		return nil
	}
	if err := setDuration(&b.Time, value); err != nil {
		return fmt.Errorf("%w, or off", err)
	}
	return nil
}

// setCost reads "0.50", "$0.50", or "off".
func (b *Budget) setCost(value string) error {
	if strings.EqualFold(value, "off") {
		b.Cost = 0
		return nil
	}
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
	if err != nil || !(dollars > 0 && dollars <= 1e6) {
		return fmt.Errorf("%q is not an amount of dollars, such as 0.50, or off", value)
	}
	b.Cost = dollars
	return nil
}

// budgetDrawer returns the rows of a property drawer that set the budget. They store each value as
// the file writes it.
func budgetDrawer(values *map[string]string) []property {
	rows := make([]property, len(budgetRows))
	for i, row := range budgetRows {
		rows[i] = property{row.name, func(value string) error {
			if *values == nil {
				*values = map[string]string{}
			}
			(*values)[row.name] = value
			return CheckBudget(row.name, value)
		}}
	}
	return rows
}
