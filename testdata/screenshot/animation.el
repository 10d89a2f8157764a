;;; animation.el --- Ask, read, allow a change and export many frames  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: emacs -Q -L elisp -l testdata/screenshot/animation.el DIRECTORY
;;
;; Talks with the real kernel and the scripted model, and has a tip put into a
;; file that another window shows.  Every frame is a picture in DIRECTORY, and
;; a line of the file "frames" there: how many hundredths of a second it is
;; shown, and its name.

;;; Code:

(load (expand-file-name "shot" (file-name-directory load-file-name)) nil t)

(defvar animation-directory (file-name-as-directory
                             (expand-file-name (pop command-line-args-left)))
  "Where the pictures go.")

(defvar animation-count 0
  "How many pictures there are.")

(defvar animation-file "~/git.org"
  "The file that is changed.")

(defvar animation-text "#+TITLE: Git

* Tips
- To see what is staged: =git diff --cached=
* Questions
"
  "What stands in the file at first.")

(defun animation-shoot (&optional pause)
  "Write the frame, to be shown for PAUSE hundredths of a second."
  (message nil)
  (let ((name (format "%04d.png" (cl-incf animation-count))))
    (shot-write (expand-file-name name animation-directory))
    (write-region (format "%d %s\n" (or pause 8) name) nil
                  (expand-file-name "frames" animation-directory) t 'silent)))

(defun animation-type (text)
  "Type TEXT into the draft, some letters a frame."
  (goto-char (point-max))
  (while (not (string-empty-p text))
    (let ((n (min 3 (length text))))
      (insert (substring text 0 n))
      (setq text (substring text n)))
    (animation-shoot))
  (animation-shoot 40))

(defun animation-looking (done)
  "Return a function that shoots until DONE returns non-nil, and returns that.
While the kernel starts there is nothing to be seen."
  (lambda ()
    (or (funcall done)
        (prog1 nil
          ;; Pictures take so long that nothing would come between them.
          (accept-process-output nil 0.1)
          (unless (shot-shown-p "*org-agent-chat*" ":unsent:")
            (animation-shoot 7))))))

(defvar animation-steps
  (list
   (cons #'shot-quiet-p
         (lambda ()
           (animation-shoot 60)
           (animation-type "How do I undo a commit, but keep its changes?")
           (call-interactively (key-binding (kbd "C-c C-c")))))
   (cons (animation-looking
          (lambda () (and (shot-shown-p "*org-agent-chat*" "--hard") (shot-quiet-p))))
         (lambda ()
           (animation-shoot 180)
           (animation-type "Add that to git.org as a tip")
           (call-interactively (key-binding (kbd "C-c C-c")))))
   (cons (animation-looking
          (lambda () (shot-shown-p "*org-agent-chat*" "** TODO May I")))
         (lambda ()
           (goto-char (point-max))
           (search-backward "Add that")
           (set-window-start nil (line-beginning-position))
           (search-forward "yes, once")
           (forward-line 0)
           (animation-shoot 320)
           (call-interactively (key-binding (kbd "C-c C-c")))
           (goto-char (point-max))))
   (cons (animation-looking
          (lambda () (and (shot-shown-p "*org-agent-chat*" "** It is in your tips")
                          (shot-quiet-p))))
         (lambda () (animation-shoot 320))))
  "What is done.")

(write-region animation-text nil animation-file nil 'silent)
(shot-begin 84 32 100)
(switch-to-buffer "*org-agent-chat*")
(delete-other-windows)
(set-window-buffer (split-window nil -8) (find-file-noselect animation-file))
(shot-play animation-steps 0.1)

(provide 'animation)
;;; animation.el ends here
