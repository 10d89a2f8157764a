;;; org-agent-properties.el --- Properties of entries for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

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

(defconst org-agent-properties--former-limit (* 1024 1024)
  "Characters that the former values of properties may have.
They are part of the receipt, so that they can be put back.")

(cl-defmethod org-agent-perform ((_action (eql :set-properties)) params)
  "Set the `:properties' of PARAMS in the entry `:id', once for the act's id."
  (let* ((payload (plist-get params :payload))
         (entry (plist-get payload :id))
         (pairs (org-agent-properties--checked (plist-get payload :properties))))
    (org-agent-edit-act
     params
     (lambda () (list :payload (list :id entry)))
     (lambda (_old _new) (org-agent-properties--set pairs))
     (lambda (_old _new) (org-agent-properties--settle pairs))
     (lambda (_old _new) (org-agent-properties--check pairs)))))

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

(defun org-agent-properties--find ()
  "Return the drawer of the entry the buffer is narrowed to: (BEG . TEXT).
TEXT are the lines between its first and its last, the first at BEG."
  (goto-char (point-min))
  (let ((case-fold-search t))
    (unless (and (re-search-forward "^[ \t]*:PROPERTIES:[ \t]*\n" nil t)
                 (<= (count-lines (point-min) (point)) 3))
      (org-agent-act-refuse "the entry has no property drawer of its own in %s"
                            (buffer-name)))
    (let ((beg (point)))
      (unless (re-search-forward "^[ \t]*:END:[ \t]*$" nil t)
        (org-agent-act-refuse "the drawer of the entry has no end"))
      (cons beg (buffer-substring-no-properties beg (line-beginning-position))))))

(defun org-agent-properties--set (pairs)
  "Set PAIRS in the drawer of the entry the buffer is narrowed to.
Return the receipt.  The drawer's other lines stay as they are."
  (pcase-let* ((`(,beg . ,old) (org-agent-properties--check pairs))
               (former (org-agent-properties--former old pairs)))
    (append (org-agent-edit--replace-at
             beg old (org-agent-properties--drawer old pairs))
            (list :former former))))

(defun org-agent-properties--check (pairs)
  "Refuse where PAIRS could not be set as things are; return the drawer."
  (pcase-let* ((`(,beg . ,old) (org-agent-properties--find))
               (new (org-agent-properties--drawer old pairs)))
    (when (equal old new)
      (org-agent-act-refuse "the entry has these properties already"))
    (when (> (cl-loop for former in (org-agent-properties--former old pairs)
                      sum (length (plist-get former :line)))
             org-agent-properties--former-limit)
      (org-agent-act-refuse "what the properties are now is too long to be put back later"))
    (org-agent-edit--check-encoding new)
    (cons beg old)))

(defun org-agent-properties--settle (pairs)
  "Say what became of setting PAIRS, by looking at the drawer.
The answer is a receipt, or a refusal that says that nothing happened."
  (pcase-let* ((`(,beg . ,drawer) (org-agent-properties--find))
               (there (cl-count-if
                       (pcase-lambda (`(,name ,value))
                         (equal (org-agent-properties--value drawer name)
                                (string-trim value)))
                       pairs)))
    (cond
     ((= there (length pairs))
      (org-agent-edit--receipt beg drawer (not (buffer-modified-p))))
     ((= there 0)
      (org-agent-act-refuse "nothing was changed: the properties are others"))
     (t (org-agent-edit-untold "some of the properties are as they were to be, and some are not")))))

(defun org-agent-properties--regexp (name)
  "Return a regexp for the line of the property NAME."
  (format "^[ \t]*:%s:\\(?:[ \t]\\(.*\\)\\)?\n" (regexp-quote name)))

(defun org-agent-properties--line (drawer name)
  "Return the line of the property NAME in DRAWER, with its end, or nil."
  (let ((case-fold-search t))
    (and (string-match (org-agent-properties--regexp name) drawer)
         (match-string 0 drawer))))

(defun org-agent-properties--value (drawer name)
  "Return the value of the property NAME in DRAWER, or nil."
  (let ((case-fold-search t))
    (and (string-match (org-agent-properties--regexp name) drawer)
         (string-trim (or (match-string 1 drawer) "")))))

(defun org-agent-properties--former (drawer pairs)
  "Return what DRAWER has of the properties that PAIRS set, for the receipt."
  (mapcar (pcase-lambda (`(,name ,_))
            (let ((line (org-agent-properties--line drawer name)))
              (append (list :name name)
                      (and line (list :line (string-remove-suffix "\n" line))))))
          pairs))

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
                          "\n")))
        (setq drawer
              (if (string-match (org-agent-properties--regexp name) drawer)
                  (replace-match line t t drawer)
                (concat drawer line)))))
    drawer))

(provide 'org-agent-properties)
;;; org-agent-properties.el ends here
