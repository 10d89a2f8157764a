package plist

import "github.com/chewxy/sexp"

// unquote returns the plist in (quote x) and (list …).
func unquote(x sexp.Sexp) sexp.Sexp {
	list, _ := x.(sexp.List)
	if len(list) == 2 && list[0] == sexp.Sexp(sexp.Symbol("quote")) {
		return list[1]
	}
	if len(list) > 0 && list[0] == sexp.Sexp(sexp.Symbol("list")) {
		return list[1:]
	}
	return x
}

// keywords returns x with keywords in place of bare symbols, also in its :payload and :args: the
// values of enum keys and, if keys is true, the keys. Under :args only keys are replaced. x itself
// is not changed.
func keywords(x sexp.Sexp, keys bool) (sexp.Sexp, bool) {
	return bareWords(x, keys, false, 0)
}

func bareWords(x sexp.Sexp, keys, inArgs bool, depth int) (sexp.Sexp, bool) {
	list, ok := x.(sexp.List)
	if !ok || len(list) == 0 || depth > 4 {
		return x, false
	}
	if inner, ok := list[0].(sexp.List); ok && len(list) == 1 && inArgs {
		y, changed := bareWords(inner, keys, inArgs, depth+1)
		return sexp.List{y}, changed
	}
	out := append(sexp.List(nil), list...)
	changed := false
	for i := 0; i+1 < len(out); i += 2 {
		if name, ok := out[i].(sexp.Symbol); ok && keys {
			out[i], changed = Keyword(name), true
		}
		key, ok := out[i].(Keyword)
		if !ok {
			break
		}
		if name, ok := out[i+1].(sexp.Symbol); ok && name != T && enumKey(key) && !inArgs {
			out[i+1], changed = Keyword(name), true
		}
		if key == "args" || key == "payload" && depth == 0 {
			value, inner := bareWords(out[i+1], keys, key == "args", depth+1)
			out[i+1], changed = value, changed || inner
		}
	}
	return out, changed
}

// unnest removes lists around :args, on top and in :payload: (:args ((:cmd "x"))) becomes (:args
// (:cmd "x")). x itself is not changed.
func unnest(x sexp.Sexp) (sexp.Sexp, bool) {
	list, ok := x.(sexp.List)
	if !ok {
		return x, false
	}
	changed := false
	if args, ok := Get(list, "args"); ok {
		if inner, nested := innermost(args); nested {
			list, changed = Put(list, "args", inner), true
		}
	}
	if payload, ok := Get(list, "payload"); ok {
		args, _ := Get(payload, "args")
		if inner, nested := innermost(args); nested {
			list, changed = Put(list, "payload", Put(payload.(sexp.List), "args", inner)), true
		}
	}
	return list, changed
}

// innermost returns the plist, possibly empty, inside of lists with one element. It returns false
// if x is not nested.
func innermost(x sexp.Sexp) (sexp.List, bool) {
	list, _ := x.(sexp.List)
	nested := false
	for len(list) == 1 {
		inner, ok := list[0].(sexp.List)
		if !ok {
			return nil, false
		}
		list, nested = inner, true
	}
	if !nested {
		return nil, false
	}
	if len(list) == 0 {
		return nil, true
	}
	_, ok := list[0].(Keyword)
	return list, ok
}
