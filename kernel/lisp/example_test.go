package lisp_test

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/lisp"
)

// An environment with a library of its own and a function of the program.
func Example() {
	library := lisp.Library{
		Package: "GEOMETRY", Title: "Geometry",
		Functions: []lisp.Builtin{
			{Name: "area", LambdaList: "(width &key height)", Doc: "The area of a rectangle, of a square without a height.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
				width := args.Get("width")
				height := args.Get("height")
				if height == nil {
					height = width
				}
				return c.Standard("*", width, height)
			}},
			{Name: "corners", LambdaList: "(n)", Doc: "The corners of a figure, as symbols of the keyword package.", One: func(c *lisp.Call, n lisp.Value) lisp.Value {
				list := lisp.NewListBuilder(c) // its conses are charged to the call
				for i := range c.Index(n) {
					list.Add(c.Keyword(fmt.Sprintf("C%d", i)))
				}
				return list.List()
			}},
		},
	}
	language, err := lisp.NewLanguage(library)
	if err != nil {
		panic(err)
	}
	offered, err := lisp.NewInterface(language, []lisp.KernelFunction{
		{Name: "app:price", LambdaList: "(area)", Doc: "What an area costs.", Call: func(_ context.Context, _ *lisp.Call, args []lisp.Value) (lisp.Value, error) {
			area, ok := args[0].(int64)
			if !ok {
				return nil, errors.New("an area is an integer")
			}
			return lisp.Integer(3 * area), nil
		}},
	}, nil)
	if err != nil {
		panic(err)
	}
	environment, err := lisp.New(lisp.Config{Interface: offered, Limits: lisp.Limits{Steps: 1_000_000, Bytes: 16 << 20}})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	err = environment.Load(ctx, `
(defun quote-for (width height)
  (list (geometry:corners 4) (app:price (geometry:area width :height height))))
(defun forever () (loop))`, "program.lisp", 1)
	if err != nil {
		panic(err)
	}
	value, err := environment.Call(ctx, "quote-for", lisp.Integer(6), lisp.Integer(7))
	if err != nil {
		panic(err)
	}
	text, err := environment.Print(ctx, value)
	fmt.Println(text, err)

	_, err = environment.Call(ctx, "quote-for", lisp.Integer(6), lisp.NewString("seven"))
	fmt.Println(err)

	_, err = environment.Call(ctx, "forever")
	var failed *lisp.Error
	fmt.Println(errors.As(err, &failed) && failed.Limit(), failed.Message)
	// Output:
	// ((:C0 :C1 :C2 :C3) 126) <nil>
	// program.lisp:3:41: The value "seven" is not of type NUMBER. (in QUOTE-FOR: (GEOMETRY:AREA WIDTH :HEIGHT HEIGHT))
	// true the limit of 1000000 steps is exceeded
}
