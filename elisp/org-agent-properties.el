;;; org-agent-properties.el --- Properties of entries for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;; This program is free software; you can redistribute it and/or modify
;; it under the terms of the GNU General Public License as published by
;; the Free Software Foundation, either version 3 of the License, or
;; (at your option) any later version.

;; This program is distributed in the hope that it will be useful,
;; but WITHOUT ANY WARRANTY; without even the implied warranty of
;; MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
;; GNU General Public License for more details.

;; You should have received a copy of the GNU General Public License
;; along with this program.  If not, see <https://www.gnu.org/licenses/>.

;;; Commentary:

;; The act `:set-properties' sets properties of the entry with an `:ID:', in
;; the buffer that has it: an open one, or the one that visits the file
;; where Org knows the entry to be, or an agenda file.  It is made as an
;; edit is, whole or not at all and as one undo step, and asks nothing.
;;
;; The kernel's policy was first; what must not be set is refused again.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'org-agent-act)
(require 'org-agent-edit)

(cl-defmethod org-agent-perform ((_action (eql :set-properties)) params)
  "Set the `:properties' of PARAMS in the entry `:id', once for the act's id."
  (let* ((payload (plist-get params :payload))
         (entry (plist-get payload :id))
         (pairs (org-agent-properties--checked (plist-get payload :properties))))
    (org-agent-edit-once
     params
     (lambda ()
       (org-agent-edit--in
        (list :payload (list :id entry
                             :file (org-agent-properties--file entry)))
        (lambda (_old _new)
          (org-agent-properties--set pairs)))))))

(defun org-agent-properties--checked (pairs)
  "Return PAIRS, two texts each, or refuse what must not be set."
  (unless (and pairs (proper-list-p pairs))
    (org-agent-act-refuse "the act names no property"))
  (dolist (pair pairs pairs)
    (unless (and (proper-list-p pair) (= 2 (length pair))
                 (cl-every #'stringp pair))
      (org-agent-act-refuse "properties are pairs of two texts"))
    (let ((name (upcase (car pair))))
      (cond
       ((or (member name '("ID" "CRON" "END" "PROPERTIES"))
            (member name org-special-properties)
            (string-prefix-p "HEADER-ARGS" name)
            (string-search "+" name)
            (not (string-match-p "\\`[^ \t\n\r:[:cntrl:]]+\\'" name)))
        (org-agent-act-refuse "the property %s is not to be set from outside"
                              (car pair)))
       ((string-match-p "[\n\r\f\v\u2028\u2029]" (cadr pair))
        (org-agent-act-refuse "the value of the property %s is not one line"
                              (car pair)))))))

(defun org-agent-properties--file (entry)
  "Return the file with the ENTRY, an Org id.
Org's own list comes first, then open buffers, then agenda files."
  (unless (and (stringp entry) (not (string-blank-p entry)))
    (org-agent-act-refuse "the act names no entry by its :id"))
  (let ((regexp (format "^[ \t]*:ID:[ \t]+%s[ \t]*$" (regexp-quote entry))))
    (or (ignore-errors (org-agent-edit--file-of entry))
        (cl-some (lambda (buffer)
                   (with-current-buffer buffer
                     (and buffer-file-name (derived-mode-p 'org-mode)
                          (org-agent-properties--has-p regexp)
                          buffer-file-name)))
                 (buffer-list))
        (cl-some (lambda (file)
                   (and (not (file-remote-p file))
                        (ignore-errors
                          (with-current-buffer
                              (org-agent-act-visit
                               (org-agent-act-regular-file
                                (expand-file-name file)))
                            (and (org-agent-properties--has-p regexp)
                                 buffer-file-name)))))
                 (ignore-errors (org-agenda-files t)))
        (org-agent-act-refuse
         "no entry with the id %s is known to Org here, in open buffers or in agenda files"
         entry))))

(defun org-agent-properties--has-p (regexp)
  "Return non-nil when REGEXP matches in the current buffer, widened."
  (let ((case-fold-search t))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (re-search-forward regexp nil t)))))

(defun org-agent-properties--set (pairs)
  "Set PAIRS in the drawer of the entry the buffer is narrowed to.
Return the receipt.  The drawer's other lines stay as they are."
  (goto-char (point-min))
  (let ((case-fold-search t))
    (unless (and (re-search-forward "^[ \t]*:PROPERTIES:[ \t]*\n" nil t)
                 (<= (count-lines (point-min) (point)) 3))
      (org-agent-act-refuse "the entry has no property drawer of its own in %s"
                            (buffer-name)))
    (let* ((beg (point))
           (end (if (re-search-forward "^[ \t]*:END:[ \t]*$" nil t)
                    (line-beginning-position)
                  (org-agent-act-refuse "the drawer of the entry has no end")))
           (old (buffer-substring-no-properties beg end)))
      (org-agent-edit--replace-at
       beg old (org-agent-properties--drawer old pairs)))))

(defun org-agent-properties--drawer (drawer pairs)
  "Return the lines DRAWER with PAIRS set."
  (let ((case-fold-search t)
        (indentation (if (string-match "\\`[ \t]*" drawer)
                         (match-string 0 drawer)
                       "")))
    (pcase-dolist (`(,name ,value) pairs)
      (let ((line (concat indentation
                          (string-trim-right
                           (format "%-10s %s" (concat ":" name ":") value))
                          "\n"))
            (regexp (format "^[ \t]*:%s:\\(?:[ \t].*\\)?\n"
                            (regexp-quote name))))
        (setq drawer
              (if (string-match regexp drawer)
                  (replace-match line t t drawer)
                (concat drawer line)))))
    drawer))

(provide 'org-agent-properties)
;;; org-agent-properties.el ends here
