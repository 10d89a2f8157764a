package lisp

import "math/big"

// builtinClasses lists the classes of objects that notes do not define: name and
// direct superclasses.
var builtinClasses = []struct {
	name   string
	supers []string
}{
	{"T", nil},
	{"STANDARD-OBJECT", []string{"T"}}, {"STRUCTURE-OBJECT", []string{"T"}},
	{"FUNCTION", []string{"T"}}, {"GENERIC-FUNCTION", []string{"FUNCTION", "STANDARD-OBJECT"}}, {"STANDARD-GENERIC-FUNCTION", []string{"GENERIC-FUNCTION"}},
	{"CLASS", []string{"STANDARD-OBJECT"}}, {"STANDARD-CLASS", []string{"CLASS"}}, {"BUILT-IN-CLASS", []string{"CLASS"}}, {"STRUCTURE-CLASS", []string{"CLASS"}},
	{"METHOD", []string{"STANDARD-OBJECT"}}, {"STANDARD-METHOD", []string{"METHOD"}}, {"METHOD-COMBINATION", []string{"STANDARD-OBJECT"}},
	{"SYMBOL", []string{"T"}}, {"CHARACTER", []string{"T"}}, {"HASH-TABLE", []string{"T"}}, {"PACKAGE", []string{"T"}}, {"PATHNAME", []string{"T"}}, {"LOGICAL-PATHNAME", []string{"PATHNAME"}},
	{"RANDOM-STATE", []string{"T"}}, {"READTABLE", []string{"T"}}, {"RESTART", []string{"T"}},
	{"STREAM", []string{"T"}}, {"STRING-STREAM", []string{"STREAM"}}, {"BROADCAST-STREAM", []string{"STREAM"}}, {"CONCATENATED-STREAM", []string{"STREAM"}},
	{"ECHO-STREAM", []string{"STREAM"}}, {"FILE-STREAM", []string{"STREAM"}}, {"SYNONYM-STREAM", []string{"STREAM"}}, {"TWO-WAY-STREAM", []string{"STREAM"}},
	{"SEQUENCE", []string{"T"}}, {"LIST", []string{"SEQUENCE"}}, {"CONS", []string{"LIST"}}, {"NULL", []string{"SYMBOL", "LIST"}},
	{"ARRAY", []string{"T"}}, {"VECTOR", []string{"ARRAY", "SEQUENCE"}}, {"STRING", []string{"VECTOR"}}, {"BIT-VECTOR", []string{"VECTOR"}},
	{"NUMBER", []string{"T"}}, {"REAL", []string{"NUMBER"}}, {"RATIONAL", []string{"REAL"}}, {"INTEGER", []string{"RATIONAL"}}, {"FIXNUM", []string{"INTEGER"}},
	{"BIGNUM", []string{"INTEGER"}}, {"RATIO", []string{"RATIONAL"}}, {"FLOAT", []string{"REAL"}}, {"SINGLE-FLOAT", []string{"FLOAT"}}, {"DOUBLE-FLOAT", []string{"FLOAT"}},
	{"COMPLEX", []string{"NUMBER"}},
}

// standardClasses builds the classes that all environments share.
func standardClasses() map[*Symbol]*Class {
	classes := map[*Symbol]*Class{}
	for _, k := range builtinClasses {
		class := &Class{name: CL(k.name), kind: builtinClass}
		for _, super := range k.supers {
			class.supers = append(class.supers, classes[CL(super)])
		}
		class.inherit(nil)
		classes[class.name] = class
	}
	addConditionClasses(classes)
	return classes
}

// classNames are the names of the classes that objects which are no instances have.
var classNames = struct {
	symbol, null, cons, fixnum, bignum, ratio, single, double, character, str, array, vector, bits, table, generic, function, class, structure, builtin, method, pkg, restart, complex *Symbol
}{
	symbol: CL("SYMBOL"), null: CL("NULL"), cons: CL("CONS"), fixnum: CL("FIXNUM"), bignum: CL("BIGNUM"),
	ratio: CL("RATIO"), single: CL("SINGLE-FLOAT"), double: CL("DOUBLE-FLOAT"), character: CL("CHARACTER"),
	str: CL("STRING"), array: CL("ARRAY"), vector: CL("VECTOR"), bits: CL("BIT-VECTOR"), table: CL("HASH-TABLE"),
	generic: CL("STANDARD-GENERIC-FUNCTION"), function: CL("FUNCTION"), class: CL("STANDARD-CLASS"), structure: CL("STRUCTURE-CLASS"),
	builtin: CL("BUILT-IN-CLASS"), method: CL("STANDARD-METHOD"), pkg: CL("PACKAGE"), restart: CL("RESTART"),
	complex: CL("COMPLEX"),
}

// className is the name of the class of an object that is no instance.
func (c *Call) className(v Value) *Symbol {
	n := &classNames
	switch x := v.(type) {
	case *Symbol:
		if x == Nil {
			return n.null
		}
		return n.symbol
	case *Cons:
		return n.cons
	case int64:
		if x < -1<<62 || x >= 1<<62 {
			return n.bignum
		}
		return n.fixnum
	case *big.Int:
		return n.bignum
	case *big.Rat:
		return n.ratio
	case float32:
		return n.single
	case float64:
		return n.double
	case *Complex:
		return n.complex
	case Character:
		return n.character
	case *String:
		return n.str
	case *Vector:
		return vectorClass(x)
	case *HashTable:
		return n.table
	case *Function:
		if x.generic != nil {
			return n.generic
		}
		return n.function
	case *Class:
		return metaclass(x)
	case *method:
		return n.method
	case *Package:
		return n.pkg
	case *Stream:
		return CL(streamTypes[x.kind])
	case *Pathname:
		return CL("PATHNAME")
	case *restart:
		return n.restart
	case *readtable:
		return CL("READTABLE")
	case *randomState:
		return CL("RANDOM-STATE")
	case Object:
		if name := x.LispClass(); name != "" {
			return c.Lookup(name)
		}
	}
	return T
}

func vectorClass(v *Vector) *Symbol {
	switch {
	case v.bits():
		return classNames.bits
	case v.dimensions != nil:
		return classNames.array
	}
	return classNames.vector
}

func metaclass(class *Class) *Symbol {
	switch class.kind {
	case structureClass:
		return classNames.structure
	case builtinClass:
		return classNames.builtin
	}
	return classNames.class
}

// classOf returns the class of an object.
func (c *Call) classOf(v Value) *Class {
	if i, ok := v.(*Instance); ok {
		return i.class
	}
	return c.environment.language.classes[c.className(v)]
}
