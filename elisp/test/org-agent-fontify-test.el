;;; org-agent-fontify-test.el --- Tests of how what is written looks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Text that streams into a window is highlighted line by line, and in the
;; end as font lock does it.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-fontify)
(require 'org-agent-heading)

(defmacro org-agent-fontify-test--shown (&rest body)
  "Run BODY in a conversation that a window shows, with font lock on."
  (declare (indent 0) (debug t))
  `(org-agent-fake-with-chat
     (save-window-excursion
       (delete-other-windows)
       (switch-to-buffer "*org-agent-chat*")
       (let ((noninteractive nil)) (font-lock-mode 1))
       (should jit-lock-mode)
       ,@body)))

(defconst org-agent-fontify-test--answer
  (concat "** Title :agent:\n:PROPERTIES:\n:ID: a1\n:END:\n"
          "\nSome *bold* and =verbatim= text, see [[https://x.org/y][this]].\n"
          "In two *lines\nit* is, *so\nit* may not*be.\n- a /slanted/ word\n- [fn:1] and _more_\n*** Next\n"
          "#+begin_quote\nHe said *no*.\n#+end_quote\n"
          "#+begin_src emacs-lisp\n(defun f (x) \"doc\" (let ((y x)) y))\n"
          ";; a remark\n#+end_src\n#+begin_example\nplain\n#+end_example\n"
          "| a | *b* |\n|---+-----|\nlast *line*\n")
  "An answer with much to highlight.")

(defun org-agent-fontify-test--looks (beg end)
  "Return how the text from BEG to END looks, a list for each character."
  (mapcar (lambda (position)
            (list (char-after position)
                  (get-text-property position 'face)
                  (get-text-property position 'invisible)))
          (number-sequence beg (1- end))))

(defun org-agent-fontify-test--reference (beg end &optional until)
  "Return how font lock would have the buffer's text from BEG to END.
With UNTIL, that is without the text from END to UNTIL."
  (let ((text (buffer-substring-no-properties (point-min) (point-max))))
    (with-temp-buffer
      (insert text)
      (when until (delete-region end until))
      (org-agent-chat-mode)
      (font-lock-ensure)
      (org-agent-fontify-test--looks beg end))))

(defun org-agent-fontify-test--preview ()
  "Return the only preview."
  (cdar org-agent-answer-previews))

(defun org-agent-fontify-test--finished ()
  "Return where the lines begin and end that are to be highlighted."
  (let* ((preview (org-agent-fontify-test--preview))
         (beg (marker-position (org-agent-answer-partial-beg preview)))
         (line (marker-position (org-agent-answer-partial-line preview))))
    (cons beg (if (org-agent-inert-state-block (org-agent-answer-partial-state preview))
                  (save-excursion
                    (goto-char line)
                    (re-search-backward "^#\\+begin_"))
                line))))

(defun org-agent-fontify-test--late ()
  "Return the timer that will highlight what came too fast, or nil."
  (org-agent-fontify-progress-late
   (org-agent-answer-partial-fontified (org-agent-fontify-test--preview))))

(defun org-agent-fontify-test--breathe ()
  "Let the while pass after which what came too fast is highlighted."
  (let ((timer (org-agent-fontify-test--late)))
    (should (memq timer timer-list))
    (cancel-timer timer)
    (setf (org-agent-fontify-progress-came
           (org-agent-answer-partial-fontified (org-agent-fontify-test--preview)))
          0)
    (apply (timer--function timer) (timer--args timer))))

(ert-deftest org-agent-fontify-fast-text-waits ()
  "Highlighting waits while text arrives too fast to be read."
  (org-agent-fontify-test--shown
    (let ((question (org-agent-fake-say "Hello"))
          (line "Some *bold* words.\n") (offset 0) (calls 0))
      (cl-labels ((come (text)
                    (org-agent-fake-delta question "a1" offset text)
                    (cl-incf offset (length text))
                    (org-agent-fake-settle))
                  (looks-right ()
                    (pcase-let ((`(,beg . ,end) (org-agent-fontify-test--finished)))
                      (equal (org-agent-fontify-test--looks beg end)
                             (org-agent-fontify-test--reference beg end))))
                  (many () (apply #'concat (make-list 10 line))))
        (cl-letf* ((fontify (symbol-function 'font-lock-fontify-region))
                   ((symbol-function 'font-lock-fontify-region)
                    (lambda (&rest arguments)
                      (when (eq (current-buffer) (get-buffer "*org-agent-chat*"))
                        (cl-incf calls))
                      (apply fontify arguments))))
          (come "** Title\n")
          (setq calls 0)
          (dotimes (_ 5) (come (many)))
          (should (zerop calls))
          ;; Nobody sees that.
          (should (looks-right))
          (come line)
          (should (= calls 1))
          (should-not (org-agent-fontify-test--late))
          (should (looks-right))
          (come (many))
          ;; Text that came since the timer was set makes it wait again.
          (let ((timer (org-agent-fontify-test--late)) (before calls))
            (come (many))
            (should (eq (org-agent-fontify-test--late) timer))
            (cancel-timer timer)
            (apply (timer--function timer) (timer--args timer))
            (should (= calls before))
            (should-not (eq (org-agent-fontify-test--late) timer)))
          (let ((point (goto-char (point-min))))
            (org-agent-fontify-test--breathe)
            (should (= point (point))))
          (should (looks-right))
          ;; Nothing of it is left when the answer is there.
          (come (many))
          (let ((timer (org-agent-fontify-test--late)))
            (should (memq timer timer-list))
            (org-agent-fake-act "a1" question
                                (concat "** Title\n" (many) (many) (many) (many)
                                        (many) line (many) (many) (many)))
            (org-agent-fake-settle)
            (should-not (memq timer timer-list))))))))

(defun org-agent-fontify-test--seen (beg end)
  "Return what one sees from BEG to END: characters with their faces.
Line ends are not compared: they may have the room between turns."
  (cl-loop for position from beg below end
           unless (or (invisible-p position) (eq (char-after position) ?\n))
           collect (cons (char-after position)
                         (delete-dups
                          (sort (cl-set-difference
                                 (flatten-tree (list (get-text-property position 'face)))
                                 '(nil :inherit))
                                #'string<)))))

(ert-deftest org-agent-fontify-sketched ()
  "What is being written looks as it will, before it is highlighted.
So it is within a line, and where text comes too fast to be highlighted."
  (random "sketch")
  (let ((text (concat "** Title :agent:\n:PROPERTIES:\n:ID: a1\n:END:\n"
                      "\nSome *bold* and =verbatim= text, see [[https://x.org/y][this]].\n"
                      "- a /slanted/ word\n- ~code~ and *more of it* so\n*** Next\n"
                      "It * 2 = 4 and 3 * 2, and =a= *b* _c_ [[https://x.org]].\n"
                      "In two *lines\nit* is, and _in\nthree\nlines_ not; *nor\nhere*x or =so\nhere= and ~in\nthe~ list:\n"
                      "- *one\n- two* and\n"
                      "**** Below\n"
                      "#+begin_example\n* no *head* line\n#+end_example\n"
                      "Said *no*.\n#+begin_src text\nplain *text*\n,* and\n#+end_src\nlast *line*\n")))
    (dolist (longest '(10 30 60 150 150 400))
      (org-agent-fontify-test--shown
        (let ((question (org-agent-fake-say "Hello"))
              (offset 0))
          (while (< offset (length text))
            ;; The kernel sends the properties with the heading.
            (let ((n (if (zerop offset)
                         (string-search "\nSome" text)
                       (min (+ (max 1 (/ longest 5)) (random longest))
                            (- (length text) offset)))))
              (org-agent-fake-delta question "a1" offset
                                    (substring text offset (+ offset n)))
              (setq offset (+ offset n))
              (org-agent-fake-settle)
              (let* ((preview (org-agent-fontify-test--preview))
                     (beg (marker-position (org-agent-answer-partial-beg preview)))
                     (end (marker-position (org-agent-answer-partial-end preview))))
                (unless (or (org-agent-inert-state-block
                             (org-agent-answer-partial-state preview))
                            ;; The beginning of such a line is not shown.  What
                            ;; may end an emphasis is waited for, and what may be one
                            ;; looks like that.
                            (save-excursion (goto-char end)
                                            (forward-line -1)
                                            (looking-at-p "[^\n]*[*/_=~]$\\|\\(?:[^\n]* \\)?[*_=~][^ *_=~/\n][^\n]*$\\|#\\(?:\\+\\|$\\)\\|.*\\[[^]\n]*]?[^]\n]*\\(?:\\[[^]\n]*]?\\)?$")))
                  (should
                   (equal (org-agent-fontify-test--seen beg end)
                          (let ((copy (buffer-substring-no-properties (point-min) (point-max))))
                            (with-temp-buffer
                              (insert copy)
                              (org-agent-chat-mode)
                              (font-lock-ensure)
                              (org-agent-fontify-test--seen beg end)))))))))
          (org-agent-fake-act "a1" question text)
          (let* ((beg (org-agent-heading-find "a1"))
                 (end (org-agent-heading-subtree-end beg)))
            (jit-lock-fontify-now beg end)
            (should (equal (org-agent-fontify-test--looks beg end)
                           (org-agent-fontify-test--reference beg end)))))))))

(ert-deftest org-agent-fontify-sketch-of-an-emphasis ()
  "The marker of an emphasis is not seen while that is being written.
What is none, or has many words, is seen as it is."
  (pcase-dolist (`(,text ,seen ,face)
                 '(("Here is *" "Here is ") ("Here is *b" "Here is b" bold)
                   ("*bold wo" "bold wo" bold) ("(=code" "(code" org-verbatim)
                   ("a *bold* and ~c" "a bold and c" org-code) ("- _under" "- under" underline)
                   ("2 * 3" "2 * 3") ("in ~/.emacs" "in ~/.emacs") ("in /usr" "in /usr")
                   ("a*b" "a*b") ("| *b" "| *b") ("a == b" "a == b")
                   ("\n* Head *o" "\n* Head o")
                   ("all *of them, of which there are more than anybody would have set in bold at once"
                    "all *of them, of which there are more than anybody would have set in bold at once")))
    (with-temp-buffer
      (insert text "\n")
      (let ((org-inhibit-startup t)) (org-agent-chat-mode))
      (setq-local org-hide-emphasis-markers t)
      (org-agent-fontify-sketch 1 1 1 (point-max))
      (should (equal (apply #'string (mapcar #'car (org-agent-fontify-test--seen 1 (point-max))))
                     (string-remove-prefix "* " (string-trim-left seen "\n"))))
      (when face
        (should (memq face (ensure-list (get-text-property (- (point-max) 2) 'face))))))))

(ert-deftest org-agent-fontify-sketch-of-a-block ()
  "Marks of a block are not seen while they come, and code is not marked up."
  (org-agent-fontify-test--shown
    (let ((question (org-agent-fake-say "Hello"))
          (text "** T :agent:\n:PROPERTIES:\n:ID: a1\n:END:\nSee:\n#+begin_src sh\necho *a* [[b]]\n#+end_src\nSo *it* is\n#+begin_quote\nHe *did*.\n#+end_quote\n")
          (seen nil))
      (dotimes (offset (length text))
        (org-agent-fake-delta question "a1" offset (substring text offset (1+ offset)))
        (org-agent-fake-wait
         (and org-agent-answer-previews
              (= (org-agent-answer-partial-received (org-agent-fontify-test--preview))
                 (1+ offset))))
        (let* ((preview (org-agent-fontify-test--preview))
               (beg (marker-position (org-agent-answer-partial-beg preview))))
          (push (cl-loop for position from beg below (org-agent-answer-partial-end preview)
                         unless (invisible-p position)
                         concat (string (char-after position)))
                seen)))
      (let ((latest (cl-remove-if-not (lambda (page) (string-search "See:" page)) seen)))
        (should (> (length latest) 80))
        (dolist (page latest)
          ;; A sign alone may be anything.
          (should-not (string-match-p "#\\+[a-z]\\|_src\\|_quote" page)))
        (should (cl-some (lambda (page) (string-suffix-p "echo *a* [[b]]\n" page)) latest))
        (should (cl-some (lambda (page) (string-suffix-p "echo *a* [[b]]\nSo it is\n" page)) latest))
        (should (string-suffix-p "echo *a* [[b]]\nSo it is\nHe did.\n" (car latest)))))))

(ert-deftest org-agent-fontify-line-by-line ()
  "A finished line is highlighted the same way however the text was cut."
  (random "fontify")
  (dolist (longest '(15 60 60 150 150 400 400))
    (org-agent-fontify-test--shown
      (let ((question (org-agent-fake-say "Hello"))
            (text org-agent-fontify-test--answer)
            (offset 0))
        (while (< offset (length text))
          (let ((n (min (+ (max 1 (/ longest 5)) (random longest))
                        (- (length text) offset))))
            (org-agent-fake-delta question "a1" offset
                                  (substring text offset (+ offset n)))
            (setq offset (+ offset n))
            (org-agent-fake-settle)
            ;; How an answer begins is highlighted at once.
            (when (and (> n org-agent-fontify-fast) (> offset n))
              (org-agent-fontify-test--breathe))
            (pcase-let ((`(,beg . ,end) (org-agent-fontify-test--finished)))
              ;; How a row of a table looks depends on the line below it,
              ;; and that may have begun since the row was highlighted.  The
              ;; first line of a quotation is hidden before there is its last.
              (unless (save-excursion
                        (goto-char end)
                        (and (re-search-backward "^#\\+\\(begin\\|end\\)_quote" beg t)
                             (equal (match-string 1) "begin")))
               (should (member (org-agent-fontify-test--looks beg end)
                              (list (org-agent-fontify-test--reference beg end)
                                    (org-agent-fontify-test--reference
                                     beg end
                                     (marker-position
                                      (org-agent-answer-partial-end
                                       (org-agent-fontify-test--preview))))))))
              ;; Nothing is left to be done when it is drawn.
              (should-not (text-property-not-all
                           beg (org-agent-answer-partial-end
                                (org-agent-fontify-test--preview))
                           'fontified t)))))
        (org-agent-fake-act "a1" question text)
        (let* ((beg (org-agent-heading-find "a1"))
               (end (org-agent-heading-subtree-end beg)))
          (should-not (text-property-not-all beg end 'fontified nil))
          (jit-lock-fontify-now beg end)
          (should (equal (org-agent-fontify-test--looks beg end)
                         (org-agent-fontify-test--reference beg end))))))))

(ert-deftest org-agent-fontify-long-block ()
  "A long block is highlighted while it streams in, in linear time."
  (org-agent-fontify-test--shown
    (let ((question (org-agent-fake-say "Hello"))
          (line "(defun f (x) (list x \"and\" x)) ; and so on\n")
          (offset 0) (work 0) early)
      (cl-letf* ((fontify (symbol-function 'font-lock-fontify-region))
                 ((symbol-function 'font-lock-fontify-region)
                  (lambda (beg end &rest more)
                    (when (eq (current-buffer) (get-buffer "*org-agent-chat*"))
                      (cl-incf work (- end beg)))
                    (apply fontify beg end more))))
        (org-agent-fake-delta question "a1" 0 "** T\n#+begin_src emacs-lisp\n")
        (setq offset 28)
        (dotimes (i 300)
          (org-agent-fake-delta question "a1" offset line)
          (cl-incf offset (length line))
          (when (= i 60)
            (org-agent-fake-settle)
            (setq early (save-excursion
                          (goto-char (point-min))
                          (search-forward "(defun")
                          (get-text-property (1- (point)) 'face)))))
        (org-agent-fake-settle)
        (should (memq 'font-lock-keyword-face (ensure-list early)))
        (should (< 0 work (* 4 offset)))))))

(ert-deftest org-agent-fontify-rule-that-fails ()
  "A rule of the user that fails stops nothing."
  (org-agent-fontify-test--shown
    (let ((question (org-agent-fake-say "Hello")))
      (font-lock-add-keywords nil '(((lambda (_limit) (error "No"))) ))
      (org-agent-fake-delta question "a1" 0 "** Title\nsome\n")
      (org-agent-fake-delta question "a1" 14 "more\n")
      (org-agent-fake-settle)
      (should (string-match-p "^\\*\\* Title\nsome\nmore\n" (buffer-string)))
      (org-agent-fake-act "a1" question "** Title\nsome\nmore\n")
      (should (equal (org-agent-fake-text) (org-agent-fake-file-text))))))

(ert-deftest org-agent-fontify-unseen-is-left-alone ()
  "Text that no window shows is left to font lock."
  (org-agent-fontify-test--shown
    (let ((question (org-agent-fake-say "Hello")))
      (switch-to-buffer "*scratch*")
      (with-current-buffer "*org-agent-chat*"
        (org-agent-fake-delta question "a1" 0 "** Title\nsome *bold*\n")
        (org-agent-fake-settle)
        (let ((beg (org-agent-answer-partial-beg (org-agent-fontify-test--preview))))
          (should-not (text-property-not-all
                       beg (+ beg 20) 'fontified nil))
          ;; Seen from then on.
          (switch-to-buffer "*org-agent-chat*")
          (jit-lock-fontify-now (point-min) (point-max))
          (org-agent-fake-delta question "a1" 21 "and *more*\n")
          (org-agent-fake-settle)
          (pcase-let ((`(,beg . ,end) (org-agent-fontify-test--finished)))
            (should (equal (org-agent-fontify-test--looks beg end)
                           (org-agent-fontify-test--reference beg end)))))))))

(ert-deftest org-agent-fontify-says-nothing ()
  "The mode of a block shows no message in the echo area."
  (org-agent-fake-with-chat
    (let ((said (lambda ()
                  (with-current-buffer (messages-buffer)
                    (how-many "ndent.* shell type" (point-min) (point-max)))))
          (hidden " *org-src-fontification:sh-mode*"))
      (when (get-buffer hidden) (kill-buffer hidden))
      (org-agent-fake-type "a\n#+begin_src sh\nif true; then ls; fi\n#+end_src\n")
      (let ((before (funcall said)))
        (font-lock-ensure)
        (should (get-buffer hidden))
        (goto-char (point-min))
        (search-forward "then")
        (should (get-text-property (1- (point)) 'face))
        (should (= before (funcall said)))))))

(provide 'org-agent-fontify-test)
;;; org-agent-fontify-test.el ends here
