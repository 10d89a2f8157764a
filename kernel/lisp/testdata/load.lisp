;; Loads the file that the command line names, for the test of whole programs: standard
;; output is what the program prints. Libraries it names are loaded first, quietly.
(setf *print-pretty* nil)
(declaim (sb-ext:muffle-conditions warning sb-ext:compiler-note))
(let ((file (second sb-ext:*posix-argv*)))
  (with-open-file (in file)
    (when (loop for line = (read-line in nil) while line thereis (search "ppcre:" line))
      (require :asdf)
      (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
        (funcall (intern "LOAD-SYSTEM" :asdf) :cl-ppcre))))
  (let ((*package* (make-package "PROGRAM" :use '(:common-lisp))))
    (load file)))
