;;; org-agent-grant.el --- What skills may reach  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A note asks in its line #+CAPABILITIES: for what it wants to reach
;; outside of its Lisp.  `org-agent-skill-grant', which is C-c C-c on that
;; line, shows what that is in plain words and grants it when you say yes;
;; `org-agent-skill-revoke' takes it back.  What was shown is what is
;; granted: the kernel refuses if the note has become another meanwhile.

;;; Code:

(require 'subr-x)
(require 'org)
(require 'org-agent-kernel)

(defconst org-agent-grant--patience 30
  "Seconds that the kernel has to answer, with its start.")

(defun org-agent-grant--wait (done)
  "Wait until DONE, a function, returns non-nil; \\[keyboard-quit] ends it.
A kernel that cannot be started is not waited for."
  (let ((deadline (+ (float-time) org-agent-grant--patience)))
    (while (not (funcall done))
      (when (or (> (float-time) deadline)
                (eq org-agent-kernel-state 'failed))
        (user-error "The kernel did not answer: %s"
                    (or org-agent-kernel-trouble "it is busy")))
      (accept-process-output nil 0.05))))

(defun org-agent-grant--request (&rest params)
  "Send the kernel `skill/grant' with PARAMS and return what it answers.
What it refuses is an error."
  (unless (org-agent-kernel-ready-p)
    (message "Starting the kernel")
    (org-agent-kernel-ensure)
    (org-agent-grant--wait #'org-agent-kernel-ready-p))
  (let (answer refusal)
    (org-agent-kernel-request "skill/grant" params
                              :success (lambda (result) (setq answer result))
                              :failure (lambda (why) (setq refusal why)))
    (org-agent-grant--wait (lambda () (or answer refusal)))
    (when refusal
      (user-error "%s" (plist-get refusal :message)))
    answer))

(defun org-agent-grant-line-p ()
  "Return non-nil when point is on a line #+CAPABILITIES."
  (save-excursion
    (beginning-of-line)
    (let ((case-fold-search t))
      (and (looking-at-p "[ \t]*#\\+capabilities:")
           (not (memq (org-element-type (org-element-at-point))
                      '(src-block example-block comment-block)))))))

(defun org-agent-grant--file ()
  "Return the file of the note that a command is about."
  (let ((status (and (derived-mode-p 'tabulated-list-mode)
                     (tabulated-list-get-id))))
    (cond
     ((and (consp status) (plist-get status :shipped))
      (user-error "What came with the program is granted nothing"))
     ((and (consp status) (plist-get status :file)))
     ((and buffer-file-name (derived-mode-p 'org-mode))
      (org-agent-grant--save)
      buffer-file-name)
     (t (expand-file-name
         (read-file-name "Note: " (expand-file-name "skills/"
                                                    (org-agent-home-directory))
                         nil t nil
                         (lambda (file) (string-suffix-p ".org" file))))))))

(defun org-agent-grant--save ()
  "Save this note if it is to be: what is granted is what its file says."
  (when (buffer-modified-p)
    (if (y-or-n-p (format "Save %s first, which is what counts? "
                          (file-name-nondirectory buffer-file-name)))
        (save-buffer)
      (user-error "Nothing was granted: the note is not saved"))))

(defun org-agent-grant--names (shown)
  "Return the names of what can be granted of SHOWN."
  (delq nil (mapcar (lambda (capability)
                      (unless (plist-get capability :refused)
                        (plist-get capability :name)))
                    (plist-get shown :capabilities))))

(defun org-agent-grant--insert (shown)
  "Insert what SHOWN, of the kernel, says in plain words."
  (insert (plist-get shown :note) "\nasks to\n\n")
  (dolist (capability (plist-get shown :capabilities))
    (let ((refused (plist-get capability :refused)))
      (insert (if refused
                  (propertize (format "  (%s cannot be granted: %s)\n"
                                      (plist-get capability :asked) refused)
                              'face 'shadow)
                (format "  %s\n" (plist-get capability :meaning))))))
  (insert "\nIts Lisp has the SHA-256\n" (plist-get shown :blocks)
          (format "\n(%s).\n" (org-agent-grant--state shown))))

(defun org-agent-grant--state (shown)
  "Return what became of what SHOWN asks for."
  (let ((since (plist-get shown :since)))
    (cond ((plist-get shown :withheld))
          (since (concat "granted since " since))
          (t "granted"))))

(defun org-agent-grant--agreed-p (shown)
  "Show what SHOWN asks for and return non-nil if the user grants it."
  (let ((buffer (get-buffer-create "*org-agent-grant*")))
    (unwind-protect
        (save-window-excursion
          (with-current-buffer buffer
            (let ((inhibit-read-only t))
              (erase-buffer)
              (org-agent-grant--insert shown)
              (goto-char (point-min)))
            (special-mode))
          (display-buffer buffer '((display-buffer-pop-up-window
                                    display-buffer-use-some-window)
                                   (inhibit-same-window . t)))
          (yes-or-no-p "Grant this? "))
      (kill-buffer buffer))))

(defun org-agent-grant--tell (result)
  "Say what RESULT, of the kernel, has come to."
  (message "org-agent: %s: %s"
           (file-name-nondirectory (plist-get result :note))
           (if (plist-get result :granted)
               (concat "granted "
                       (string-join (org-agent-grant--names result) " "))
             (concat "not granted: " (org-agent-grant--state result)))))

;;;###autoload
(defun org-agent-skill-grant (file)
  "Let the skill note FILE reach what it asks for, when you agree to it.
Without a note in this buffer or on this line of the list of skills you
are asked for one."
  (interactive (list (org-agent-grant--file)))
  (let* ((shown (org-agent-grant--request :file file))
         (names (org-agent-grant--names shown)))
    (cond
     ((null names)
      (user-error "%s asks for nothing that can be granted"
                  (file-name-nondirectory file)))
     ((plist-get shown :granted)
      (org-agent-grant--tell shown))
     ((org-agent-grant--agreed-p shown)
      (org-agent-grant--tell
       (org-agent-grant--request :file file :blocks (plist-get shown :blocks)
                                 :capabilities names)))
     (t (message "Nothing was granted")))))

;;;###autoload
(defun org-agent-skill-revoke (file)
  "Take back what the skill note FILE was granted."
  (interactive (list (org-agent-grant--file)))
  (org-agent-grant--tell (org-agent-grant--request :file file :revoke t)))

(provide 'org-agent-grant)
;;; org-agent-grant.el ends here
