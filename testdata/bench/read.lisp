;;;; Prints how many seconds SBCL's read takes for all forms in a file, a number a line.
;;;;
;;;; Usage: sbcl --script read.lisp FILE

(defvar *text*
  (with-open-file (in (second sb-ext:*posix-argv*))
    (let ((text (make-string (file-length in))))
      (subseq text 0 (read-sequence text in)))))

(dotimes (i 15)
  (let ((began (get-internal-real-time)))
    (with-input-from-string (in *text*)
      (loop until (eq in (read in nil in))))
    (format t "~,6F~%" (/ (- (get-internal-real-time) began) (float internal-time-units-per-second 1d0)))))
