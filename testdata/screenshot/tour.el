;;; tour.el --- Look at the buffers and export the frame of each  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -Q -L elisp -l testdata/screenshot/tour.el DIRECTORY
;;
;; Uses the real kernel and the scripted model as a person would, a step
;; whenever nothing else goes on, and writes a picture into DIRECTORY at
;; every stop: menu.png, approval.png, rewrite.png, sessions.png, why.png,
;; usage.png, policy.png, complete.png.

;;; Code:

(load (expand-file-name "shot" (file-name-directory load-file-name)) nil t)

(defvar tour-directory (file-name-as-directory
                        (expand-file-name (pop command-line-args-left)))
  "Where the pictures go.")

(defvar tour-note "Notes on a release

We have now finally fixed the bug which was the one where, if the file was
saved twice very quickly, the second of the two saves got lost entirely.
"
  "The text that is rewritten.")

(defvar tour-code "(defun shelf-oldest (books)
  \"Return the oldest of BOOKS, plists with a `:year', or nil.\"
  )

(provide 'shelf)
"
  "The code that is completed.")

(defun tour-shoot (name)
  "Write the frame into the picture NAME."
  (message nil)
  (shot-write (expand-file-name (concat name ".png") tour-directory)))

(defun tour-chat ()
  "Show the conversation alone and go to its end."
  (switch-to-buffer "*org-agent-chat*")
  (delete-other-windows)
  (goto-char (point-max)))

(defun tour-say (text)
  "Send TEXT in the conversation."
  (tour-chat)
  (insert text)
  (org-agent-send))

(defun tour-answered-p (count)
  "Return non-nil when COUNT turns stand in the conversation and none runs."
  (and (shot-quiet-p)
       (with-current-buffer "*org-agent-chat*"
         (= count (length (org-agent-heading-turn-ids))))))

(defun tour-diff ()
  "Return the buffer with the diff of a rewritten text, or nil."
  (seq-find (lambda (buffer)
              (with-current-buffer buffer
                (derived-mode-p 'org-agent-rewrite-mode)))
            (buffer-list)))

(defvar tour-steps
  (list
   (cons (lambda () (tour-answered-p 0))
         (lambda () (tour-say "How do I undo my last commit, but keep the changes?")))
   (cons (lambda () (tour-answered-p 2))
         (lambda ()
           (goto-char (point-min))
           (set-window-start nil (point-min))
           (call-interactively #'org-agent-menu)))
   (cons #'always
         (lambda ()
           (tour-shoot "menu")
           (transient-quit-all)
           (tour-say "/capture call Ann by friday #phone")))
   (cons (lambda () (shot-shown-p "*org-agent-chat*" "** TODO May I"))
         (lambda ()
           (goto-char (point-min))
           (search-forward "/capture")
           (set-window-start nil (line-beginning-position))
           (search-forward "yes, once")
           (forward-line 0)))
   (cons #'always
         (lambda ()
           (tour-shoot "approval")
           (call-interactively (key-binding (kbd "C-c C-c")))))
   (cons (lambda () (tour-answered-p 5))
         (lambda ()
           (switch-to-buffer (get-buffer-create "release.txt"))
           (text-mode)
           (insert tour-note)
           (forward-line -2)
           (org-agent-rewrite "in one short sentence" (point) (point-max))))
   (cons #'tour-diff
         (lambda () (select-window (get-buffer-window (tour-diff)))))
   (cons #'always
         (lambda ()
           (tour-shoot "rewrite")
           (call-interactively (key-binding (kbd "C-c C-c")))
           (tour-chat)
           (goto-char (point-min))
           (search-forward "Reset softly")
           (org-agent-fork "commits")))
   (cons (lambda () (shot-shown-p "*org-agent-chat: commits*" "Reset softly"))
         (lambda ()
           (org-agent-sessions)
           (delete-other-windows)))
   (cons (lambda () (shot-shown-p "*org-agent-sessions*" "commits"))
         (lambda () (org-agent-search "undo commit")))
   (cons (lambda () (shot-shown-p "*org-agent-search*" "undo"))
         (lambda ()
           (delete-other-windows)
           (switch-to-buffer "*org-agent-sessions*")
           (set-window-buffer (split-window nil 9) "*org-agent-search*")))
   (cons #'always
         (lambda ()
           (tour-shoot "sessions")
           (tour-chat)
           (goto-char (point-min))
           (search-forward "Reset softly")
           (call-interactively #'org-agent-why)))
   (cons (lambda () (shot-shown-p "*org-agent-why*" "Model replied"))
         (lambda ()
           (switch-to-buffer "*org-agent-why*")
           (delete-other-windows)
           (org-agent-log)))
   (cons (lambda () (shot-shown-p "*org-agent-log*" "turn finished"))
         (lambda ()
           (switch-to-buffer "*org-agent-why*")
           (delete-other-windows)
           (set-window-buffer (split-window nil -9) "*org-agent-log*")))
   (cons #'always
         (lambda ()
           (tour-shoot "why")
           (tour-chat)
           (org-agent-usage)))
   (cons (lambda () (shot-shown-p "*org-agent-usage*" "undo my last"))
         (lambda ()
           (tour-chat)
           (recenter -1)
           (set-window-buffer (split-window nil -8) "*org-agent-usage*")))
   (cons #'always
         (lambda ()
           (tour-shoot "usage")
           (org-agent-policy)
           (delete-other-windows)))
   (cons (lambda () (shot-shown-p "*org-agent-policy*" "git tag"))
         (lambda ()
           (goto-char (point-min))
           (search-forward "rm **")
           (forward-line 0)
           (set-window-buffer (split-window nil 10)
                              (find-file-noselect "~/.org-agent/policy.org"))))
   (cons #'always
         (lambda ()
           (tour-shoot "policy")
           (switch-to-buffer (get-buffer-create "shelf.el"))
           (delete-other-windows)
           (set-frame-height nil 12)
           (emacs-lisp-mode)
           (insert tour-code)
           (search-backward "  )")
           (forward-char 2)
           (org-agent-complete)))
   (cons (lambda () (buffer-local-value 'org-agent-complete-ghost-shown (get-buffer "shelf.el")))
         (lambda () (tour-shoot "complete"))))
  "What is done, in order: when the first function agrees, the second.")

(defvar tour-rules "* Rules

| rule    | matches         | verdict | why                  | since        |
|---------+-----------------+---------+----------------------+--------------|
| runs    | git tag **      | allow   | it only looks        | [2026-11-02] |
| runs    | make test       | allow   | our own              | [2026-11-02] |
| runs    | rm **           | refuse  | never by a model     | [2026-11-09] |
| writes  | ~/notes/**      | ask     |                      |              |
| fetches | docs.python.org | allow   | the manual of Python | [2026-11-20] |
"
  "Rules of a person.")

(make-directory "~/.org-agent" t)
(write-region tour-rules nil "~/.org-agent/policy.org" nil 'silent)
(shot-begin 96 30 100)
(delete-other-windows)
(shot-play tour-steps)

(provide 'tour)
;;; tour.el ends here
