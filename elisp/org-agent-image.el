;;; org-agent-image.el --- Images from the clipboard and the screen  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An image that is no file becomes one: beside the conversations, named
;; by what is in it.  It is listed in the draft like anything that goes
;; along, is seen there before it is sent, and is not sent when its line
;; is deleted.
;;
;; `org-agent-add-clipboard' takes the image that was copied, and
;; `org-agent-add-screenshot' a part of the screen that the person marks.
;; Programs of the system do that, and Emacs does not wait for them.  In
;; Emacs 29 and later a copied image can also be yanked into a
;; conversation with `yank-media'.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent-rpc)
(require 'org-agent-kernel)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-add)

(defcustom org-agent-image-clipboard-program
  '(("wl-paste" "--type" "image/png")
    ("xclip" "-selection" "clipboard" "-target" "image/png" "-out")
    ("pngpaste" "-"))
  "Programs that print the image in the clipboard.
Each is a list of a program and its arguments; %f among them is a file
for the image instead.  The first that is installed is used, those of
Wayland and of X only where there is one."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defcustom org-agent-image-screenshot-program
  '(("grim" "-") ("maim" "--select") ("import" "png:-")
    ("gnome-screenshot" "--area" "--file" "%f") ("scrot" "--select" "%f")
    ("screencapture" "-i" "%f"))
  "Programs that print an image of a part of the screen.
They are as those of `org-agent-image-clipboard-program'."
  :type '(repeat (cons (string :tag "Program")
                       (repeat :tag "Arguments" string)))
  :group 'org-agent
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-image--needs
  '(("wl-paste" . "WAYLAND_DISPLAY") ("grim" . "WAYLAND_DISPLAY")
    ("xclip" . "DISPLAY") ("maim" . "DISPLAY") ("import" . "DISPLAY")
    ("scrot" . "DISPLAY") ("gnome-screenshot" . "DISPLAY"))
  "The variables of the environment without which programs see no screen.")

(defconst org-agent-image--patience 120
  "Seconds that a program may take; a person may have to mark something.")

;;;; Images as files

(defun org-agent-image-keep (data)
  "Keep DATA, the bytes of an image, and return its file.
What is no image, or too large to be sent, is refused."
  (when (> (length data) org-agent-context-image-limit)
    (user-error "The image has %s; %s can be sent"
                (org-agent-context-size (length data))
                (org-agent-context-size org-agent-context-image-limit)))
  (let* ((media (or (org-agent-context-image-media data)
                    (user-error "That is no PNG, JPEG, GIF or WebP image")))
         (directory (expand-file-name "sessions/images/"
                                      (org-agent-home-directory)))
         (file (expand-file-name
                (concat (substring (secure-hash 'sha256 data) 0 16) "."
                        (pcase media
                          ("image/jpeg" "jpg")
                          (_ (string-remove-prefix "image/" media))))
                directory))
         (coding-system-for-write 'no-conversion))
    (make-directory directory t)
    (unless (file-exists-p file)
      (with-file-modes #o600
        (write-region data nil file nil 'silent)))
    file))

(defun org-agent-image-add (data)
  "Have the image DATA go along with the next message in this conversation."
  (org-agent-add-file (org-agent-image-keep data)))

;;;; Commands

(defun org-agent-add-clipboard ()
  "Have the image in the clipboard go along with your next message."
  (interactive)
  (org-agent-image--from org-agent-image-clipboard-program
                         "the clipboard" "There is no image in it"))

(defun org-agent-add-screenshot ()
  "Have a part of the screen, which you mark, go along with your next message."
  (interactive)
  (when-let ((command (org-agent-image--from org-agent-image-screenshot-program
                                             "the screen" "Nothing was marked")))
    (message "%s: mark a part of the screen" (car command))))

(defun org-agent-image--usable-p (command)
  "Return non-nil when the program of COMMAND is installed and can see."
  (let ((needs (cdr (assoc (file-name-nondirectory (car command))
                           org-agent-image--needs))))
    (and (or (null needs)
             (not (member (or (getenv needs (selected-frame)) (getenv needs))
                          '(nil ""))))
         (executable-find (car command)))))

(defun org-agent-image-clipboard-lacks ()
  "Return what is missing for the clipboard's images, nil when nothing is."
  (org-agent-image--lacks org-agent-image-clipboard-program
                          'org-agent-image-clipboard-program
                          "install wl-clipboard on Wayland or xclip on X"))

(defun org-agent-image-screenshot-lacks ()
  "Return what is missing for screenshots, nil when nothing is."
  (org-agent-image--lacks org-agent-image-screenshot-program
                          'org-agent-image-screenshot-program
                          "install grim on Wayland, maim or imagemagick on X"))

(defun org-agent-image--lacks (commands option advice)
  "Return what is missing when none of COMMANDS, an OPTION's, can be run.
ADVICE says what to install."
  (unless (cl-some #'org-agent-image--usable-p commands)
    (if (or (eq system-type 'darwin)
            (cl-some (lambda (name)
                       (not (member (or (getenv name (selected-frame)) (getenv name))
                                    '(nil ""))))
                     '("DISPLAY" "WAYLAND_DISPLAY")))
        (format "No program for it is installed: %s, or set `%s'" advice option)
      (format "There is no screen that Emacs knows of (neither DISPLAY nor WAYLAND_DISPLAY is set); see `%s'"
              option))))

;;;; Running the programs

(defun org-agent-image--from (commands source none)
  "Add the image that the first usable one of COMMANDS takes from SOURCE.
Return that command.  NONE says what it means when there is none."
  (when-let ((lacks (if (eq commands org-agent-image-clipboard-program)
                        (org-agent-image-clipboard-lacks)
                      (org-agent-image-screenshot-lacks))))
    (user-error "%s" lacks))
  (let* ((command (cl-find-if #'org-agent-image--usable-p commands))
         (buffer (org-agent-chat-open (org-agent-chat-session-in-use)))
         (directory (and (member "%f" command)
                         (make-temp-file "org-agent-image" t)))
         (file (and directory (expand-file-name "image.png" directory))))
    (org-agent-image--run
     (if file (cl-substitute file "%f" command :test #'equal) command)
     (lambda (data complaint)
       (unwind-protect
           (condition-case err
               (org-agent-image--took
                buffer (if file (org-agent-image--bytes file) data)
                (format "Nothing was taken from %s: %s%s" source none
                        (if complaint (format " (%s)" complaint) "")))
             (user-error (message "%s" (error-message-string err))))
         (when directory
           (ignore-errors (delete-directory directory t))))))
    command))

(defun org-agent-image--took (buffer data none)
  "Add the image DATA in the conversation BUFFER; without one say NONE."
  (cond
   ((string-empty-p (or data "")) (message "%s" none))
   ((buffer-live-p buffer)
    (with-current-buffer buffer
      (org-agent-image-add data)))
   (t (message "The conversation is gone; the image was not added"))))

(defun org-agent-image--bytes (file)
  "Return what FILE has, nil when it is not there or too large."
  (when (file-exists-p file)
    (with-temp-buffer
      (set-buffer-multibyte nil)
      (insert-file-contents-literally
       file nil 0 (1+ org-agent-context-image-limit))
      (buffer-string))))

(defun org-agent-image--run (command done)
  "Run COMMAND; call DONE with what it printed and its last complaint.
What is too much, or takes too long, ends it."
  (let* ((default-directory (file-name-as-directory (expand-file-name "~")))
         (errors (make-pipe-process
                  :name "org-agent-image-errors" :noquery t
                  :buffer (generate-new-buffer " *org-agent-image-errors*" t)
                  :sentinel #'ignore :coding 'utf-8-unix))
         (chunks nil) (bytes 0))
    (condition-case err
        (let ((process
               (make-process
                :name "org-agent-image" :noquery t :connection-type 'pipe
                :coding 'no-conversion :command command :stderr errors
                :filter (lambda (process piece)
                          (push piece chunks)
                          (when (> (cl-incf bytes (length piece))
                                   org-agent-context-image-limit)
                            (delete-process process)))
                :sentinel
                (lambda (process _event)
                  (unless (process-live-p process)
                    (let ((complaint (org-agent-image--complaint errors)))
                      (org-agent-rpc--guard "an image"
                        (funcall done (apply #'concat (nreverse chunks))
                                 complaint))))))))
          (run-at-time org-agent-image--patience nil
                       (lambda () (when (process-live-p process)
                                    (kill-process process)))))
      (error (org-agent-image--complaint errors)
             (user-error "%s could not be run: %s" (car command)
                         (error-message-string err))))))

(defun org-agent-image--complaint (errors)
  "Return the last line that came from the process ERRORS, and end it."
  (while (accept-process-output errors 0 nil t))
  (prog1 (when (buffer-live-p (process-buffer errors))
           (with-current-buffer (process-buffer errors)
             (prog1 (car (last (split-string (buffer-string) "\n" t "[ \t\r]+")))
               (kill-buffer))))
    (delete-process errors)))

(provide 'org-agent-image)
;;; org-agent-image.el ends here
