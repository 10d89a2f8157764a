;;; org-agent-contacts.el --- The person's address books for the kernel  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The request `emacs/contacts' looks for people in the address books that
;; this Emacs has loaded: org-contacts, BBDB, and what EUDC asks, if that is
;; on this machine.  No package is loaded for it, nothing is asked over the
;; network, and nothing is changed.  An entry of org-contacts that models do
;; not see is left out.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'org-agent)
(require 'org-agent-private)
(require 'org-agent-rpc)

(declare-function org-contacts-db "ext:org-contacts" ())
(declare-function bbdb-records "ext:bbdb" ())
(declare-function bbdb-record-name "ext:bbdb" (record))
(declare-function bbdb-record-aka "ext:bbdb" (record))
(declare-function bbdb-record-mail "ext:bbdb" (record))
(declare-function bbdb-record-phone "ext:bbdb" (record &optional label))
(declare-function bbdb-phone-string "ext:bbdb" (phone))
(declare-function eudc-query "eudc" (query &optional return-attributes no-translation))
(defvar eudc-protocol)

(defconst org-agent-contacts-sources
  '((org-contacts . org-agent-contacts--org)
    (bbdb . org-agent-contacts--bbdb)
    (eudc . org-agent-contacts--eudc))
  "Address books: the feature of each, and who returns entries for a query.")

(defconst org-agent-contacts--near '(bbdb mab macos-contacts ecomplete mailabbrev)
  "What EUDC asks on this machine.  A server of LDAP may take long.")

;;;###autoload
(defun org-agent-contacts-find (params)
  "Return the entries of address books in which the query of PARAMS occurs."
  (let ((query (string-trim (or (plist-get params :query) "")))
        (limit (or (plist-get params :limit) 20))
        all)
    (org-agent-private-briefly
      (unless (string-empty-p query)
        (pcase-dolist (`(,feature . ,find) org-agent-contacts-sources)
          (when (featurep feature)
            (condition-case err
                (dolist (entry (funcall find query))
                  (push (append entry (list :source (symbol-name feature))) all))
              (error
               (org-agent-rpc-log "no entry of %s: %s" feature
                                  (error-message-string err)))))))
      (setq all (nreverse all))
      (list :contacts (cl-subseq all 0 (min limit (length all)))))))

(defun org-agent-contacts--entry (name aliases emails phones)
  "Return an entry with NAME and the lists ALIASES, EMAILS and PHONES."
  (cl-flet ((lines (texts)
              (delq nil (mapcar (lambda (text)
                                  (let ((line (org-agent-one-line (or text "") 200)))
                                    (unless (string-empty-p line) line)))
                                texts))))
    (list :name (org-agent-one-line name 200) :aliases (lines aliases)
          :emails (lines emails) :phones (lines phones))))

(defun org-agent-contacts--match-p (query texts)
  "Return non-nil when each word of QUERY occurs in one of TEXTS."
  (let ((case-fold-search t)
        (text (string-join (delq nil (copy-sequence texts)) "\n")))
    (cl-every (lambda (word) (string-match-p (regexp-quote word) text))
              (split-string query))))

(defun org-agent-contacts--org (query)
  "Return the entries of org-contacts in which QUERY occurs."
  (let (all)
    (pcase-dolist (`(,name ,marker ,properties) (and (fboundp 'org-contacts-db) (org-contacts-db)))
      (cl-flet ((property (key) (cdr (assoc key properties)))
                (words (text) (and text (split-string text "[,;] *\\| +" t))))
        (let ((name (substring-no-properties name))
              (aliases (split-string (or (property "ALIAS") (property "NICKNAME") "") "[,;] *" t))
              (emails (words (property "EMAIL")))
              (phones (split-string (or (property "PHONE") "") "[,;] *" t)))
          (when (and (org-agent-contacts--match-p
                      query (append (list name) aliases emails phones))
                     (org-agent-contacts--shown-p marker))
            (push (org-agent-contacts--entry name aliases emails phones) all)))))
    (nreverse all)))

(defun org-agent-contacts--shown-p (marker)
  "Return non-nil when models may see the heading at MARKER."
  (or (not (markerp marker))
      (when-let* ((buffer (marker-buffer marker)))
        (and (not (org-agent-private-p buffer))
             (with-current-buffer buffer
               (save-restriction
                 (widen)
                 (not (org-agent-private-part-at (marker-position marker)
                                                 (org-agent-private-parts)))))))))

(defun org-agent-contacts--bbdb (query)
  "Return the records of BBDB in which QUERY occurs."
  (let (all)
    (dolist (record (and (fboundp 'bbdb-records) (bbdb-records)))
      (let ((name (or (bbdb-record-name record) ""))
            (aliases (bbdb-record-aka record))
            (emails (bbdb-record-mail record))
            (phones (mapcar #'bbdb-phone-string (bbdb-record-phone record))))
        (when (org-agent-contacts--match-p
               query (append (list name) aliases emails phones))
          (push (org-agent-contacts--entry name aliases emails phones) all))))
    (nreverse all)))

(defun org-agent-contacts--eudc (query)
  "Return what EUDC finds with the name QUERY, unless it asks a network."
  (when (and (fboundp 'eudc-query) (boundp 'eudc-protocol)
             (memq eudc-protocol org-agent-contacts--near))
    (mapcar (lambda (found)
              (cl-flet ((values-of (&rest names)
                          (cl-loop for (name . value) in found
                                   when (memq name names)
                                   append (if (listp value) value (list value)))))
                (org-agent-contacts--entry
                 (or (car (values-of 'name 'cn 'displayname))
                     (string-join (append (values-of 'firstname) (values-of 'lastname)) " "))
                 nil (values-of 'email 'mail 'net) (values-of 'phone 'telephonenumber))))
            (eudc-query (list (cons 'name query))))))

(provide 'org-agent-contacts)
;;; org-agent-contacts.el ends here
