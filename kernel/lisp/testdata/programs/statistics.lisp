;; Loop-heavy statistics over a series of readings.
(defparameter *readings* '(12 15 11 19 25 23 15 8 14 15 31 2 19 20))

(defun mean (xs) (/ (reduce #'+ xs) (length xs)))
(defun median (xs)
  (let* ((sorted (sort (copy-list xs) #'<)) (n (length sorted)))
    (if (oddp n) (nth (floor n 2) sorted) (/ (+ (nth (1- (/ n 2)) sorted) (nth (/ n 2) sorted)) 2))))
(defun variance (xs) (let ((m (mean xs))) (/ (loop for x in xs sum (expt (- x m) 2)) (length xs))))
(defun modes (xs)
  (loop with best = 0 and modes = '()
        for x in (remove-duplicates xs)
        for n = (count x xs)
        do (cond ((> n best) (setf best n modes (list x)))
                 ((= n best) (push x modes)))
        finally (return (values (sort modes #'<) best))))
(defun histogram (xs width)
  (loop with low = (* width (floor (reduce #'min xs) width))
        for from from low to (reduce #'max xs) by width
        for n = (count-if (lambda (x) (and (<= from x) (< x (+ from width)))) xs)
        collect (list from n)))
(defun moving (xs n)
  (loop for tail on xs
        for window = (loop for x in tail repeat n collect x)
        while (= (length window) n)
        collect (mean window)))
(defun runs (xs)
  (loop for (a b) on xs
        when b collect (cond ((< a b) #\/) ((> a b) #\\) (t #\-)) into marks
        finally (return (coerce marks 'string))))

(loop for (name value) in (list (list "mean" (mean *readings*)) (list "median" (median *readings*))
                                (list "variance" (variance *readings*)) (list "spread" (- (reduce #'max *readings*) (reduce #'min *readings*))))
      do (format t "~10a ~10a ~8,3f~%" name value value))
(multiple-value-bind (modes n) (modes *readings*) (format t "modes ~a, ~r time~:*~p each~%" modes n))
(format t "~:{~3d ~v,,,'#<~>~%~}" (loop for (from n) in (histogram *readings* 5) collect (list from n)))
(loop for (from n) in (histogram *readings* 10)
      for total = n then (+ total n)
      do (format t "~3d-~3d ~3d ~3d~%" from (+ from 9) n total))
(print (moving *readings* 3))
(print (runs *readings*))
(print (loop for x in *readings* for i from 0
             maximize x into top minimize x into bottom sum x into sum count (evenp x) into even
             when (> x 20) collect (cons i x) into high
             finally (return (list top bottom sum even high))))
(print (loop for x across (coerce *readings* 'vector) for previous = nil then this for this = x
             when (and previous (> (abs (- this previous)) 10)) collect (list previous this)))
(print (multiple-value-list (round (mean *readings*))))
(print (mapcar (lambda (x) (/ (round (* 100 (/ (- x (mean *readings*)) (sqrt (variance *readings*))))) 100.0)) (subseq *readings* 0 4)))
(print (loop named search for i from 1 do (loop for j from 1 to i when (= (* i j) 42) do (return-from search (list i j)))))
(terpri)
