;;; tour.el --- Look at the buffers and export the frame of each  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -Q -L elisp -l testdata/screenshot/tour.el DIRECTORY
;;
;; Uses the real kernel and the scripted model as a person would, a step
;; whenever nothing else goes on, and writes a picture into DIRECTORY at
;; every stop: menu.png, approval.png, rewrite.png, sessions.png, why.png,
;; usage.png.

;;; Code:

;; The libraries of an Emacs that has been used are compiled already.
(setq native-comp-deferred-compilation nil)

(require 'org-agent)

(defvar tour-directory (file-name-as-directory
                        (expand-file-name (pop command-line-args-left)))
  "Where the pictures go.")

(defvar tour-note "Notes on a release

We have now finally fixed the bug which was the one where, if the file was
saved twice very quickly, the second of the two saves got lost entirely.
"
  "The text that is rewritten.")

(defun tour-shoot (name)
  "Write the frame into the picture NAME."
  (message nil)
  (redisplay t)
  (let ((coding-system-for-write 'binary))
    (write-region (x-export-frames nil 'png) nil
                  (expand-file-name (concat name ".png") tour-directory)
                  nil 'silent)))

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
  (with-current-buffer "*org-agent-chat*"
    (and (eq org-agent-chat-attached t)
         (not (org-agent-chat-get :phase))
         (not (buffer-modified-p))
         (= count (length (org-agent-turn-ids))))))

(defun tour-shown-p (buffer text)
  "Return non-nil when BUFFER has TEXT."
  (and (get-buffer buffer)
       (with-current-buffer buffer
         (save-excursion
           (goto-char (point-min))
           (search-forward text nil t)))))

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
   (cons (lambda () (tour-shown-p "*org-agent-chat*" "** TODO Approve"))
         (lambda ()
           (goto-char (point-min))
           (search-forward "/capture")
           (set-window-start nil (line-beginning-position))
           (search-forward "TODO Approve")))
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
   (cons (lambda () (tour-shown-p "*org-agent-chat: commits*" "Reset softly"))
         (lambda ()
           (org-agent-sessions)
           (delete-other-windows)))
   (cons (lambda () (tour-shown-p "*org-agent-sessions*" "commits"))
         (lambda () (org-agent-search "undo commit")))
   (cons (lambda () (tour-shown-p "*org-agent-search*" "undo"))
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
   (cons (lambda () (tour-shown-p "*org-agent-why*" "Model replied"))
         (lambda ()
           (switch-to-buffer "*org-agent-why*")
           (delete-other-windows)
           (org-agent-log)))
   (cons (lambda () (tour-shown-p "*org-agent-log*" "turn finished"))
         (lambda ()
           (switch-to-buffer "*org-agent-why*")
           (delete-other-windows)
           (set-window-buffer (split-window nil -9) "*org-agent-log*")))
   (cons #'always
         (lambda ()
           (tour-shoot "why")
           (tour-chat)
           (org-agent-usage)))
   (cons (lambda () (tour-shown-p "*org-agent-usage*" "undo my last"))
         (lambda ()
           (tour-chat)
           (recenter -1)
           (set-window-buffer (split-window nil -8) "*org-agent-usage*")))
   (cons #'always
         (lambda () (tour-shoot "usage"))))
  "What is done, in order: when the first function agrees, the second.")

(defvar tour-patience 60
  "Seconds after which a step is waited for in vain.")

(defvar tour-since (float-time)
  "When the latest step was done.")

(defun tour-fail (what)
  "Say WHAT went wrong at which step and end."
  (let ((message (format "tour: %s, with %d steps to go\n" what (length tour-steps))))
    (princ message #'external-debugging-output))
  (kill-emacs 1))

(defun tour-look ()
  "Do the next step if it is time for it; end behind the last."
  (cond ((not tour-steps)
         (dolist (buffer (buffer-list))
           (with-current-buffer buffer (set-buffer-modified-p nil)))
         (kill-emacs))
        ((funcall (caar tour-steps))
         (condition-case err
             ;; A timer runs where the command loop was, not where a step went.
             (with-current-buffer (window-buffer (selected-window))
               (funcall (cdr (pop tour-steps))))
           (error (tour-fail (error-message-string err))))
         (setq tour-since (float-time)))
        ((> (- (float-time) tour-since) tour-patience)
         (tour-fail "nothing more came"))))

(setq inhibit-startup-screen t
      use-dialog-box nil)
(menu-bar-mode -1)
(tool-bar-mode -1)
(scroll-bar-mode -1)
(blink-cursor-mode -1)
(load-theme 'modus-operandi t)
(set-face-attribute 'default nil :family "DejaVu Sans Mono" :height 100)
(set-frame-size nil 96 30)
(org-agent-chat)
(delete-other-windows)
(run-with-timer 1 0.4 #'tour-look)

(provide 'tour)
;;; tour.el ends here
