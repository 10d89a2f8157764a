;;; org-agent-edit-test.el --- Edits of live buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-edit)

(defvar org-agent-edit-test--acts 0
  "The number of acts that were sent.")

(defun org-agent-edit-test--file (text &optional name)
  "Return a file with TEXT in the home of the test, named NAME."
  (let ((file (expand-file-name (or name "notes.org") org-agent-fake-directory))
        (coding-system-for-write 'utf-8-unix))
    (write-region text nil file nil 'silent)
    file))

(defun org-agent-edit-test--text (file)
  "Return what FILE holds."
  (with-temp-buffer
    (insert-file-contents file)
    (buffer-string)))

(defvar org-agent-edit-test--about nil
  "What else is said of the acts that are sent, a plist.")

(defun org-agent-edit-test--send (act &rest payload)
  "Have the edit with PAYLOAD performed as the act named ACT; return the answer."
  (apply
   #'org-agent-fake-request
   "act" :id (or act (format "edit-%d" (cl-incf org-agent-edit-test--acts)))
   :session "main" :turn "t" :event "e" :type :request :target :emacs
   :payload (if (plist-get payload :action) payload
              (append '(:action :edit) payload))
   org-agent-edit-test--about))

(defun org-agent-edit-test--refusal (answer)
  "Return the message of the refusal ANSWER."
  (should (= (plist-get (plist-get answer :error) :code) -32002))
  (plist-get (plist-get answer :error) :message))

(defmacro org-agent-edit-test--with (text &rest body)
  "Run BODY with `file', which has TEXT; no buffer visits it afterwards."
  (declare (indent 1) (debug t))
  `(org-agent-fake-with-chat
     (let ((file (org-agent-edit-test--file ,text)))
       (unwind-protect
           (progn ,@body)
         (when-let* ((buffer (find-buffer-visiting file)))
           (with-current-buffer buffer
             (set-buffer-modified-p nil)
             (kill-buffer)))))))

(ert-deftest org-agent-edit-file ()
  "A file without a buffer is changed and saved, and can be undone."
  (org-agent-edit-test--with "* Inbox\n* Gr\u00fc\u00dfe \u4e16\u754c\n"
    (let* ((new "* Inbox\n** TODO \u00dcben\n")
           (answer (plist-get (org-agent-edit-test--send
                               nil :file file :old "* Inbox\n" :new new)
                              :result)))
      (should (equal (list (plist-get answer :saved) (plist-get answer :chars)
                           (plist-get answer :start) (plist-get answer :end)
                           (plist-get answer :sha256))
                     (list t (length new) 1 (1+ (length new))
                           (secure-hash 'sha256 (encode-coding-string new 'utf-8)))))
      (should (equal (org-agent-edit-test--text file)
                     "* Inbox\n** TODO \u00dcben\n* Gr\u00fc\u00dfe \u4e16\u754c\n"))
      (with-current-buffer (find-buffer-visiting file)
        (should-not (buffer-modified-p))
        (let ((last-command nil)) (undo))
        (should (equal (buffer-string) "* Inbox\n* Gr\u00fc\u00dfe \u4e16\u754c\n"))))))

(ert-deftest org-agent-edit-withheld ()
  "Private text is neither changed by acts nor revealed in refusals."
  (let ((text (concat "* A\nsome water\n* Safe :noagent:\n:PROPERTIES:\n:ID: safe\n:END:\n"
                      "canary water\n* B\nend\n")))
    (org-agent-edit-test--with text
      (dolist (about '((:veiled t) (:veiled t :check t)))
        (let ((org-agent-edit-test--about about))
          (pcase-dolist (`(,says . ,payload)
                         `(("not in what may be seen" :file ,file :old "canary" :new "x")
                           ("not in what may be seen" :file ,file :old "the canary water" :new "x")
                           ("not in what may be seen" :file ,file :old "water\n* Safe" :new "x")
                           ("no entry .* that may be seen" :id "safe" :file ,file :old "water" :new "x")
                           ("no entry .* that may be seen" :action :set-properties :id "safe"
                            :file ,file :properties (("x" "y")))
                           ("only the person does that" :file ,file :old "some water\n" :new "some water")
                           ("only the person does that" :file ,file :old "* B" :new "** B")
                           ("only the person does that" :file ,file :old "end" :new "#+filetags: noagent")))
            (let ((refusal (org-agent-edit-test--refusal
                            (apply #'org-agent-edit-test--send nil payload))))
              (should (string-match-p says refusal))
              (should-not (string-match-p "canary" refusal))))
          (should (equal (org-agent-edit-test--text file) text))))
      (let ((org-agent-edit-test--about '(:veiled t)))
        (should (plist-get (plist-get (org-agent-edit-test--send
                                       nil :file file :old "water" :new "wine")
                                      :result)
                           :done)))
      ;; What the person allowed as a change of the whole, as to move it, is made.
      (should (plist-get (plist-get (org-agent-edit-test--send
                                     nil :file file :old "canary" :new "bird")
                                    :result)
                         :done))
      (should (equal (org-agent-edit-test--text file)
                     (string-replace "canary" "bird"
                                     (string-replace "some water" "some wine" text)))))))

(ert-deftest org-agent-edit-live-buffer ()
  "Unsaved work stays unsaved; typing before and after is undone separately."
  (org-agent-edit-test--with "one\ntwo\nthree\n"
    (with-current-buffer (find-file-noselect file)
      (buffer-enable-undo)
      (goto-char (point-max))
      (insert "mine\n")
      (search-backward "hree")
      (let ((answer (org-agent-edit-test--send
                     nil :file file :old "two\n" :new "2\ntwo and a half\n")))
        (should-not (plist-get (plist-get answer :result) :saved)))
      (should (buffer-modified-p))
      (should (looking-at "hree\nmine"))
      (should (equal (org-agent-edit-test--text file) "one\ntwo\nthree\n"))
      (should (equal (buffer-string) "one\n2\ntwo and a half\nthree\nmine\n"))
      (narrow-to-region 1 4)
      (should (plist-get (plist-get (org-agent-edit-test--send
                                     nil :file file :old "mine" :new "yours")
                                    :result)
                         :done))
      (should (equal (buffer-string) "one"))
      (widen)
      (let ((last-command nil))
        (undo)
        (should (equal (buffer-string) "one\n2\ntwo and a half\nthree\nmine\n"))
        (setq last-command 'undo)
        (undo-more 1)
        (should (equal (buffer-string) "one\ntwo\nthree\nmine\n"))
        (undo-more 1)
        (should (equal (buffer-string) "one\ntwo\nthree\n"))))))

(ert-deftest org-agent-edit-refuses ()
  "If the old text does not occur once, the edit is refused with what was found."
  (org-agent-edit-test--with "* A\nalpha beta\n* B\nalpha\n"
    (pcase-dolist
        (`(,message . ,payload)
         `(("not in notes.org\\'" :old "gamma" :new "x")
           ("what is there now (\\+):\n--- notes.org\n\\+\\+\\+ notes.org\n@@ -4,[^@]*@@\n alpha\n-beta\n" :old "alpha\nbeta" :new "x")
           ("occurs 2 times in notes.org, on the lines 2, 4" :old "alpha" :new "x")
           ("not in notes.org" :old "ALPHA BETA" :new "x")
           ("the old text is empty" :old "" :new "x")
           ("the new text is the old one" :old "beta" :new "beta")
           ("two texts" :old 5 :new "x")
           ("names a :file or the :id" :file nil :old "beta" :new "x")
           ("no entry with the id nobody" :file nil :id "nobody" :old "beta" :new "x")
           ("no entry of notes.org has the id" :id "nobody" :old "beta" :new "x")
           ("not a regular file" :file ,org-agent-fake-directory :old "beta" :new "x")
           ("not a regular file" :file "/dev/null" :old "beta" :new "x")
           ("not a file of this machine" :file "/ssh:host:/x" :old "beta" :new "x")
           ("no file with its whole path" :file "notes.org" :old "beta" :new "x")
           ("a conversation" :file ,(org-agent-fake-file "main") :old "beta" :new "x")))
      (ert-info (message)
        (unless (plist-member payload :file)
          (setq payload (append (list :file file) payload)))
        (should (string-match-p
                 message (org-agent-edit-test--refusal
                          (apply #'org-agent-edit-test--send nil payload))))))
    (should (equal (org-agent-edit-test--text file) "* A\nalpha beta\n* B\nalpha\n"))))

(ert-deftest org-agent-edit-asks-nothing ()
  "If Emacs would have to ask, the edit is refused."
  (org-agent-edit-test--with "one\n"
    (cl-flet ((refusal () (org-agent-edit-test--refusal
                           (org-agent-edit-test--send
                            nil :file file :old "one" :new "two"))))
      (with-current-buffer (find-file-noselect file)
        (setq buffer-read-only t)
        (should (string-match-p "read-only" (refusal)))
        (setq buffer-read-only nil)
        (add-hook 'before-change-functions
                  (lambda (&rest _) (yes-or-no-p "Really? ")) nil t)
        (should (string-match-p "nothing was changed" (refusal)))
        (should (equal (buffer-string) "one\n"))
        (kill-local-variable 'before-change-functions)
        (goto-char (point-max))
        (insert "mine")
        (org-agent-edit-test--file "other\n")
        (set-file-times file (time-add nil 10))
        (should (string-match-p "changed on the disk" (refusal)))
        (set-buffer-modified-p nil)
        ;; Without unsaved work what is on the disk counts.
        (should (string-match-p "the old text is not in" (refusal)))
        (should (equal (buffer-string) "other\n"))
        (setq buffer-file-coding-system 'latin-1-unix)
        (should (string-match-p
                 "has no \u4e16"
                 (org-agent-edit-test--refusal
                  (org-agent-edit-test--send
                   nil :file file :old "other" :new "\u4e16"))))))))

(ert-deftest org-agent-edit-entry ()
  "The entry with the given id is changed, and no other."
  (org-agent-edit-test--with "* A\n:PROPERTIES:\n:ID: a1\n:END:\nword\n** Below\nlow\n* B\nword\n"
    (let ((org-id-locations (make-hash-table :test #'equal)))
      (puthash "a1" file org-id-locations)
      (should (plist-get (org-agent-edit-test--send
                          nil :id "a1" :old "word" :new "deed")
                         :result))
      (should (plist-get (org-agent-edit-test--send
                          nil :file file :id "a1" :old "\nlow" :new "\nhigh")
                         :result))
      (should (string-match-p
               "not in" (org-agent-edit-test--refusal
                         (org-agent-edit-test--send
                          nil :id "a1" :old "* B\nword" :new "* C"))))
      (should (equal (org-agent-edit-test--text file)
                     "* A\n:PROPERTIES:\n:ID: a1\n:END:\ndeed\n** Below\nhigh\n* B\nword\n")))))

(ert-deftest org-agent-edit-once ()
  "An act is performed once for its id; a lost receipt is made from the text."
  (org-agent-edit-test--with "* Inbox\n"
    (cl-flet ((send (act settle &rest texts)
                (org-agent-fake-request
                 "act" :id act :session "main" :turn "t" :event "e"
                 :type :request :target :emacs :settle settle
                 :payload (append (list :action :edit :file file) texts))))
      (let* ((texts '(:old "* Inbox\n" :new "* Inbox\n** TODO Once\n"))
             (first (apply #'send "once" nil texts)))
        (should (plist-get first :result))
        (should (equal (plist-get (apply #'send "once" nil texts) :result)
                       (plist-get first :result)))
        (should (equal (plist-get (apply #'send "once" t texts) :result)
                       (plist-get first :result)))
        ;; Another Emacs knows no receipt and looks.
        (setq org-agent-edit--receipts nil)
        (should (plist-get (plist-get (apply #'send "once" t texts) :result) :done))
        (should (equal (org-agent-edit-test--text file) "* Inbox\n** TODO Once\n"))
        (should (string-match-p
                 "nothing was changed"
                 (org-agent-edit-test--refusal
                  (send "lost" t :old "* Inbox\n" :new "* Inbox\n** TODO Lost\n"))))
        (should (equal (plist-get (plist-get (send "gone" t :old "alpha" :new "beta") :error)
                                  :code)
                       -32003))
        (should (plist-get (plist-get (send "deleted" t :old "alpha" :new nil) :result)
                           :done))))))

(ert-deftest org-agent-edit-set-properties ()
  "Properties of an entry are set in its drawer once; invalid ones are refused."
  (org-agent-edit-test--with "* A\n:PROPERTIES:\n:ID: a1\n:Effort: 1\n:END:\nEffort\n* B\n"
    (let ((org-id-locations (make-hash-table :test #'equal)))
      (puthash "a1" file org-id-locations)
      (cl-flet ((set-them (&rest pairs)
                  (org-agent-edit-test--send nil :action :set-properties
                                             :id "a1" :properties pairs)))
        (let ((receipt (plist-get (set-them '("EFFORT" "1:00") '("NOTE" "x \\1")) :result)))
          (should (plist-get receipt :saved)))
        (should (equal (org-agent-edit-test--text file)
                       "* A\n:PROPERTIES:\n:ID: a1\n:EFFORT:   1:00\n:NOTE:     x \\1\n:END:\nEffort\n* B\n"))
        (with-current-buffer (find-buffer-visiting file)
          (let ((last-command nil)) (undo))
          (should (string-match-p ":Effort: 1\n:END:" (buffer-string))))
        (dolist (pair '(("ID" "x") ("header-args:sh" ":eval yes") ("A+" "x")
                        ("CRON" "x") ("TODO" "DONE") ("A" "1\n* B") ("A b" "x")))
          (should (org-agent-edit-test--refusal (set-them pair))))))))

;;;; What the kernel asks about acts

(ert-deftest org-agent-edit-check ()
  "A check reports whether an act is possible, and changes nothing."
  (org-agent-edit-test--with "* A\n:PROPERTIES:\n:ID: a1\n:Effort: 1\n:END:\nword\n"
    (let ((org-id-locations (make-hash-table :test #'equal))
          (text (org-agent-edit-test--text file)))
      (puthash "a1" file org-id-locations)
      (cl-flet ((check (&rest payload)
                  (org-agent-fake-request
                   "act" :id "check" :session "main" :turn "t" :event "e"
                   :type :request :target :emacs :check t :payload payload)))
        (dolist (payload `((:action :edit :file ,file :old "word" :new "deed")
                           (:action :set-properties :id "a1" :properties (("EFFORT" "2")))))
          (should-not (plist-get (apply #'check payload) :error)))
        (pcase-dolist (`(,message . ,payload)
                       `(("what is there now" :action :edit :file ,file
                          :old "* A\nsword" :new "deed")
                         ("no entry" :action :set-properties :id "a2"
                          :properties (("EFFORT" "2")))
                         ("already" :action :set-properties :id "a1"
                          :properties (("Effort" "1")))))
          (ert-info (message)
            (ignore-errors
              (with-current-buffer (find-buffer-visiting file)
                (when (string-match-p "already" message)
                  (goto-char (point-min))
                  (search-forward ":Effort: 1")
                  (replace-match ":Effort:   1"))))
            (should (string-match-p
                     message (org-agent-edit-test--refusal
                              (apply #'check payload))))))
        (should (equal (org-agent-edit-test--text file) text))
        ;; What was checked under an id is still to be done.
        (should (plist-get (plist-get (org-agent-edit-test--send
                                       "check" :file file :old "word" :new "deed")
                                      :result)
                           :done))))))

(ert-deftest org-agent-edit-receipts-say-how-it-was ()
  "A receipt has the text around the change and the former properties."
  (org-agent-edit-test--with "* A\n:PROPERTIES:\n:ID: a1\n:Effort: 1\n:END:\nword here\n"
    (let ((org-id-locations (make-hash-table :test #'equal)))
      (puthash "a1" file org-id-locations)
      (let ((receipt (plist-get (org-agent-edit-test--send
                                 nil :file file :id "a1" :old "word" :new "deed")
                                :result)))
        (should (equal (plist-get receipt :file) file))
        (should (equal (plist-get receipt :before)
                       "* A\n:PROPERTIES:\n:ID: a1\n:Effort: 1\n:END:\n"))
        (should (equal (plist-get receipt :after) " here\n")))
      (let ((receipt (plist-get (org-agent-edit-test--send
                                 nil :action :set-properties :id "a1"
                                 :properties '(("EFFORT" "2") ("NEW" "")))
                                :result)))
        (should (equal (plist-get receipt :former)
                       '((:name "EFFORT" :line ":Effort: 1") (:name "NEW"))))))))

(ert-deftest org-agent-edit-settle-properties ()
  "Whether properties were set is read from the drawer."
  (org-agent-edit-test--with "* A\n:PROPERTIES:\n:ID: a1\n:Effort: 1\n:END:\n"
    (let ((org-id-locations (make-hash-table :test #'equal)))
      (puthash "a1" file org-id-locations)
      (cl-flet ((settle (&rest pairs)
                  (org-agent-fake-request
                   "act" :id "lost" :session "main" :turn "t" :event "e"
                   :type :request :target :emacs :settle t
                   :payload (list :action :set-properties :id "a1"
                                  :properties pairs))))
        (should (string-match-p "nothing was changed"
                                (org-agent-edit-test--refusal
                                 (settle '("EFFORT" "2") '("NEW" "x")))))
        (should (plist-get (plist-get (settle '("EFFORT" "1")) :result) :done))
        (should (equal -32003 (plist-get (plist-get (settle '("EFFORT" "1") '("NEW" "x"))
                                                    :error)
                                         :code)))
        (should (string-match-p ":Effort: 1\n:END:" (org-agent-edit-test--text file)))))))

;;;; What is an edit

(ert-deftest org-agent-edit-tells-what-is-one ()
  "An action is an edit if its performer is one, whatever its name."
  (cl-flet ((act (target action)
              (list :type :request :target target
                    :payload (list :action action :old "a" :new "b"))))
    (should (org-agent-edit-p (act :emacs :edit)))
    (should (org-agent-edit-p (act :emacs :set-properties)))
    (should-not (org-agent-edit-p (act :emacs :open)))
    (should-not (org-agent-edit-p (act :emacs :unheard-of)))
    (should-not (org-agent-edit-p (act :door :edit)))
    (should-not (org-agent-edit-p '(:type :response :payload (:text "edit"))))
    (let ((org-agent-performers '((:exchange . org-agent-edit-perform))))
      (should (org-agent-edit-p (act :emacs :exchange)))
      (should-not (org-agent-edit-p (act :emacs :edit))))))

(provide 'org-agent-edit-test)
;;; org-agent-edit-test.el ends here
