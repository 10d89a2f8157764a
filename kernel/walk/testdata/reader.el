;;; reader.el --- Tell what the frame shows  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Whoever connects to the socket WALK_SCREEN gets the text that the
;; selected frame shows: that of its windows without what is invisible and
;; with what is displayed in the place of text, their header and mode lines,
;; and the echo area.  Nothing else of this Emacs is touched.

;;; Code:

(defvar ediff-window-setup-function)

(defun reader-strings (position property edge)
  "Return the PROPERTY strings of overlays whose EDGE function is at POSITION."
  (mapconcat (lambda (overlay)
               (or (and (= (funcall edge overlay) position)
                        (or (not (overlay-get overlay 'window))
                            (eq (overlay-get overlay 'window) (selected-window)))
                        (overlay-get overlay property))
                   ""))
             (overlays-in (max (point-min) (1- position)) (min (point-max) (1+ position)))
             ""))

(defun reader-displayed (display beg end)
  "Return what DISPLAY, a display property, shows for the text from BEG to END."
  (cond ((stringp display) display)
        ((null display) (buffer-substring beg end))
        ((memq (car-safe display) '(space image)) " ")
        ((memq (car-safe display) '(left-fringe right-fringe)) "")
        (t (buffer-substring beg end))))

(defun reader-text (beg end)
  "Return what is shown of this buffer from BEG to END."
  (let ((position beg) (shown ""))
    (while (< position end)
      (let* ((next (min end (next-char-property-change position end)))
             (prefix (and (or (= position (point-min)) (eq (char-before position) ?\n))
                          (get-char-property position 'line-prefix))))
        (setq shown
              (concat shown
                      (if (stringp prefix) prefix "")
                      (reader-strings position 'before-string #'overlay-start)
                      (unless (invisible-p position)
                        (reader-displayed (get-char-property position 'display) position next))
                      (reader-strings next 'after-string #'overlay-end)))
        ;; What is displayed for a text is displayed once, where the text is visible.
        (when (and (stringp (get-char-property position 'display)) (not (invisible-p position)))
          (setq next (min end (next-single-char-property-change position 'display nil end))))
        (setq position next)))
    (if (= beg end)
        (concat (reader-strings beg 'before-string #'overlay-start)
                (reader-strings beg 'after-string #'overlay-end))
      shown)))

(defun reader-window (window)
  "Return what WINDOW shows."
  (with-selected-window window
    (concat (format-mode-line header-line-format nil window) "\n"
            (reader-text (window-start) (window-end nil t)) "\n"
            (unless (window-minibuffer-p) (format-mode-line mode-line-format nil window))
            "\n")))

(defun reader-frame ()
  "Return what the selected frame shows."
  (concat (mapconcat #'reader-window (window-list nil (and (active-minibuffer-window) t)) "")
          (and (not (active-minibuffer-window)) (current-message))))

(defun reader-answer (_server client _message)
  "Send CLIENT what the frame shows."
  (let ((shown (condition-case err
                   (substring-no-properties (save-current-buffer (reader-frame)))
                 (error (format "reader: %S" err))))
        (inhibit-message t) message-log-max)
    (ignore-errors (process-send-string client shown)) ; who asked may have given up
    (delete-process client)))

(unless noninteractive
  (setq ediff-window-setup-function #'ediff-setup-windows-plain)
  (make-network-process :name "reader" :server t :family 'local :noquery t :coding 'utf-8 :buffer nil
                        :service (getenv "WALK_SCREEN") :log #'reader-answer))

(provide 'reader)
;;; reader.el ends here
