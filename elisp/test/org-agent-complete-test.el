;;; org-agent-complete-test.el --- Tests of completion as you type  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real kernel, whose model answers as the test wants: in time, too late,
;; or with hostile text.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'org-agent-kernel-test)
(require 'org-agent-terminal-test)
(require 'org-agent-complete)
(require 'org-agent-draft)
(require 'org-agent-inert)
(require 'org-agent-kernel)

(defun org-agent-complete-test--says (text &rest options)
  "Return an exchange in which a completion is TEXT; see OPTIONS."
  (append (org-agent-kernel-test--exchange text)
          (or options '((times . -1)))))

(defvar org-agent-complete-test--buffer nil
  "The buffer one writes in.")

(defmacro org-agent-complete-test--with (exchanges text mode &rest body)
  "Run BODY in a buffer with TEXT in MODE beside a kernel that says EXCHANGES.
Point is where TEXT has a bar.  The buffer is in the selected window, and
the model is asked only through it."
  (declare (indent 3) (debug t))
  `(org-agent-kernel-test--with ,exchanges
     (let ((org-agent-complete-test--buffer (generate-new-buffer "written"))
           (kill-ring '("mine"))
           (org-agent-complete--rest 0)
           (org-agent-complete--failures 0)
           (org-agent-complete--trouble nil))
       (unwind-protect
           (save-window-excursion
             (switch-to-buffer org-agent-complete-test--buffer)
             (insert ,text)
             (funcall ,mode)
             (goto-char (point-min))
             (when (search-forward "|" nil t)
               (delete-char -1))
             (buffer-enable-undo)
             (setq buffer-undo-list nil)
             ,@body
             (should (equal kill-ring '("mine"))))
         (org-agent-complete--give-up)
         (org-agent-complete-ghost-hide)
         (when (buffer-live-p org-agent-complete-test--buffer)
           (with-current-buffer org-agent-complete-test--buffer
             (set-buffer-modified-p nil))
           (kill-buffer org-agent-complete-test--buffer))))))

(defun org-agent-complete-test--ghost ()
  "Return the ghost that is seen, checked against what is on the screen."
  (let* ((overlays (cl-remove-if-not (lambda (overlay)
                                       (overlay-get overlay 'after-string))
                                     (overlays-in (point-min) (point-max))))
         (shown (mapcar (lambda (overlay) (overlay-get overlay 'after-string))
                        overlays)))
    (should (<= (length overlays) 1))
    (when (and shown (string-prefix-p " \n" (car shown)))
      ;; The blank that the cursor stands on.
      (setq shown (list (substring (car shown) 1))))
    (should (equal (and shown (substring-no-properties (car shown)))
                   (org-agent-complete-ghost-at-point)))
    (when shown
      (should (eq (get-text-property 0 'face (car shown)) 'org-agent-ghost))
      (should (eq (overlay-get (car overlays) 'window) (selected-window))))
    (car (mapcar #'substring-no-properties shown))))

(defun org-agent-complete-test--command (command)
  "Give COMMAND as the command loop does."
  (setq this-command command)
  (run-hooks 'pre-command-hook)
  (unwind-protect (call-interactively command)
    (run-hooks 'post-command-hook)
    (undo-boundary)
    (setq last-command command)))

(defun org-agent-complete-test--type (text)
  "Type TEXT, character by character."
  (dolist (char (append text nil))
    (let ((last-command-event char))
      (org-agent-complete-test--command #'self-insert-command))))

(defun org-agent-complete-test--come ()
  "Wait until what was asked for has come; return the ghost."
  (org-agent-fake-wait (null org-agent-complete--pending) "a completion")
  (org-agent-complete-test--ghost))

(defun org-agent-complete-test--complete ()
  "Complete at point and return the ghost."
  (let ((inhibit-message t)) (org-agent-complete))
  (org-agent-complete-test--come))

(defun org-agent-complete-test--idle ()
  "Let the time pass after which one is asked; return what is asked then."
  (when org-agent-complete--timer
    (let ((timer org-agent-complete--timer))
      (should (member timer timer-idle-list))
      (cancel-timer timer)
      (apply (timer--function timer) (timer--args timer))))
  org-agent-complete--pending)

(defun org-agent-complete-test--sent ()
  "Return what the model was sent, the latest first, decoded."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix))
      (insert-file-contents (expand-file-name "trace" org-agent-fake-directory)))
    (nreverse
     (mapcar (lambda (line)
               (let ((json-object-type 'alist))
                 (mapconcat (lambda (message) (alist-get 'content message))
                            (alist-get 'messages (json-read-from-string line))
                            "\n")))
             (split-string (buffer-string) "\n" t)))))

;;;; What is seen, and what comes in

(ert-deftest org-agent-complete-shows-and-accepts ()
  "A proposal is displayed and not inserted; accepting it is one undo step."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says " brown fox\njumps 世界"))
      "The quick| and slow\nmore\n" #'text-mode
    (let ((text (buffer-string)) (point (point)) (start (window-start)))
      (should (equal (org-agent-complete-test--complete) " brown fox\njumps 世界"))
      (should (equal (buffer-string) text))
      (should (equal (buffer-substring (point-min) (point-max)) text))
      (should (= point (point)))
      (should (= start (window-start)))
      (should-not buffer-undo-list)
      (should (eq (key-binding (kbd "TAB")) 'org-agent-complete-accept))
      (org-agent-complete-test--command #'org-agent-complete-accept)
      (should (equal (buffer-string)
                     "The quick brown fox\njumps 世界 and slow\nmore\n"))
      (should (looking-back "世界" nil))
      (should-not (org-agent-complete-test--ghost))
      (should-not (eq (key-binding (kbd "TAB")) 'org-agent-complete-accept))
      (should-error (org-agent-complete-accept) :type 'user-error)
      (let ((last-command 'ignore)) (undo))
      (should (equal (buffer-string) text)))))

(ert-deftest org-agent-complete-accepts-piece-by-piece ()
  "A word or a line can be accepted; the rest stays displayed."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "(one two)\n\n  three\nfour"))
      "f|" #'text-mode
    (org-agent-complete-test--complete)
    (dolist (step '((org-agent-complete-accept-word "f(" "one two)\n\n  three\nfour")
                    (org-agent-complete-accept-word "f(one" " two)\n\n  three\nfour")
                    (org-agent-complete-accept-line "f(one two)" "\n\n  three\nfour")
                    (org-agent-complete-accept-line "f(one two)\n\n  three" "\nfour")
                    (org-agent-complete-accept-word "f(one two)\n\n  three\nfour" nil)))
      (org-agent-complete-test--command (nth 0 step))
      (should (equal (buffer-string) (nth 1 step)))
      (should (equal (org-agent-complete-test--ghost) (nth 2 step))))))

(ert-deftest org-agent-complete-goes-at-any-command ()
  "Any other command removes the ghost, and so does a late answer."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "x"))
      "one |two\nthree\n" #'text-mode
    (dolist (command (list #'forward-char #'undo-boundary #'beginning-of-buffer
                           (lambda () (interactive) (insert "y"))
                           #'org-agent-complete-dismiss))
      (goto-char 5)
      (should (org-agent-complete-test--complete))
      (org-agent-complete-test--command
       (if (commandp command) command #'ignore))
      (should-not (org-agent-complete-test--ghost))
      (should-not org-agent-complete-ghost-shown))
    ;; Text that comes at point by itself, from a process say.
    (goto-char 5)
    (should (org-agent-complete-test--complete))
    (save-excursion (insert "z"))
    (should-not org-agent-complete-ghost-shown)
    ;; And text elsewhere, which is nobody's business.
    (should (org-agent-complete-test--complete))
    (save-excursion (goto-char (point-max)) (insert "z"))
    (should (org-agent-complete-test--ghost))
    (let ((buffer (current-buffer)))
      (kill-buffer buffer)
      (should-not (overlay-buffer org-agent-complete--ghost-overlay)))))

;;;; As one types

(ert-deftest org-agent-complete-as-one-types ()
  "After a pause there is one request; typing the proposal shortens it."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "own fox"))
      "The quick |\n" #'text-mode
    (org-agent-complete-mode)
    (org-agent-complete-test--type "br")
    (should-not org-agent-complete--pending)
    (should (org-agent-complete-test--idle))
    (should (equal (org-agent-complete-test--come) "own fox"))
    (org-agent-complete-test--type "ow")
    (should (equal (org-agent-complete-test--ghost) "n fox"))
    (should-not org-agent-complete--timer)
    (org-agent-complete-test--type "x")
    (should-not (org-agent-complete-test--ghost))
    (should org-agent-complete--timer)
    (should (= 1 (length (org-agent-complete-test--sent))))
    (let ((sent (car (org-agent-complete-test--sent))))
      (should (string-match-p "The quick br\n" sent))
      (should (string-match-p "\"written\", in \"text-mode\"" sent))
      (should-not (string-match-p "fox" sent)))
    ;; Moving about asks for nothing.
    (org-agent-complete-mode -1)
    (org-agent-complete-mode)
    (org-agent-complete-test--command #'backward-char)
    (should-not org-agent-complete--timer)
    (org-agent-complete-mode -1)
    (org-agent-complete-test--type "y")
    (should-not org-agent-complete--timer)
    (should-not (memq #'org-agent-complete--after-command post-command-hook))))

(ert-deftest org-agent-complete-is-given-up ()
  "If the person types on, the request is cancelled, and a new one is answered."
  (org-agent-complete-test--with
      (list '((match . "one t\n") (hang_after . -1) (reply . "never") (times . -1))
            (org-agent-complete-test--says "hree"))
      "one |\n" #'text-mode
    (org-agent-complete-mode)
    (org-agent-complete-test--type "t")
    (should (org-agent-complete-test--idle))
    (org-agent-fake-wait (org-agent-complete-test--trace-p "one t"))
    (let ((pending (org-agent-rpc-connection-pending org-agent-kernel--connection)))
      (org-agent-complete-test--type "h")
      (should-not org-agent-complete--pending)
      ;; The kernel has let go of it.
      (org-agent-fake-wait (zerop (hash-table-count pending)) "the end of it"))
    (should-not (org-agent-complete-test--ghost))
    (should (org-agent-complete-test--idle))
    (should (equal (org-agent-complete-test--come) "hree"))
    (should-not org-agent-complete--trouble)))

(defun org-agent-complete-test--trace-p (text)
  "Return non-nil when the model was sent TEXT."
  (let ((trace (expand-file-name "trace" org-agent-fake-directory)))
    (and (file-exists-p trace)
         (cl-some (lambda (sent) (string-match-p (regexp-quote text) sent))
                  (org-agent-complete-test--sent)))))

(ert-deftest org-agent-complete-late-answers ()
  "An answer that arrives after point has moved is not shown."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "late" '(first_delay . "300ms") '(times . -1)))
      "one |two\n" #'text-mode
    (dolist (leave (list (lambda () (goto-char 1))
                         (lambda () (insert "x"))
                         (lambda () (delete-char -1))
                         (lambda () (setq buffer-read-only t))
                         (lambda () (set-window-buffer nil "*scratch*"))
                         (lambda () (kill-buffer org-agent-complete-test--buffer))))
      (let ((inhibit-message t)) (org-agent-complete))
      (should org-agent-complete--pending)
      (funcall leave)
      (org-agent-fake-wait (null org-agent-complete--pending))
      (should-not (and org-agent-complete--ghost-overlay
                       (overlay-buffer org-agent-complete--ghost-overlay)))
      (when (buffer-live-p org-agent-complete-test--buffer)
        (set-window-buffer nil org-agent-complete-test--buffer)
        (set-buffer org-agent-complete-test--buffer)
        (setq buffer-read-only nil)
        (goto-char (min 5 (point-max)))))
    (should-not (buffer-live-p org-agent-complete-test--buffer))))

(ert-deftest org-agent-complete-tells-of-trouble-once ()
  "A model that does not answer is reported once, and not asked for a while."
  (org-agent-complete-test--with
      (list '((status . 401) (body . "{\"error\":{\"message\":\"no such key\"}}")
              (times . -1)))
      "one |\n" #'text-mode
    (ert-with-message-capture messages
      (org-agent-complete-mode)
      (org-agent-complete-test--type "t")
      (should (org-agent-complete-test--idle))
      (org-agent-complete-test--come)
      (should (string-match-p "no such key" org-agent-complete--trouble))
      (should (string-match-p "!" (org-agent-complete--lighter)))
      (org-agent-complete-test--type "h")
      (should-not (org-agent-complete-test--idle))
      (setq org-agent-complete--rest 0)
      (org-agent-complete-test--type "r")
      (should (org-agent-complete-test--idle))
      (org-agent-complete-test--come)
      (should (= 2 (length (split-string messages "no such key")))))))

(ert-deftest org-agent-complete-without-a-kernel ()
  "Without a kernel nothing happens by itself, and the command reports it."
  (org-agent-fake-with-home
    (with-temp-buffer
      (set-window-buffer nil (current-buffer))
      (insert "one ")
      (setq org-agent-kernel-state 'stopped)
      (org-agent-complete-mode)
      (org-agent-complete-test--type "t")
      (should-not (org-agent-complete-test--idle))
      (should (eq org-agent-kernel-state 'stopped))
      (should-error (org-agent-complete) :type 'user-error))))

;;;; In a conversation

(ert-deftest org-agent-complete-in-a-conversation ()
  "In a conversation only the draft is completed."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "Samarkand?"))
      "" #'text-mode
    (switch-to-buffer "*org-agent-chat*")
    (org-agent-draft-to-question "q1" "Earlier?")
    (goto-char (point-max))
    (insert "Which notes mention ")
    (should (equal (org-agent-complete-test--complete) "Samarkand?"))
    (org-agent-complete-test--command #'org-agent-complete-accept)
    (should (string-suffix-p "\n* Which notes mention Samarkand?" (org-agent-fake-text)))
    (goto-char (point-min))
    (end-of-line)
    (should-error (org-agent-complete) :type 'user-error)))

;;;; Harm

(ert-deftest org-agent-complete-no-part-of-it-runs ()
  "A part of a proposal may be active Org though the whole is not.
Such a part is made inert."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "=src_sh{rm x}= b"))
      "one |\n" #'org-mode
    (should (equal (org-agent-complete-test--complete) "=src_sh{rm x}= b"))
    (dotimes (_ 8)
      (when (org-agent-complete-ghost-at-point)
        (condition-case nil
            (org-agent-complete-test--command #'org-agent-complete-accept-word)
          (user-error nil)))
      (should (equal (org-agent-inert (concat "-\n" (buffer-string)))
                     (concat "-\n" (buffer-string)))))))

(ert-deftest org-agent-complete-is-exact-in-code ()
  "In code the proposal is exact, without invisible characters."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "x\u202e, `(:type :request :target :shell))\n  ;; #+TBLFM:\t'"))
      "(list |" #'emacs-lisp-mode
    (should (equal (org-agent-complete-test--complete)
                   "x, `(:type :request :target :shell))\n  ;; #+TBLFM:\t'"))))

(ert-deftest org-agent-complete-is-in-nobodys-way ()
  "Nothing is shown during completion, a search or with an active region."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "two"))
      "one |\n" #'text-mode
    (should (org-agent-complete--fit-p))
    (let ((completion-in-region-mode t)) (should-not (org-agent-complete--fit-p)))
    (let ((executing-kbd-macro [?a])) (should-not (org-agent-complete--fit-p)))
    (let ((isearch-mode t)) (should-not (org-agent-complete--fit-p)))
    (cl-progv '(company-candidates) '(("x"))
      (should-not (org-agent-complete--fit-p)))
    (cl-progv '(evil-local-mode evil-state) '(t normal)
      (should-not (org-agent-complete--fit-p)))
    (let ((inhibit-message t)) (org-agent-complete))
    (let ((completion-in-region-mode t))
      (should-not (org-agent-complete-test--come)))
    (should (org-agent-complete-test--complete))
    (org-agent-complete-test--command #'completion-at-point)
    (should-not (org-agent-complete-test--ghost))))

(ert-deftest org-agent-complete-leaves-nothing-behind ()
  "The kernel has no turn of a completion, and no file has a proposal."
  (org-agent-complete-test--with
      (list (org-agent-complete-test--says "two three"))
      "one |\n" #'text-mode
    (let ((file (make-temp-file "oa"))
          (save-silently t) (inhibit-message t))
      (unwind-protect
          (progn
            (should (org-agent-complete-test--complete))
            (write-region nil nil file nil 'silent)
            (should (equal (with-temp-buffer (insert-file-contents file) (buffer-string))
                           "one \n"))
            (should (equal (buffer-substring (point-min) (point-max)) "one \n")))
        (delete-file file)))
    (let (rows listed)
      (org-agent-kernel-request "session/list" nil
                                :success (lambda (result) (setq listed (list result))))
      (org-agent-kernel-request "usage/get" '(:by :session)
                                :success (lambda (result) (setq rows (plist-get result :rows))))
      (org-agent-fake-wait (and listed rows))
      (should-not (cl-find-if (lambda (session) (> (or (plist-get session :turns) 0) 0))
                              (plist-get (car listed) :sessions)))
      (should (equal (mapcar (lambda (row) (plist-get row :what)) rows)
                     '("completions"))))))

;;;; On a terminal

(defun org-agent-complete-test--on-terminal ()
  "Type on a terminal, in the last line of a window of two; return a report."
  (org-agent-chat)
  (org-agent-kernel-test--wait-attached)
  (delete-other-windows)
  (switch-to-buffer "written")
  (text-mode)
  (dotimes (n 100) (insert (format "line %d\n" n)))
  (let ((other (split-window)) timer)
    (goto-char (point-min))
    (forward-line 60)
    (end-of-line)
    (recenter -1)
    (set-window-start other 1)
    (set-window-point other 3)
    (org-agent-complete-mode)
    (let* ((place (lambda ()
                    (redisplay t)
                    (list (window-start) (window-start other)
                          (window-point other))))
           (before (funcall place)))
      ;; Keys that the command loop reads, and the pause after them.
      (setq unread-command-events (listify-key-sequence " and")
            timer (run-at-time 0.05 0.05 (lambda ()
                                           (when (org-agent-complete-ghost-at-point)
                                             (exit-recursive-edit)))))
      (unwind-protect (recursive-edit)
        (cancel-timer timer))
      (prog1 (list :moved (not (equal before (funcall place)))
                   :ghost (org-agent-complete-ghost-at-point)
                   :column (current-column)
                   :here (eq (selected-window)
                             (overlay-get org-agent-complete--ghost-overlay 'window))
                   :text (buffer-substring (line-beginning-position)
                                           (line-beginning-position 2)))
        (set-buffer-modified-p nil)))))

(ert-deftest org-agent-complete-on-a-terminal ()
  "With real keys, pauses and redisplay nothing moves in any window."
  (org-agent-kernel-test--with
      (list (org-agent-complete-test--says " so\nthe rest"))
    (kill-buffer)
    (org-agent-fake-settle)
    (should (equal (org-agent-terminal-test--run
                    '(progn (require 'org-agent-complete-test)
                            (org-agent-complete-test--on-terminal)))
                   '(:moved nil :ghost " so\nthe rest" :column 11 :here t
                     :text "line 60 and\n")))))

(provide 'org-agent-complete-test)
;;; org-agent-complete-test.el ends here
