;; A table of expenses, with totals by category and a bar for each.
(defstruct expense date category amount note)

(defparameter *expenses*
  (list (make-expense :date "2026-11-01" :category :food :amount 1250 :note "market")
        (make-expense :date "2026-11-02" :category :travel :amount 8900 :note "train to Samarkand")
        (make-expense :date "2026-11-02" :category :food :amount 475 :note "tea")
        (make-expense :date "2026-11-05" :category :books :amount 3199 :note nil)
        (make-expense :date "2026-11-09" :category :travel :amount 1100 :note "taxi")
        (make-expense :date "2026-11-09" :category :food :amount 2 :note "a single olive, very expensive")))

(defun money (cents) (format nil "~:d.~2,'0d" (floor cents 100) (mod cents 100)))

(defun group-by (key items)
  (let ((groups '()))
    (dolist (item items (nreverse (mapcar (lambda (g) (cons (car g) (reverse (cdr g)))) groups)))
      (let* ((k (funcall key item)) (group (assoc k groups)))
        (if group (push item (cdr group)) (push (list k item) groups))))))

(defun total (expenses) (reduce #'+ expenses :key #'expense-amount))

(format t "~a~20t~a~32t~10@a  ~a~%" "Date" "Category" "Amount" "Note")
(format t "~60,,,'-a~%" "")
(dolist (e *expenses*)
  (format t "~a~20t~(~a~)~32t~10@a  ~:[-~;~:*~a~]~%"
          (expense-date e) (expense-category e) (money (expense-amount e))
          (let ((note (expense-note e))) (and note (if (> (length note) 18) (concatenate 'string (subseq note 0 17) "~") note)))))
(terpri)
(let* ((groups (group-by #'expense-category *expenses*)) (all (total *expenses*)))
  (loop for (category . items) in (sort (copy-list groups) #'> :key (lambda (g) (total (cdr g))))
        for share = (/ (total items) all)
        do (format t "~10a ~10@a ~5,1f% ~a~%" (string-capitalize category) (money (total items)) (* 100.0 share)
                   (make-string (round (* 20 share)) :initial-element #\#)))
  (format t "~10a ~10@a~%" "Total" (money all)))
(format t "~r expense~:p in ~r categor~:@p~%" (length *expenses*) 1)
