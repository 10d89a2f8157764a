;;;; Prints how many seconds (fib 25) takes, compiled, a number a line.

(defun fib (n)
  (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(compile 'fib)

;; The clock may be a coarse one: many calls are timed together.
(dotimes (i 15)
  (let ((began (get-internal-real-time)))
    (dotimes (j 50)
      (assert (= (fib 25) 75025)))
    (format t "~F~%" (/ (- (get-internal-real-time) began)
                        (* 50d0 internal-time-units-per-second)))))
