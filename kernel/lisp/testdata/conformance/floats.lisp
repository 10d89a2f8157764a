(multiple-value-list (decode-float 1.0))
(multiple-value-list (decode-float 0.5))
(multiple-value-list (decode-float -3.75))
(multiple-value-list (decode-float 1d0))
(multiple-value-list (decode-float 1d100))
(multiple-value-list (integer-decode-float 1.0))
(multiple-value-list (integer-decode-float -1.5d0))
(multiple-value-list (integer-decode-float 0.1))
(multiple-value-list (integer-decode-float 1e-3))
(scale-float 1.0 3)
(scale-float 1.5d0 -2)
(scale-float 0.0 5)
(float-sign -2.0)
(float-sign 3.0)
(float-sign -0.0)
(float-sign -1.0 5.0)
(float-sign 2d0)
(float-sign -2.0 3d0)
(float-digits 1.0)
(float-digits 1d0)
(float-radix 1.0)
(float-precision 1.0)
(float-precision 1d0)
(float-precision 0.0)
(decode-float 1)
(float-digits 1)
(scale-float 1 2)
0.1
0.2
0.3
0.7
1.1
2.2
3.3
100.0
1000000.0
9999999.0
1.0e7
1.0e8
1.5e-3
0.001
9.999e-4
1e-10
1.17549435e-38
123456.7
0.1d0
0.2d0
0.3d0
1.1d0
1d6
1d7
1d8
1d-3
1d-4
123456789.123d0
1.7976931348623157d308
1e5
1E5
1.e5
1.5e+3
1.5e-3
1f5
1s5
1d5
1l5
-1.5
+1.5
.5
-.5
+.5e2
1.5d+10
12.
-12.
0.0e0
00.5
(+ 0.1 0.2)
(+ 0.1d0 0.2d0)
(* 0.1 3)
(- 0.3 0.1)
(/ 1.0 3)
(/ 1d0 3)
(* 1e20 1e10)
(+ 1e8 1)
(+ 16777216.0 1)
(- 1e8 1e-8)
(sqrt 0.5)
(expt 0.1 2)
(expt 1.1 10)
(* 1e30 1e30)
(* 1d300 1d300)
(expt 10.0 50)
(expt 10d0 400)
(exp 1000)
(/ 1.0 0.0)
(/ 0.0 0.0)
(log 0)
(+ most-positive-single-float most-positive-single-float)
(handler-case (/ 1.0 0) (division-by-zero () :div))
(handler-case (* 1e30 1e30) (floating-point-overflow () :over))
(handler-case (* 1d200 1d200) (arithmetic-error () :arith))
(handler-case (/ 5 0) (arithmetic-error (e) (list (arithmetic-error-operation e) (arithmetic-error-operands e))))
(float 1e10 1d0)
(float 0.1 1d0)
(coerce 0.1d0 'single-float)
(rational 0.1)
(rationalize 0.1)
(= 0.1 1/10)
(= 0.1 0.1d0)
(< 0.1 0.1d0)
(eql 0.1 0.1)
(= 0.5 0.5d0 1/2)
(let ((*read-default-float-format* 'double-float)) (read-from-string "1.5"))
(let ((*read-default-float-format* 'double-float)) (type-of (read-from-string "1e5")))
(let ((*read-default-float-format* 'double-float)) (type-of (read-from-string "1f5")))
(let ((*read-default-float-format* 'single-float)) (type-of (read-from-string "1.5")))
(type-of 1.0)
(type-of 1d0)
(typep 1.0 'single-float)
(typep 1.0 'short-float)
(typep 1d0 'long-float)
(typep 1.0 'double-float)
(typep 1.0 '(float 0 1))
(typep 1.0 '(single-float 0.0 (1.0)))
(floatp 1.5)
(read-from-string "1e400")
(read-from-string "1d400")
(read-from-string "1e39")
(read-from-string "1e38")
(read-from-string "1e-50")
single-float-epsilon
double-float-epsilon
single-float-negative-epsilon
double-float-negative-epsilon
most-negative-double-float
most-positive-short-float
most-positive-long-float
least-positive-normalized-single-float
least-negative-normalized-double-float
pi
(eql most-positive-single-float most-positive-short-float)
most-positive-fixnum
most-negative-fixnum
(list (ffloor 2.5) (fceiling 2.5) (ftruncate -2.5) (fround 2.5) (fround 3.5))
(multiple-value-list (ffloor 5 2))
(multiple-value-list (fround -2.5d0))
(multiple-value-list (ftruncate 7 -2))
(list (round 0.5) (round 1.5) (round -0.5) (round -1.5) (round 2.5d0))
(multiple-value-list (truncate -0.5))
(multiple-value-list (floor 1e-10))
(list (mod 5.5 2) (mod -5.5 2) (rem -5.5 2) (mod 5.5d0 -2))
(list (max 1.0 1d0) (min 1 1.0d0) (max 0.0 -0.0) (abs -0.0d0) (signum -0.5d0) (- 0.0d0))
(list (sin 0.5d0) (cos 0.5d0) (atan 0.5d0) (exp 0.5d0) (log 0.5d0) (sqrt 0.5d0))
(list (sin 0.5) (cos 0.5) (atan 0.5) (exp 0.5) (log 0.5) (tan 0.5))
(list (sinh 0.5) (cosh 0.5) (tanh 0.5) (asin 0.5) (acos 0.5))
(list (atan 1.0 -1.0) (atan -1 1) (atan 0 1) (atan 1 0) (atan -1d0 0))
(list (expt 2.0 0.5) (expt 2.0d0 0.5d0) (expt 0.5 -1) (expt 9.0 1/2) (expt 2 10.0))
