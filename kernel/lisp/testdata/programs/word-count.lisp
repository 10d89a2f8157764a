;; Counts the words of a text and reports the most frequent ones.
(defparameter *text* "The quick brown fox jumps over the lazy dog. The dog sleeps; the fox, being quick, does not.
A fox is a fox is a fox!")

(defun words (text)
  (let ((words '()) (start nil))
    (loop for i from 0 to (length text)
          for letter = (and (< i (length text)) (alpha-char-p (char text i)))
          do (cond ((and letter (null start)) (setf start i))
                   ((and start (not letter))
                    (push (string-downcase (subseq text start i)) words)
                    (setf start nil))))
    (nreverse words)))

(defun frequencies (items &key (test #'equal))
  (let ((table (make-hash-table :test test)))
    (dolist (item items)
      (incf (gethash item table 0)))
    (let ((pairs '()))
      (maphash (lambda (k v) (push (cons k v) pairs)) table)
      (sort pairs (lambda (a b)
                    (or (> (cdr a) (cdr b))
                        (and (= (cdr a) (cdr b)) (string< (car a) (car b)))))))))

(let* ((words (words *text*))
       (pairs (frequencies words))
       (longest (reduce #'max pairs :key (lambda (p) (length (car p))))))
  (format t "~d words, ~d different~%" (length words) (length pairs))
  (loop for (word . n) in pairs
        for rank from 1 to 8
        do (format t "~2d. ~va ~3d ~v@{*~:*~}~%" rank longest word n n nil))
  (format t "longest: ~{~a~^, ~}~%" (remove-if-not (lambda (w) (= (length w) longest)) (mapcar #'car pairs)))
  (format t "by length: ~:{~d:~d~:^ ~}~%"
          (loop for len from 1 to longest
                for n = (count len words :key #'length)
                when (plusp n) collect (list len n))))
