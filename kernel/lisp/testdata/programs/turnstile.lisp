;; A state machine over a table of transitions, with a log.
(defstruct (machine (:constructor make-machine (start transitions)))
  start transitions (state start) (log '()) (coins 0 :type integer))

(defstruct (transition (:type list)) from event to action)

(defparameter *turnstile*
  (list (make-transition :from :locked :event :coin :to :unlocked
                         :action (lambda (m) (incf (machine-coins m))))
        (make-transition :from :locked :event :push :to :locked :action nil)
        (make-transition :from :unlocked :event :push :to :locked :action nil)
        (make-transition :from :unlocked :event :coin :to :unlocked
                         :action (lambda (m) (incf (machine-coins m)) :thanks))))

(define-condition no-transition (error)
  ((state :initarg :state :reader state-of) (event :initarg :event :reader event-of))
  (:report (lambda (c s) (format s "nothing happens to ~(~a~) on ~(~a~)" (state-of c) (event-of c)))))

(defun fire (machine event)
  (let ((transition (find-if (lambda (x) (and (eq (transition-from x) (machine-state machine))
                                              (eq (transition-event x) event)))
                             (machine-transitions machine))))
    (restart-case
        (unless transition (error 'no-transition :state (machine-state machine) :event event))
      (ignore-event () :report "Stay." (return-from fire (machine-state machine)))
      (go-to (state) :report "Go to another state." (setf (machine-state machine) state)
        (return-from fire state)))
    (let ((result (and (transition-action transition) (funcall (transition-action transition) machine))))
      (push (list (machine-state machine) event (transition-to transition) result) (machine-log machine))
      (setf (machine-state machine) (transition-to transition)))))

(defun run (machine events) (mapcar (lambda (e) (fire machine e)) events))

(let ((m (make-machine :locked *turnstile*)))
  (print (run m '(:push :coin :coin :push :push)))
  (print (reverse (machine-log m)))
  (print (machine-coins m))
  (print (handler-case (fire m :kick) (no-transition (c) (princ-to-string c))))
  (print (handler-bind ((no-transition (lambda (c) (declare (ignore c)) (invoke-restart 'ignore-event))))
           (run m '(:kick :coin))))
  (print (handler-bind ((no-transition (lambda (c) (when (eq (event-of c) :reset) (invoke-restart 'go-to (machine-start m))))))
           (list (machine-state m) (fire m :reset) (machine-state m))))
  (print (handler-bind ((error (lambda (c) (format t "~&seen: ~a" c))))
           (ignore-errors (fire m :melt))))
  (terpri))
