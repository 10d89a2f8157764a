;;; org-agent-terminal-test.el --- Tests in a real terminal  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Windows scroll when Emacs redisplays them, and Emacs in batch mode never
;; does.  So another Emacs runs on a pseudo-terminal with the real kernel.
;; It redisplays, checks, and writes its findings and errors into a file.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-draft)
(require 'org-agent-list)

(defun org-agent-terminal-test--run (form)
  "Evaluate FORM in an Emacs on a terminal and return its value.
An error there is one here."
  (let* ((result (expand-file-name "result.eld" org-agent-fake-directory))
         (process-environment (cons "TERM=xterm" process-environment))
         (screen (generate-new-buffer " *terminal*"))
         (process
          (make-process
           :name "terminal" :buffer screen :noquery t :connection-type 'pty
           :coding 'no-conversion
           :command
           (list (expand-file-name invocation-name invocation-directory)
                 "-Q" "-nw"
                 ;; Its home is empty: it would compile all of Org anew.
                 "--eval" "(setq native-comp-deferred-compilation nil)"
                 "-L" org-agent-directory
                 "-L" (expand-file-name "test" org-agent-directory)
                 "-l" "org-agent-terminal-test" "--eval"
                 (prin1-to-string
                  `(progn
                     (setq org-agent-home ,org-agent-home
                           org-agent-program ,org-agent-program
                           org-agent-fake-directory ,org-agent-fake-directory)
                     (org-agent-terminal-test--begin ,result ',form)))))))
    (set-process-window-size process 50 120)
    (unwind-protect
        (progn
          (org-agent-fake-wait
           (or (file-exists-p result) (not (process-live-p process)))
           (with-current-buffer screen (buffer-string)))
          (pcase (with-temp-buffer
                   (insert-file-contents result)
                   (read (current-buffer)))
            (`(value ,value) value)
            (failure (ert-fail failure))))
      (when (process-live-p process)
        (kill-process process)
        (org-agent-fake-wait (not (process-live-p process))))
      (kill-buffer screen))))

(defun org-agent-terminal-test--begin (result form)
  "Evaluate FORM when Emacs is up; write its value into the file RESULT."
  (run-at-time
   0 nil
   (lambda ()
     (let ((inhibit-message t)
           (value (condition-case err
                      (list 'value (eval form t))
                    (error (list 'failed err)))))
       (write-region (prin1-to-string value) nil (concat result ".new") nil 'silent)
       (rename-file (concat result ".new") result)))))

(defun org-agent-terminal-test--state (windows)
  "Return what WINDOWS show and where their points are, as it is drawn."
  (redisplay t)
  (mapcar (lambda (window)
            (list (window-start window) (window-point window)
                  (window-hscroll window) (window-vscroll window)))
          windows))

(defun org-agent-terminal-test--watch (windows done)
  "Draw until DONE returns non-nil; return each state of WINDOWS that was seen."
  (let ((states (list (org-agent-terminal-test--state windows))) state)
    (while (not (funcall done))
      (accept-process-output nil 0.02)
      (setq state (org-agent-terminal-test--state windows))
      (unless (equal state (car states))
        (push state states)))
    (nreverse states)))

(defun org-agent-terminal-test--read-and-write ()
  "Read and write in two frames while an answer streams in; return a report."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (dotimes (n 3)
    (org-agent-kernel-test--say (format "early %d" n))
    (org-agent-kernel-test--settle (1+ n)))
  (delete-other-windows)
  (let* ((reading (selected-window))
         (writing (split-window))
         (frame (make-frame))
         (elsewhere (frame-selected-window frame)))
    (set-window-buffer elsewhere (current-buffer))
    (set-window-point elsewhere (progn (goto-char (point-min))
                                       (search-forward "early 2") (point)))
    (select-window reading)
    (goto-char (point-min))
    (search-forward "word30 ")
    (recenter 5)
    (select-window writing)
    (org-agent-kernel-test--say "And now?")
    (org-agent-fake-wait (org-agent-chat-get :turn))
    (org-agent-fake-type "my draft")
    (let* ((kill-ring '("kept"))
           (sizes nil)
           (others (list reading elsewhere))
           (states (org-agent-terminal-test--watch
                    others
                    (lambda ()
                      (cl-pushnew (buffer-size) sizes)
                      (and (= 4 (org-agent-kernel-test--answers))
                           (org-agent-kernel-test--idle-p))))))
      (prog1 (list :states (length states)
                   :drawn (mapcar #'window-live-p others)
                   :drawers (and (string-match-p ":THOUGHTS:" (buffer-string)) t)
                   :draft (buffer-substring-no-properties
                           (org-agent-draft-start) (point-max))
                   :follows (= (window-point writing) (point-max))
                   :seen (pos-visible-in-window-p (point-max) writing)
                   :kills kill-ring
                   :undone (org-agent-terminal-test--undo)
                   :streamed (> (length sizes) 3))
        (delete-frame frame)))))

(defun org-agent-terminal-test--undo ()
  "Undo what was typed and then the answer; return what remains each time."
  (let (last-command left)
    (dotimes (_ 2)
      (undo-boundary)
      (undo)
      (setq last-command 'undo)
      (push (list (buffer-substring-no-properties (org-agent-draft-start) (point-max))
                  (org-agent-kernel-test--answers))
            left))
    (nreverse left)))

(ert-deftest org-agent-terminal-two-frames ()
  "Answers, thoughts and drawers arrive while a person reads in two frames.
Their lines do not move, the draft is followed, and undo undoes the typed
text and then the whole answer."
  (org-agent-kernel-test--with
      (append
       (cl-loop repeat 3
                collect (org-agent-kernel-test--exchange
                         (org-agent-kernel-test--envelope
                          (org-agent-kernel-test--long 400))))
       (list (org-agent-kernel-test--exchange
              (org-agent-kernel-test--envelope (org-agent-kernel-test--long 400))
              '(chunk . 25) '(delay . "15ms")
              '(reasoning . "Let me think.\n\nSo it is.")
              '(usage . ((prompt_tokens . 12) (completion_tokens . 3) (cost . 0.25))))))
    (kill-buffer)                       ; the other Emacs keeps the file
    (org-agent-fake-settle)
    (should (equal (org-agent-terminal-test--run
                    '(org-agent-terminal-test--read-and-write))
                   '(:states 1 :drawn (t t) :drawers t :draft "* my draft"
                     :follows t :seen t :kills ("kept")
                     :undone (("* " 4) ("* " 3)) :streamed t)))))

(defun org-agent-terminal-test--cursor ()
  "Return the row in which the cursor is drawn."
  (redisplay t)
  (nth 1 (window-line-height)))

(defun org-agent-terminal-test--command (command)
  "Call COMMAND as a key does."
  (undo-boundary)
  (setq this-command command)
  (call-interactively command)
  (run-hooks 'post-command-hook)
  (setq last-command command))

(defun org-agent-terminal-test--move-and-undo ()
  "Go up from the draft and down, and undo the answer; return a report.
Rows are counted from that of the draft."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (delete-other-windows)
  (redisplay t)
  (org-agent-kernel-test--say "Early")
  (org-agent-fake-wait (= 1 (org-agent-kernel-test--answers)))
  (org-agent-kernel-test--settle 1)
  (goto-char (point-max))
  (let* ((draft (org-agent-terminal-test--cursor))
         (row (lambda () (- (org-agent-terminal-test--cursor) draft))))
    (append
     (list :up (progn (org-agent-terminal-test--command #'previous-line)
                      (funcall row))
           :text (thing-at-point 'line t)
           :further (progn (org-agent-terminal-test--command #'previous-line)
                           (funcall row))
           :down (progn (org-agent-terminal-test--command #'next-line)
                        (org-agent-terminal-test--command #'next-line)
                        (funcall row)))
     (progn
       (org-agent-terminal-test--command #'undo)
       (sit-for 0.1)
       (list :draft (= (point) (point-max))
             :room (let ((drawn (org-agent-terminal-test--cursor)))
                     (redraw-display)
                     (- drawn (org-agent-terminal-test--cursor))))))))

(ert-deftest org-agent-terminal-cursor ()
  "The cursor is on text or in the draft, never on the free line between them.
That holds for moving by lines, and when an answer is undone."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "* Title\nFirst line.\n- second"))
    (kill-buffer)                       ; the other Emacs keeps the file
    (org-agent-fake-settle)
    (should (equal (org-agent-terminal-test--run
                    '(let ((org-agent-fake-timeout 25)) (org-agent-terminal-test--move-and-undo)))
                   '(:up -2 :text "- second\n" :further -3 :down 0
                     :draft t :room 0)))))

(defun org-agent-terminal-test--be-asked ()
  "Be asked in a window of 32 lines; return what it shows of the letter."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (delete-other-windows)
  (split-window nil 32)
  (org-agent-kernel-test--say "Early")
  (org-agent-fake-wait (= 1 (org-agent-kernel-test--answers)))
  (goto-char (point-max))
  (redisplay t)
  (org-agent-kernel-test--say "/capture call Ann by friday #phone")
  (org-agent-fake-wait
   (progn (redisplay t) (bound-and-true-p org-agent-asks-open)))
  (redisplay t)
  (list :letter (pos-visible-in-window-p
                 (save-excursion (goto-char (point-min))
                                 (search-forward "TODO May I")))
        :draft (pos-visible-in-window-p (point-max))
        :point (= (point) (point-max))))

(defun org-agent-terminal-test--look-closely ()
  "Look closely at a letter and quit that; return whether the letter is seen."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (delete-other-windows)
  ;; As on a small terminal: the two share one half.
  (set-window-dedicated-p (split-window nil 30) t)
  (setq split-height-threshold 20)
  (org-agent-kernel-test--say "/capture call Ann by friday #phone")
  (org-agent-fake-wait
   (progn (redisplay t) (bound-and-true-p org-agent-asks-open)))
  (goto-char (point-max))
  (search-backward "look closely")
  (redisplay t)
  (let ((conversation (selected-window))
        (letter (save-excursion (goto-char (point-min))
                                (search-forward "TODO May I")))
        narrow)
    (call-interactively (key-binding "v"))
    (org-agent-fake-wait (progn (redisplay t)
                                (equal (buffer-name) "*org-agent-review*")))
    (setq narrow (pos-visible-in-window-p letter conversation))
    (call-interactively (key-binding "q"))
    (sit-for 0.1)
    (redisplay t)
    (list :beside narrow
          :after (pos-visible-in-window-p letter conversation))))

(defun org-agent-terminal-test--quit-a-list ()
  "Look at a list and quit it; return what was seen of the conversation."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (delete-other-windows)
  (org-agent-kernel-test--say "Say it")
  (org-agent-fake-wait (= 1 (org-agent-kernel-test--answers)))
  (goto-char (point-max))
  (redisplay t)
  (let* ((conversation (selected-window))
         (rows (lambda ()
                 (redisplay t)
                 (count-screen-lines (window-start conversation)
                                     (window-end conversation t)
                                     nil conversation)))
         (before (funcall rows)) (start (window-start)))
    (org-agent-list-open "*some list*" 'org-agent-list-mode #'ignore)
    (redisplay t)
    (let ((beside (funcall rows)))
      (with-current-buffer (window-buffer)
        (call-interactively (key-binding "q")))
      (sit-for 0.1)
      (list :fewer (< beside before)
            :filled (>= (funcall rows) (min before (- (window-body-height) 2)))
            :moved (and (= start (point-min)) (/= start (window-start)))
            :point (= (point) (point-max))))))

(ert-deftest org-agent-terminal-quit-fills-the-window ()
  "When a list is gone, the conversation fills its window again."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (apply #'concat (cl-loop for n below 60 collect (format "- line %d\n" n)))
             (cons 'times -1)))
    (should (equal (org-agent-terminal-test--run
                    '(org-agent-terminal-test--quit-a-list))
                   '(:fewer t :filled t :moved nil :point t)))))

(ert-deftest org-agent-terminal-letter-is-seen-again ()
  "After one has looked closely, the letter is where it was."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "Yes." (cons 'times -1)))
    (should (equal (org-agent-terminal-test--run
                    '(org-agent-terminal-test--look-closely))
                   '(:beside nil :after t)))))

(ert-deftest org-agent-terminal-letter-is-seen-whole ()
  "An approval that comes while point is in the draft is seen from its beginning."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange
             (apply #'concat (cl-loop for n below 30 collect (format "- line %d\n" n)))
             (cons 'times -1)))
    (should (equal (org-agent-terminal-test--run
                    '(org-agent-terminal-test--be-asked))
                   '(:letter t :draft t :point t)))))

(provide 'org-agent-terminal-test)
;;; org-agent-terminal-test.el ends here
