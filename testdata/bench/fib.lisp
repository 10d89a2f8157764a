;;;; Prints how many seconds (fib 25) takes, compiled, a number a line.

(defun fib (n)
  (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(compile 'fib)

(dotimes (i 15)
  (let ((began (get-internal-real-time)))
    (assert (= (fib 25) 75025))
    (format t "~F~%" (/ (- (get-internal-real-time) began)
                        (float internal-time-units-per-second 1d0)))))
