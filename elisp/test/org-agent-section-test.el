;;; org-agent-section-test.el --- Tests of sections  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Random trees become other random trees, and are folded and unfolded
;; meanwhile.  The buffer always shows what a new buffer would show, and
;; point and windows stay at their text.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-list)
(require 'org-agent-policy)
(require 'org-agent-section)
(require 'org-agent-sessions)

(defmacro org-agent-section-test--with (&rest body)
  "Run BODY in a buffer of sections that a window shows."
  (declare (indent 0) (debug t))
  `(save-window-excursion
     (with-temp-buffer
       (org-agent-section-mode)
       (set-window-buffer nil (current-buffer))
       ,@body)))

(defvar org-agent-section-test--state 1
  "The state of `org-agent-section-test--random'.")

(defun org-agent-section-test--random (below)
  "Return a number from 0 up to BELOW, the same ones in every run."
  (setq org-agent-section-test--state
        (% (+ (* 1103515245 org-agent-section-test--state) 12345) 2147483648))
  (% (ash org-agent-section-test--state -8) below))

(defun org-agent-section-test--chance (percent)
  "Return non-nil in PERCENT of a hundred cases."
  (< (org-agent-section-test--random 100) percent))

(defun org-agent-section-test--shuffle (list)
  "Return the elements of LIST in another order."
  (mapcar #'cdr
          (sort (mapcar (lambda (one) (cons (org-agent-section-test--random 1000) one))
                        list)
                #'car-less-than-car)))

(defun org-agent-section-test--describe (depth)
  "Return the description of a random forest of DEPTH.
A description is (TYPE VALUE HEADING BODY FOLDED . CHILDREN); values
repeat now and then."
  (cl-loop repeat (org-agent-section-test--random 4)
           collect (append
                    (list (aref [a b c] (org-agent-section-test--random 3))
                          (org-agent-section-test--random 6)
                          (format "Heading %d" (org-agent-section-test--random 99))
                          (cl-loop repeat (org-agent-section-test--random 4)
                                   concat (format "line %d\n" (org-agent-section-test--random 99)))
                          (org-agent-section-test--chance 30))
                    (and (> depth 1)
                         (org-agent-section-test--describe (1- depth))))))

(defun org-agent-section-test--change (forest)
  "Return FOREST with some of it gone, new, changed and elsewhere."
  (let ((rest (cl-loop for (type value heading body folded . children) in forest
                       unless (org-agent-section-test--chance 15)
                       collect (append
                                (list type value
                                      (if (org-agent-section-test--chance 20)
                                          (concat heading "!")
                                        heading)
                                      (if (org-agent-section-test--chance 20)
                                          (concat body "one more\n")
                                        body)
                                      folded)
                                (org-agent-section-test--change children)))))
    (when (org-agent-section-test--chance 30)
      (setq rest (append (org-agent-section-test--describe 1) rest)))
    (if (org-agent-section-test--chance 20)
        (org-agent-section-test--shuffle rest)
      rest)))

(defun org-agent-section-test--build (forest)
  "Return the sections of FOREST, made anew, the values too."
  (cl-loop for (type value heading body folded . children) in forest
           collect (org-agent-section
                    type (format "%s" value) :heading heading :data heading
                    :body (unless (string-empty-p body)
                            (let ((body body)) (lambda () body)))
                    :children (org-agent-section-test--build children)
                    :folded folded)))

(defun org-agent-section-test--fresh (forest folds)
  "Return the text of FOREST in a new buffer, where FOLDS holds."
  (with-temp-buffer
    (org-agent-section-mode)
    (org-agent-section--prepare)
    (setq org-agent-section--folds (copy-hash-table folds))
    (org-agent-section-show (org-agent-section-test--build forest))
    (buffer-string)))

(defun org-agent-section-test--place (position)
  "Return what POSITION is on: the section, its line there, and the column."
  (save-excursion
    (goto-char position)
    (let ((key (get-text-property (point) 'org-agent-section))
          (column (current-column)) (line 0))
      (forward-line 0)
      (while (and (not (bobp)) (eq key (get-text-property (1- (point)) 'org-agent-section)))
        (forward-line -1)
        (cl-incf line))
      (list key line column))))

(ert-deftest org-agent-section-refresh-is-a-fresh-rendering ()
  "After any change the buffer equals a fresh rendering.
Point, the window and the folds stay with their sections."
  (let ((kept 0) (folded 0))
    (dotimes (seed 40)
      (setq org-agent-section-test--state (1+ seed))
      (org-agent-section-test--with
        (let ((forest (org-agent-section-test--describe 3)))
          (org-agent-section-show (org-agent-section-test--build forest))
          (dotimes (_ 6)
            (goto-char (+ (point-min)
                          (org-agent-section-test--random (1+ (buffer-size)))))
            (when (and (org-agent-section-test--chance 40)
                       (org-agent-section-at-point))
              (ignore-errors (org-agent-section-toggle)))
            (goto-char (+ (point-min)
                          (org-agent-section-test--random (1+ (buffer-size)))))
            (set-window-start nil (save-excursion
                                    (forward-line (- (org-agent-section-test--random 3)))
                                    (line-beginning-position))
                              t)
            (let* ((place (org-agent-section-test--place (point)))
                   (start (org-agent-section-test--place (window-start)))
                   (texts (cl-loop for section in org-agent-section--shown
                                   collect (cons (org-agent-section-key section)
                                                 (org-agent-section-text section))))
                   (states (copy-hash-table org-agent-section--folds)))
              (setq forest (org-agent-section-test--change forest))
              (org-agent-section-show (org-agent-section-test--build forest))
              (ert-info ((format "seed %d\n%s" seed (buffer-string)))
                (should (equal-including-properties
                         (substring-no-properties (buffer-string))
                         (substring-no-properties
                          (org-agent-section-test--fresh forest org-agent-section--folds))))
                (should (cl-every (lambda (section)
                                    (equal (buffer-substring-no-properties
                                            (org-agent-section-start section)
                                            (+ (org-agent-section-start section)
                                               (length (org-agent-section-text section))))
                                           (substring-no-properties
                                            (org-agent-section-text section))))
                                  org-agent-section--shown))
                ;; What was folded is, and what was not is not.
                (maphash (lambda (key state)
                           (when-let* ((section (gethash key org-agent-section--table)))
                             (cl-incf folded)
                             (should (eq (and state (org-agent-section--foldable-p section) t)
                                         (and (org-agent-section--folded-p section) t)))))
                         states)
                (should (= (point) (window-point)))
                (pcase-dolist (`(,was . ,now)
                               (list (cons place (point))
                                     (cons start (window-start))))
                  (when-let* ((section (gethash (car was) org-agent-section--table)))
                    (let ((new (org-agent-section-test--place now)))
                      (should (equal (car was) (car new)))
                      ;; The same line where the text is the same.
                      (when (equal (cdr (assoc (car was) texts))
                                   (org-agent-section-text section))
                        (cl-incf kept)
                        (should (equal was new))))))))))))
    (should (> kept 150))
    (should (> folded 500))))

(defun org-agent-section-test--numbers (&rest numbers)
  "Return sections named by NUMBERS, each with a body."
  (mapcar (lambda (number)
            (org-agent-section 'number number :heading (format "Number %d" number)
                               :data number :body (format "about %d\nmore\n" number)))
          numbers))

(ert-deftest org-agent-section-changes-only-what-differs ()
  "The text of a section that stays is not touched."
  (org-agent-section-test--with
    (let (changes)
      (cl-flet ((show (&rest numbers)
                  (with-silent-modifications
                    (put-text-property (point-min) (point-max) 'stays t))
                  (org-agent-section-show
                   (apply #'org-agent-section-test--numbers numbers))
                  (setq changes nil)
                  (save-excursion
                    (goto-char (point-min))
                    (while (re-search-forward "^▾ .*" nil t)
                      (unless (get-text-property (match-beginning 0) 'stays)
                        (push (match-string-no-properties 0) changes))))))
        (show 1 2 3 4)
        (should (= 4 (length changes)))
        (show 1 2 3 4)
        (should-not changes)
        (show 1 3 4 5)
        (should (equal changes '("▾ Number 5")))
        ;; The last comes first, and the first last.
        (show 5 1 3 4)
        (should (equal changes '("▾ Number 5")))
        (show 1 3 4 5)
        (should (equal changes '("▾ Number 5")))
        (show)
        (should (equal (buffer-string) ""))))))

(ert-deftest org-agent-section-follows-what-is-gone ()
  "Point goes to the section after a deleted one, or to the last."
  (org-agent-section-test--with
    (org-agent-section-show (org-agent-section-test--numbers 1 2 3))
    (should (looking-at "▾ Number 1"))
    (search-forward "about 2")
    (org-agent-section-show (org-agent-section-test--numbers 1 3))
    (should (looking-at "▾ Number 3"))
    (org-agent-section-show (org-agent-section-test--numbers 1))
    (should (looking-at "▾ Number 1")))
  (org-agent-section-test--with
    (org-agent-section-show (org-agent-section-test--family "A" "B" "C"))
    (search-forward "B")
    (org-agent-section-show (org-agent-section-test--family "A" "C"))
    (should (equal "C" (org-agent-section-data-at-point 'child)))
    (org-agent-section-show (org-agent-section-test--family))
    (should (looking-at "▾ Family"))))

(defun org-agent-section-test--family (&rest names)
  "Return a section with a child for each of NAMES."
  (list (org-agent-section
         'family "f" :heading "Family" :body "of them\n"
         :children (mapcar (lambda (name)
                             (org-agent-section 'child name :heading name :data name))
                           names))
        (org-agent-section nil "end" :heading "That is all")))

(ert-deftest org-agent-section-commands-move-and-fold ()
  "The keys move to sections and fold them, in every window."
  (org-agent-section-test--with
    (org-agent-section-show (org-agent-section-test--family "A" "B"))
    (should (equal (substring-no-properties (buffer-string))
                   "▾ Family\n    of them\n    A\n    B\n  That is all\n"))
    (let ((other (split-window)))
      (call-interactively (key-binding (kbd "n")))
      (call-interactively (key-binding (kbd "n")))
      (should (equal "B" (org-agent-section-data-at-point 'child)))
      ;; Text is no section.
      (should-error (org-agent-section-next) :type 'user-error)
      (set-window-point other (point))
      (org-agent-section-previous)
      (should (equal "A" (org-agent-section-data-at-point 'child)))
      (should-not (org-agent-section-data-at-point 'family))
      (should (equal "f" (org-agent-section-value (org-agent-section-at-point 'family))))
      (org-agent-section-up)
      (should (looking-at "▾ Family"))
      (should-error (org-agent-section-up) :type 'user-error)
      (should-error (org-agent-section-previous) :type 'user-error)
      (call-interactively (key-binding (kbd "TAB")))
      (should (equal (substring-no-properties (buffer-string))
                     "▸ Family\n  That is all\n"))
      (should (= (window-point other) (point-min)))
      ;; It stays folded, whatever it becomes.
      (org-agent-section-show (org-agent-section-test--family "A" "B" "C"))
      (should (equal (substring-no-properties (buffer-string))
                     "▸ Family\n  That is all\n"))
      (org-agent-section-toggle-all)
      (should (string-match-p "^    C$" (buffer-string)))
      (goto-char (point-max))
      (org-agent-section-toggle-all)
      (should (string-match-p "\\`▸" (buffer-string))))))

(ert-deftest org-agent-section-body-is-lazy ()
  "The body of a folded section is not computed."
  (org-agent-section-test--with
    (let* ((made 0)
           (sections (lambda ()
                       (list (org-agent-section 'a 1 :heading "A" :folded t
                                                :body (lambda ()
                                                        (cl-incf made) "x\n"))))))
      (org-agent-section-show (funcall sections))
      (org-agent-section-show (funcall sections))
      (should (= made 0))
      (org-agent-section-toggle)
      (should (= made 1))
      (should (string-match-p "^    x$" (buffer-string))))))

(defvar org-agent-section-test--map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "k") #'ignore)
    map)
  "The keys of the type that is tested.")

(cl-defmethod org-agent-section-keymap ((_type (eql 'org-agent-section-test)))
  "Return the map of the test."
  org-agent-section-test--map)

(cl-defmethod org-agent-section-hint ((_type (eql 'org-agent-section-test)))
  "Return the key of the test."
  "\\<org-agent-section-test--map>\\[ignore] 100%")

(ert-deftest org-agent-section-types-have-keys ()
  "The keys of a type work on its sections, and the header line shows them."
  (org-agent-section-test--with
    (let (pressed)
      (org-agent-section-show
       (list (org-agent-section
              'org-agent-section-test 1 :heading "A"
              :body (concat "go "
                            (make-text-button
                             (copy-sequence "there") nil
                             'action (lambda (_) (setq pressed t)))))
             (org-agent-section 'other 1 :heading "B")))
      (should (eq (key-binding (kbd "k")) 'ignore))
      (should (string-match-p "k 100%%.*TAB fold.*g revert.*q quit.*[?] describe"
                              (substring-no-properties (org-agent-section--header))))
      (call-interactively (key-binding (kbd "M-n")))
      (should (looking-at "there"))
      (should (eq (key-binding (kbd "k")) 'ignore))
      (call-interactively (key-binding (kbd "RET")))
      (should pressed)
      (org-agent-section-next)
      (should-not (eq (key-binding (kbd "k")) 'ignore))
      (should-not (string-match-p "100" (org-agent-section--header))))))

(ert-deftest org-agent-section-outside-of-a-tree ()
  "A section that is inserted elsewhere is found there, unfolded."
  (with-temp-buffer
    (insert "before\n")
    (org-agent-section-insert
     (org-agent-section 'a 1 :heading "A" :data 'one :body "x\n" :folded t))
    (org-agent-section-insert (org-agent-section 'a 2 :heading "B" :data 'two))
    (insert "after\n")
    (should (equal (substring-no-properties (buffer-string))
                   "before\n▾ A\n    x\n  B\nafter\n"))
    (goto-char (point-min))
    (should-not (org-agent-section-at-point))
    (org-agent-section-next)
    (should (eq 'one (org-agent-section-data-at-point 'a)))
    (org-agent-section-next)
    (should (eq 'two (org-agent-section-data-at-point 'a)))
    (should-error (org-agent-section-next) :type 'user-error)))

;;;; Buffers that are one text

(ert-deftest org-agent-section-replaces-a-text ()
  "Only differing lines are changed, and the visible text stays."
  (save-window-excursion
    (with-temp-buffer
      (set-window-buffer nil (current-buffer))
      (let ((line (lambda (n) (format "line %d\n" n)))
            changes)
        (add-hook 'after-change-functions
                  (lambda (beg end _) (push (buffer-substring beg end) changes)) nil t)
        (org-agent-section-replace-text (mapconcat line (number-sequence 1 200) ""))
        (setq changes nil)
        (goto-char (point-min))
        (search-forward "line 150")
        (set-window-point nil (point))
        (let ((before (copy-marker (point-min))) (start (make-marker)))
          (goto-char (point-min))
          (search-forward "line 140")
          (set-marker start (line-beginning-position))
          (set-window-start nil start t)
          (search-forward "line 150")
          ;; Above: what is looked at moves down with its text.
          (org-agent-section-replace-text
           (concat "a new one\n" (mapconcat line (number-sequence 1 200) "")))
          (should (equal (delete "" changes) '("a new one\n")))
          (should (looking-back "^line 150" (line-beginning-position)))
          (should (= (window-point) (point)))
          (should (= (window-start) start))
          (should (= before (point-min)))
          ;; Its own line: point is on the line in its place.
          (setq changes nil)
          (org-agent-section-replace-text
           (concat "a new one\n" (mapconcat line (number-sequence 1 149) "")
                   "another\n" (mapconcat line (number-sequence 151 200) "")))
          (should (equal (delete "" changes) '("another\n")))
          (should (looking-back "^another" (line-beginning-position)))
          ;; Nothing: nothing.
          (put-text-property 1 5 'fontified t)
          (setq changes nil)
          (org-agent-section-replace-text (substring-no-properties (buffer-string)))
          (should-not (delete "" changes))
          ;; Properties count, and a text that ends is ended.
          (org-agent-section-replace-text
           (concat "a new one\n" (propertize "line 1\n" 'face 'bold)))
          (should (eq 'bold (get-text-property 12 'face)))
          (should (= (point) (point-max))))))))

(ert-deftest org-agent-section-replaces-random-texts ()
  "Any text is replaced as if the buffer were empty."
  (with-temp-buffer
    (dotimes (_ 300)
      (let ((text (cl-loop repeat (org-agent-section-test--random 8)
                           concat (propertize
                                   (nth (org-agent-section-test--random 4)
                                        '("one\n" "two\n" "\n" "three"))
                                   'face (aref [bold italic] (org-agent-section-test--random 2))))))
        (goto-char (1+ (org-agent-section-test--random (1+ (buffer-size)))))
        (org-agent-section-replace-text text)
        (should (equal-including-properties (buffer-string) text))
        (when (org-agent-section-test--chance 20)
          (goto-char (point-min))
          (insert "by hand"))))))

(ert-deftest org-agent-section-lists-look-alike ()
  "Every list shows the same last keys in 80 columns, and they do the same."
  (pcase-dolist (`(,mode . ,feature)
                 '((org-agent-sessions-mode . org-agent-sessions)
                   (org-agent-search-mode . org-agent-sessions)
                   (org-agent-status-mode . org-agent-status)
                   (org-agent-subagents-mode . org-agent-status)
                   (org-agent-usage-mode . org-agent-explain)
                   (org-agent-doctor-mode . org-agent-doctor)
                   (org-agent-log-mode . org-agent-log)
                   (org-agent-approval-mode . org-agent-approval)
                   (org-agent-memory-mode . org-agent-memory)
                   (org-agent-memory-changes-mode . org-agent-memory)
                   (org-agent-skills-mode . org-agent-skills)
                   (org-agent-policy-mode . org-agent-policy)
                   (org-agent-held-list-mode . org-agent-held)
                   (org-agent-review-mode . org-agent-review)))
    (require feature)
    (with-temp-buffer
      (funcall mode)
      (ert-info ((symbol-name mode))
        (let ((header (substring-no-properties
                       (eval (cadr header-line-format) t))))
          (should (string-suffix-p "g revert  q quit  ? describe" header))
          (should (<= (string-width header) 80)))
        (should (eq (key-binding (kbd "g")) 'revert-buffer))
        (should (eq (key-binding (kbd "q")) 'quit-window))
        (should (eq (key-binding (kbd "?")) 'describe-mode))
        (should-not (memq (key-binding (kbd "RET")) '(newline undefined nil)))))))

(ert-deftest org-agent-section-empty-lists-say-what-to-do ()
  "A list without rows shows a sentence with a key, until it has some."
  (with-temp-buffer
    (org-agent-sessions-mode)
    (org-agent-list-show nil "None.  \\<org-agent-sessions-mode-map>\\[org-agent-sessions-new] makes one.")
    (should (string-match-p "^  None\\. +\\+ makes one\\.$" (buffer-string)))
    (should-not (buffer-modified-p))
    (org-agent-list-show '((a ["a" "1" "" "" ""])) "None.")
    (should-not (string-match-p "None" (buffer-string))))
  (with-temp-buffer
    (org-agent-policy-mode)
    (org-agent-list-show-rows nil "None.")
    (should (string-match-p "^  None\\.$" (buffer-string)))
    ;; The first letter has the face of the others.
    (search-backward "None")
    (should (eq 'shadow (get-text-property (point) 'face)))))

(ert-deftest org-agent-section-lists-are-cut ()
  "Lists are cut at the edge of the window, also where every line is wrapped."
  (let (modes)
    (org-agent-fake-load-all)
    (mapatoms (lambda (symbol)
                (when (and (string-prefix-p "org-agent-" (symbol-name symbol))
                           (get symbol 'derived-mode-parent)
                           (provided-mode-derived-p
                            symbol 'org-agent-list-mode
                            'org-agent-list-sections-mode
                            'org-agent-log-mode 'org-agent-review-mode))
                  (push symbol modes))))
    (should (> (length modes) 10))
    (unwind-protect
        (dolist (wrapped '(t nil))
          (global-visual-line-mode (if wrapped 1 -1))
          (dolist (mode modes)
            (with-temp-buffer
              (funcall mode)
              (should (equal (list mode t nil)
                             (list mode truncate-lines visual-line-mode)))
              ;; Who wants them wrapped can have that.
              (visual-line-mode 1)
              (should-not truncate-lines))))
      (global-visual-line-mode -1))))

(ert-deftest org-agent-section-one-is-not-many ()
  "No text says \"1 turns\": a number before a plural goes through one function."
  (should (equal (mapcar (lambda (count) (org-agent-counted count "turn")) '(0 1 2))
                 '("0 turns" "1 turn" "2 turns")))
  (let (plurals)
    (dolist (file (org-agent-fake-files))
      (with-temp-buffer
        (insert-file-contents (expand-file-name (concat file ".el") org-agent-directory))
        (while (re-search-forward "%d \\(?:more \\)?\\(words\\|lines\\|turns\\|messages\\|models\\|tools\\|results\\|bytes\\|packages\\|headings\\)\\b" nil t)
          (push (cons file (match-string 0)) plurals))))
    (should-not (cl-set-difference
                 plurals
                 ;; Where one is written otherwise, or cannot be.
                 '(("org-agent-speak" . "%d lines") ("org-agent-context" . "%d bytes")
                   ("org-agent-rpc" . "%d bytes") ; a limit
                   ("org-agent-doctor" . "%d packages")) ; hundreds
                 :test #'equal))))

(ert-deftest org-agent-section-messages-break-between-words ()
  "A message that is longer than the echo area is broken between words."
  (let (said noninteractive)
    (cl-letf (((symbol-function 'frame-width) (lambda (&rest _) 32))
              ((symbol-function 'message)
               (lambda (format &rest arguments)
                 (push (apply #'format format arguments) said))))
      (org-agent-say "%s: a short one, 100%%" "org-agent")
      (org-agent-say "org-agent: %s.  %s" "what is wrong with it" "And what to do about it"))
    (should (equal (nreverse said)
                   '("org-agent: a short one, 100%"
                     "org-agent: what is wrong with\nit. And what to do about it")))))

(provide 'org-agent-section-test)
;;; org-agent-section-test.el ends here
