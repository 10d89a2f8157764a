package org

import "strings"

// dollars keeps $x$ and $$x$$ as they are, so that their content is not read as Markdown.
func (c *inline) dollars(text string, final bool) (n int, decided bool) {
	if len(text) == 1 {
		return 0, final
	}
	if text[1] == '$' {
		return c.mathSpan(text, "$$", final)
	}
	if strings.IndexByte(" \t,.;", text[1]) >= 0 {
		return 0, true
	}
	seen := 0
	for i := 2; i < min(len(text), spanLimit); i++ {
		if text[i] != '$' {
			continue
		}
		if seen++; seen > maxDelimiters {
			return 0, true
		}
		if strings.IndexByte(" \t,.\\", text[i-1]) >= 0 {
			continue
		}
		if i+1 == len(text) && !final {
			return 0, false
		}
		if i+1 < len(text) && isAlnum(text[i+1]) {
			continue
		}
		c.writeMath(text[:i+1])
		return i + 1, true
	}
	return 0, final || len(text) >= spanLimit
}

func (c *inline) mathSpan(text, closing string, final bool) (n int, decided bool) {
	limit := min(len(text), spanLimit)
	end := strings.Index(text[2:limit], closing)
	if end < 0 {
		return 0, final || len(text) >= spanLimit
	}
	end += 2 + len(closing)
	c.writeMath(text[:end])
	return end, true
}

// writeMath writes a formula. Commands that are not plainly mathematics are broken up.
func (c *inline) writeMath(text string) {
	c.math = true
	c.write(defuseMath(text))
}

func defuseMath(text string) string {
	inner := inline{inertOnly: true, begun: true, part: true, math: true}
	inner.run(text, true)
	return inner.out.String()
}

// isMathematics reports whether text from outside may use a LaTeX command: one that only names a
// character or lays out a formula. Other commands could reach outside of the document (\input,
// \write, \directlua) when it is exported.
func isMathematics(name string) bool {
	switch name {
	case "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta",
		"iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "varpi", "rho", "varrho", "sigma", "varsigma",
		"tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda",
		"Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega", "aleph", "hbar", "ell", "Re", "Im", "wp",
		"frac", "dfrac", "tfrac", "sqrt", "sum", "prod", "coprod", "int", "iint", "iiint", "oint", "lim",
		"limsup", "liminf", "sup", "inf", "max", "min", "arg", "det", "dim", "exp", "gcd", "hom", "ker",
		"lg", "ln", "log", "Pr", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan",
		"sinh", "cosh", "tanh", "coth", "binom", "pmod", "bmod", "mod",
		"cdot", "times", "div", "pm", "mp", "ast", "star", "circ", "bullet", "oplus", "ominus", "otimes",
		"odot", "cup", "cap", "setminus", "wedge", "vee", "land", "lor", "lnot", "neg", "sqcup", "sqcap",
		"leq", "le", "geq", "ge", "neq", "ne", "equiv", "sim", "simeq", "approx", "cong", "propto", "ll",
		"gg", "prec", "succ", "subset", "supset", "subseteq", "supseteq", "in", "ni", "notin", "mid",
		"parallel", "perp", "vdash", "models", "to", "gets", "leftarrow", "rightarrow", "leftrightarrow",
		"Leftarrow", "Rightarrow", "Leftrightarrow", "mapsto", "longrightarrow", "longleftarrow",
		"Longrightarrow", "uparrow", "downarrow", "implies", "iff", "forall", "exists", "nexists",
		"emptyset", "varnothing", "infty", "partial", "nabla", "angle", "triangle", "therefore", "because",
		"dots", "ldots", "cdots", "vdots", "ddots", "prime", "degree", "dagger", "top", "bot",
		"left", "right", "big", "Big", "bigg", "Bigg", "langle", "rangle", "lfloor", "rfloor", "lceil",
		"rceil", "vert", "Vert", "lvert", "rvert", "lVert", "rVert",
		"hat", "bar", "vec", "dot", "ddot", "tilde", "widehat", "widetilde", "overline", "underline",
		"overbrace", "underbrace", "boldsymbol", "mathbf", "mathrm", "mathit", "mathbb", "mathcal",
		"mathfrak", "mathsf", "mathtt", "text", "textbf", "textit", "textrm", "operatorname", "quad",
		"qquad", "displaystyle", "textstyle", "boxed", "nbsp", "copy", "reg", "hellip", "mdash", "ndash",
		"laquo", "raquo", "euro", "pound", "yen", "sect", "para", "trade", "rarr", "larr", "harr":
		return true
	}
	return false
}
