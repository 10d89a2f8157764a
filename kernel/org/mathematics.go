package org

// isMathematics tells the LaTeX commands that text from outside may use: they only name
// characters or lay out a formula. Any other command could reach outside the document
// (\input, \write, \directlua) when it is exported.
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
