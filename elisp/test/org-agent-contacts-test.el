;;; org-agent-contacts-test.el --- Tests of what is told of address books  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; EUDC is the one of Emacs.  org-contacts and BBDB are no part of Emacs:
;; their functions stand here in the shapes that they document.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org)
(require 'org-agent)
(require 'org-agent-contacts)
(require 'org-agent-fake-kernel)

(defvar eudc-protocol)

(defconst org-agent-contacts-test--notes
  (concat "* Ada Lovelace\n:PROPERTIES:\n:EMAIL: ada@engine.example\n:ALIAS: mum, Countess\n:PHONE: +4930 1\n:END:\n"
          "* Charles\n:PROPERTIES:\n:EMAIL: c@engine.example\n:END:\n"
          "* Ada Secret :noagent:\n:PROPERTIES:\n:EMAIL: canary@engine.example\n:END:\n")
  "A file of org-contacts.")

(defun org-agent-contacts-test--db ()
  "Return the headings of the current buffer as `org-contacts-db' does."
  (org-map-entries
   (lambda ()
     (list (org-get-heading t t t t) (point-marker)
           (org-entry-properties (point) 'standard)))))

(defun org-agent-contacts-test--find (query &optional limit)
  "Return the contacts that Emacs tells the kernel for QUERY, at most LIMIT."
  (plist-get (org-agent-contacts-find (list :query query :limit (or limit 20)))
             :contacts))

(defmacro org-agent-contacts-test--with (feature &rest body)
  "Run BODY where only the address book FEATURE is there."
  (declare (indent 1))
  `(cl-letf* (((symbol-function 'featurep)
               (lambda (name &rest _) (eq name ,feature))))
     ,@body))

(ert-deftest org-agent-contacts-org ()
  "Entries of org-contacts are found by name, alias and address; one that models do not see is not."
  (let ((buffer (generate-new-buffer "people")))
    (with-current-buffer buffer
      (insert org-agent-contacts-test--notes)
      (org-mode))
    (unwind-protect
      (cl-letf (((symbol-function 'org-contacts-db)
                 (lambda () (with-current-buffer buffer (org-agent-contacts-test--db)))))
        (org-agent-contacts-test--with 'org-contacts
          (let ((ada '(:name "Ada Lovelace" :aliases ("mum" "Countess")
                       :emails ("ada@engine.example") :phones ("+4930 1")
                       :source "org-contacts")))
            (dolist (query '("ada" "LOVELACE ada" "mum" "ada@engine"))
              (should (equal (org-agent-contacts-test--find query) (list ada))))
            (should (equal (mapcar (lambda (c) (plist-get c :name))
                                   (org-agent-contacts-test--find "engine"))
                           '("Ada Lovelace" "Charles")))
            (should (equal (length (org-agent-contacts-test--find "engine" 1)) 1))
            (should-not (org-agent-contacts-test--find "canary"))
            (should-not (org-agent-contacts-test--find " "))
            (should-not (org-agent-contacts-test--find "nobody")))))
      (kill-buffer buffer))))

(ert-deftest org-agent-contacts-bbdb ()
  "Records of BBDB are found."
  (let ((records '(("Grace Hopper" ("Amazing Grace") ("grace@navy.example") ("+1 2"))
                   (nil nil ("x@y.example") nil))))
    (cl-letf (((symbol-function 'bbdb-records) (lambda () records))
              ((symbol-function 'bbdb-record-name) #'car)
              ((symbol-function 'bbdb-record-aka) #'cadr)
              ((symbol-function 'bbdb-record-mail) #'caddr)
              ((symbol-function 'bbdb-record-phone) (lambda (r &optional _) (nth 3 r)))
              ((symbol-function 'bbdb-phone-string) #'identity))
      (org-agent-contacts-test--with 'bbdb
        (should (equal (org-agent-contacts-test--find "amazing")
                       '((:name "Grace Hopper" :aliases ("Amazing Grace")
                          :emails ("grace@navy.example") :phones ("+1 2") :source "bbdb"))))))))

(ert-deftest org-agent-contacts-eudc-stays-near ()
  "EUDC is asked for what is on this machine, and for nothing on a network."
  (require 'eudc)
  (let (asked)
    (cl-letf (((symbol-function 'eudc-query)
               (lambda (query &rest _)
                 (setq asked query)
                 '(((firstname . "Ada") (lastname . "Lovelace") (email "a@x" "b@x"))
                   ((name . "Bo") (phone . "+3"))))))
      (org-agent-contacts-test--with 'eudc
        (let ((eudc-protocol 'ldap))
          (should-not (org-agent-contacts-test--find "ada"))
          (should-not asked))
        (let ((eudc-protocol 'ecomplete))
          (should (equal (org-agent-contacts-test--find "ada")
                         '((:name "Ada Lovelace" :aliases nil :emails ("a@x" "b@x") :phones nil :source "eudc")
                           (:name "Bo" :aliases nil :emails nil :phones ("+3") :source "eudc"))))
          (should (equal asked '((name . "ada")))))))))

(ert-deftest org-agent-contacts-faults ()
  "An address book that fails is none, and the others are told."
  (cl-letf (((symbol-function 'org-contacts-db) (lambda () (error "It is damaged")))
            ((symbol-function 'bbdb-records) (lambda () '(("Ada"))))
            ((symbol-function 'bbdb-record-name) #'car)
            ((symbol-function 'bbdb-record-aka) #'ignore)
            ((symbol-function 'bbdb-record-mail) #'ignore)
            ((symbol-function 'bbdb-record-phone) #'ignore)
            ((symbol-function 'featurep) (lambda (name &rest _) (memq name '(org-contacts bbdb)))))
    (should (equal (mapcar (lambda (c) (plist-get c :source)) (org-agent-contacts-test--find "ada"))
                   '("bbdb")))))

(provide 'org-agent-contacts-test)
;;; org-agent-contacts-test.el ends here
