;; Text munging by regular expressions.
(defparameter *log* "2026-11-21 10:02:11 ERROR disk full on /dev/sda1
2026-11-21 10:02:15 INFO  retry 1 of 3
2026-11-21 10:03:40 WARN  slow query: 1532 ms
garbage
2026-11-22 00:00:01 ERROR no route to host 10.0.0.7")

(defun lines (text) (cl-ppcre:split "\\n" text))
(defstruct entry date time level text)
(defun parse-line (line)
  (cl-ppcre:register-groups-bind (date time level text)
      ("^(\\d{4}-\\d\\d-\\d\\d) (\\d\\d:\\d\\d:\\d\\d) (ERROR|WARN|INFO) +(.*)$" line)
    (make-entry :date date :time time :level (intern level :keyword) :text text)))

(let ((entries (remove nil (mapcar #'parse-line (lines *log*)))))
  (print (mapcar #'entry-level entries))
  (print (mapcar (lambda (e) (cl-ppcre:all-matches-as-strings "\\d+" (entry-text e))) entries))
  (print (loop for e in entries when (cl-ppcre:scan "(?i)DISK|query" (entry-text e)) collect (entry-time e))))
(print (cl-ppcre:regex-replace-all "(\\w+)@(\\w+)\\.org" "write to ann@example.org or bob@test.org" "<\\2:\\1>"))
(print (cl-ppcre:regex-replace "\\s+" "  leading" ""))
(print (cl-ppcre:regex-replace-all "[aeiou]" "vowels vanish" (lambda (match &rest more) (declare (ignore more)) (string-upcase match)) :simple-calls t))
(print (multiple-value-list (cl-ppcre:scan "b+" "aabbbcc")))
(print (multiple-value-list (cl-ppcre:scan-to-strings "(\\d+)-(\\d+)" "pages 12-34")))
(print (cl-ppcre:split "\\s*,\\s*" "a , b,c ,  d"))
(print (cl-ppcre:split "(,)" "a,b,c" :with-registers-p t))
(print (cl-ppcre:split "," "a,b,c,d" :limit 2))
(print (cl-ppcre:all-matches "a" "banana"))
(let ((words '()))
  (cl-ppcre:do-matches-as-strings (w "[a-z]+" "one, two; three") (push w words))
  (print (nreverse words)))
(cl-ppcre:do-register-groups (key value) ("(\\w+)=(\\w+)" "a=1 b=2 c=three") (format t "~&~a is ~a" key value))
(print (cl-ppcre:quote-meta-chars "1+1=2?"))
(defun slug (title) (string-trim "-" (cl-ppcre:regex-replace-all "[^a-z0-9]+" (string-downcase title) "-")))
(print (mapcar #'slug '("Hello, World!" "  CL & Org -- together " "2026")))
(defun template (text alist) (cl-ppcre:regex-replace-all "{{(\\w+)}}" text (lambda (m name) (declare (ignore m)) (or (cdr (assoc name alist :test #'string=)) "?")) :simple-calls t))
(print (template "Dear {{name}}, you owe {{sum}} to {{whom}}." '(("name" . "Ann") ("sum" . "12"))))
(let ((scanner (cl-ppcre:create-scanner "^\\*+ (todo|done)" :case-insensitive-mode t :multi-line-mode t)))
  (print (length (cl-ppcre:all-matches scanner (format nil "* TODO a~%** done b~%text~%*** Done c")))))
(terpri)
