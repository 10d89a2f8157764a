;;; org-agent-tools-test.el --- Tests of the kernel's requests for tools  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A fake kernel sends the requests to Emacs.  With the real one it is
;; tested that a model gets the results, and what a person has to allow.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agenda)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-agenda)
(require 'org-agent-approval-test)
(require 'org-agent-approval)
(require 'org-agent-private)
(require 'org-agent-rpc)
(require 'org-agent-undo-turn)

(defvar org-agent-tools-test--ran nil
  "Non-nil when the text of a note was evaluated.")

(defconst org-agent-tools-test--plan
  (concat "* Garden                                           :home:\n"
          "** TODO [#A] Water the roses\n"
          "SCHEDULED: <2026-03-02 Mon 09:30-10:15 +1w>\n"
          ":PROPERTIES:\n:ID: roses\n:END:\nTwo cans.\n"
          "** TODO Prune\nDEADLINE: <2026-03-05 Thu>\n"
          "* Trip\n<2026-03-03 Tue>--<2026-03-04 Wed>\n"
          "* Evil\n<%%(setq org-agent-tools-test--ran t)>\n"
          "%%(setq org-agent-tools-test--ran t) diary\n"
          "** TODO Worse\nSCHEDULED: <%%(setq org-agent-tools-test--ran t)>\n"
          "* TODO Secret                                      :noagent:\n"
          "SCHEDULED: <2026-03-02 Mon>\n")
  "A note with dates and with what must not be run.")

(defmacro org-agent-tools-test--with-plan (file &rest body)
  "Run BODY while FILE has the plan; check that nothing in it was run."
  (declare (indent 1) (debug t))
  `(let ((org-agent-tools-test--ran nil))
     (let ((coding-system-for-write 'utf-8-unix))
       (write-region org-agent-tools-test--plan nil ,file nil 'silent))
     (unwind-protect (progn ,@body)
       (should-not org-agent-tools-test--ran)
       (when-let* ((buffer (find-buffer-visiting ,file)))
         (with-current-buffer buffer
           (set-buffer-modified-p nil)
           (kill-buffer))))))

(defmacro org-agent-tools-test--with (&rest body)
  "Run BODY with a fake kernel; `file' has the plan and is the agenda."
  (declare (indent 0) (debug t))
  `(org-agent-fake-with-chat
     (let* ((file (file-truename
                   (expand-file-name "plan.org" org-agent-fake-directory)))
            (org-agenda-files (list file "/ssh:nowhere:/x.org")))
       (org-agent-tools-test--with-plan file ,@body))))

(defun org-agent-tools-test--ask (method &rest params)
  "Return Emacs's result of METHOD with PARAMS."
  (let ((answer (apply #'org-agent-fake-request method params)))
    (should-not (plist-get answer :error))
    (plist-get answer :result)))

(defun org-agent-tools-test--refusal (method &rest params)
  "Return the code and the message with which Emacs refuses METHOD with PARAMS."
  (let ((refusal (plist-get (apply #'org-agent-fake-request method params)
                            :error)))
    (should refusal)
    (cons (plist-get refusal :code) (plist-get refusal :message))))

(defmacro org-agent-tools-test--untouched (buffer &rest body)
  "Run BODY and check that nothing a person has in BUFFER is another then."
  (declare (indent 1) (debug t))
  `(cl-flet ((state ()
               (with-current-buffer ,buffer
                 (list (point) (mark t) mark-active (point-min) (point-max)
                       (buffer-modified-p)
                       ;; Emacs puts boundaries there by a timer of its own.
                       (remq nil buffer-undo-list)
                       (buffer-substring-no-properties (point-min) (point-max))
                       (current-window-configuration) (car kill-ring)
                       (cl-remove-if-not
                        (lambda (b) (string-match-p "\\`\\*Org Agenda" (buffer-name b)))
                        (buffer-list))))))
     (let ((before (state)))
       (prog1 (progn ,@body)
         (cl-mapc (lambda (was is)
                    (if (window-configuration-p was)
                        (with-suppressed-warnings ((obsolete compare-window-configurations))
                          (should (compare-window-configurations was is)))
                      (should (equal was is))))
                  before (state))))))

;;;; What Emacs answers

(ert-deftest org-agent-tools-notes ()
  "Unsaved texts, agenda files and keywords are sent; private ones are not."
  (org-agent-tools-test--with
    (should-not (plist-get (org-agent-tools-test--ask "emacs/notes") :unsaved))
    (with-current-buffer (find-file-noselect file)
      (goto-char (point-max))
      (insert "* TODO New\n")
      (narrow-to-region 1 5)
      (org-agent-tools-test--untouched (current-buffer)
        (let* ((org-todo-keywords '((sequence "TODO" "NEXT(n)" "|" "DONE") (type "A" "B")))
               (_ (setq-default org-todo-keywords org-todo-keywords))
               (result (org-agent-tools-test--ask "emacs/notes" :entry "roses")))
          (should (equal (plist-get result :agenda) (list file)))
          (should (equal (plist-get result :entry) file))
          (should (equal (plist-get result :sequences)
                         '("TODO NEXT(n) | DONE" "A B")))
          (should (equal (plist-get result :unsaved)
                         (list (list :file file :text
                                     (concat org-agent-tools-test--plan
                                             "* TODO New\n")))))))
      (org-agent-private-mode)
      (should-not (plist-get (org-agent-tools-test--ask "emacs/notes") :unsaved))
      (should-not (plist-get (org-agent-tools-test--ask "emacs/notes" :file file)
                             :unsaved))
      (org-agent-private-mode -1)
      (let ((org-agent-agenda--notes-limit 10))
        (should (equal (plist-get (org-agent-tools-test--ask "emacs/notes") :too-large)
                       (list file)))))))

(ert-deftest org-agent-tools-agenda ()
  "Days are as in Org's agenda; nothing is shown, opened or run."
  (org-agent-tools-test--with
    (cl-letf (((symbol-function 'org-today)
               (lambda () (calendar-absolute-from-gregorian '(3 2 2026)))))
      (let* ((org-agent-agenda--days-seconds 100)
             (ask (lambda ()
                    (mapcar (lambda (item)
                              (mapconcat (lambda (key) (format "%s" (or (plist-get item key) "")))
                                         '(:day :kind :time :end :leader :todo :priority :title :id)
                                         "|"))
                            (plist-get (org-agent-tools-test--ask
                                        "emacs/agenda" :file file :from "2026-03-02" :days 8)
                                       :items))))
             (expected '("2026-03-02|upcoming-deadline|||In   3 d.:|TODO||Prune|"
                         "2026-03-02|scheduled|09:30|10:15|Scheduled:|TODO|A|Water the roses|roses"
                         "2026-03-03|block|||(1/2):|||Trip|"
                         "2026-03-04|block|||(2/2):|||Trip|"
                         "2026-03-05|deadline|||Deadline:|TODO||Prune|"
                         "2026-03-09|scheduled|09:30|10:15|Scheduled:|TODO|A|Water the roses|roses"))
             (buffers (buffer-list)))
        (should (equal (funcall ask) expected))
        (should-not (find-buffer-visiting file))
        (should-not (cl-set-difference (buffer-list) buffers))
        (with-current-buffer (find-file-noselect file)
          (goto-char (point-max))
          (insert "* Mine\n")
          (narrow-to-region 3 20)
          (goto-char 7)
          (org-agent-tools-test--untouched (current-buffer)
            (should (equal (funcall ask) expected))
            (let ((org-agent-agenda--days-seconds -1))
              (should (equal (plist-get (org-agent-tools-test--ask
                                         "emacs/agenda" :file file :from "2026-03-02" :days 8)
                                        :next)
                             "2026-03-03")))))
        (should (equal (car (org-agent-tools-test--refusal
                             "emacs/agenda" :file file :from "soon" :days 1))
                       -32602))
        (should (equal (car (org-agent-tools-test--refusal
                             "emacs/agenda" :file "/dev/null" :from "2026-03-02" :days 1))
                       -32002))))))

(ert-deftest org-agent-tools-buffers ()
  "Buffers are listed and read, except private ones."
  (org-agent-tools-test--with
    (let ((words (generate-new-buffer "words"))
          (key (generate-new-buffer ".authinfo")))
      (unwind-protect
          (cl-flet ((names (&rest params)
                      (mapcar (lambda (b) (plist-get b :name))
                              (plist-get (apply #'org-agent-tools-test--ask
                                                "emacs/buffers" params)
                                         :buffers))))
            (with-current-buffer words
              (insert "one\ntwo \u4e16\n" (make-string 3000 ?x) "\nfour")
              (goto-char 3)
              (narrow-to-region 1 6)
              (org-agent-tools-test--untouched words
                (let ((read (org-agent-tools-test--ask
                             "emacs/read" :buffer "words" :unvisiting t :from 2 :limit 2)))
                  (should (equal (plist-get read :text)
                                 (concat "two \u4e16\n" (make-string 2000 ?x)
                                         " … [1000 more characters]\n")))
                  (should (equal (list (plist-get read :from) (plist-get read :total)
                                       (plist-get read :next) (plist-get read :narrow))
                                 '(2 4 4 t))))
                (should-not (plist-get (org-agent-tools-test--ask
                                        "emacs/read" :buffer "words" :from 99)
                                       :text)))
              (should (equal (car (org-agent-tools-test--refusal
                                   "emacs/read" :buffer "words" :region t))
                             -32003))
              (widen)
              (set-mark 5)
              (goto-char 8)
              (setq mark-active t)
              (org-agent-tools-test--untouched words
                (should (equal (plist-get (org-agent-tools-test--ask
                                           "emacs/read" :buffer "words" :region t)
                                          :text)
                               "two"))))
            (should (member "words" (names :limit 100)))
            (should (equal (names :limit 100 :match "WORD") '("words")))
            (should (equal (length (names :limit 1)) 1))
            (should-not (names :limit 100 :match "authinfo"))
            (should (string-match-p
                     "no buffer .authinfo that could be read"
                     (cdr (org-agent-tools-test--refusal "emacs/read" :buffer ".authinfo"))))
            (should-not (cl-find ?\s (names :limit 1000) :key #'string-to-char))
            (let ((org-agent-private-buffers (list (lambda () (error "Broken")))))
              (should-not (names :limit 100)))
            (with-current-buffer (find-file-noselect file)
              (insert "* Unsaved\n")
              (let ((about (plist-get (org-agent-tools-test--ask
                                       "emacs/read" :file file :about t)
                                      :of)))
                (should (equal (plist-get about :file) file))
                (should (plist-get about :modified)))
              (should (string-prefix-p "* Unsaved\n"
                                       (plist-get (org-agent-tools-test--ask
                                                   "emacs/read" :file file
                                                   :buffer (buffer-name))
                                                  :text)))
              (should (equal (car (org-agent-tools-test--refusal
                                   "emacs/read" :buffer (buffer-name) :unvisiting t))
                             -32004))
              (should (equal (car (org-agent-tools-test--refusal
                                   "emacs/read" :buffer "words" :file file))
                             -32004))))
        (kill-buffer words)
        (kill-buffer key)))))

;;;; What is kept from every model

(defconst org-agent-tools-test--secretive
  (concat "* Garden\nTwo cans of water.\n"
          "** Safe :home:NoAgent:\nThe key is canary under a can of water.\n*** Deep\n"
          "** Roses\nwater\n* About :noagent: things\n"
          "* TODO Mine :@private:\n* Trip\nlast water")
  "An Org text of which the lines 3 to 5 and 9 are kept from every model.")

(ert-deftest org-agent-tools-read-withheld ()
  "Private text is not read; the other lines keep their numbers."
  (org-agent-tools-test--with
    (with-current-buffer (find-file-noselect file)
      (erase-buffer)
      (insert org-agent-tools-test--secretive)
      (cl-flet ((read (&rest params)
                  (let ((result (apply #'org-agent-tools-test--ask "emacs/read"
                                       :file file params)))
                    (mapcar (lambda (key) (plist-get result key))
                            '(:from :total :text :next :withheld)))))
        (org-agent-tools-test--untouched (current-buffer)
          (should (equal (read)
                         '(1 11 "* Garden\nTwo cans of water.\n** Roses\nwater\n* About :noagent: things\n* Trip\nlast water\n"
                             nil ((:first 3 :last 5) (:first 9 :last 9)))))
          (should (equal (read :from 4 :limit 1)
                         '(4 11 "** Roses\n" 7 ((:first 4 :last 5)))))
          (should (equal (read :from 9 :limit 1)
                         '(9 11 "* Trip\n" 11 ((:first 9 :last 9))))))
        (goto-char (point-min))
        (search-forward "key is")
        (push-mark (- (point-max) 3) t t)
        (should (equal (read :region t)
                       '(4 11 "** Roses\nwater\n* About :noagent: things\n* Trip\nlast wa"
                           nil ((:first 4 :last 5) (:first 9 :last 9)))))
        (goto-char (point-max))
        (push-mark (- (point-max) 3) t t)
        (should (equal (nth 2 (read :region t)) "ter"))
        (goto-char (point-max))
        (insert "\n#+filetags: :crypt:\n")
        (should (equal (read) '(1 12 nil nil ((:first 1 :last 12)))))))))

(ert-deftest org-agent-tools-withheld-elsewhere ()
  "Private agenda lines are not read, and buffers of such parts are private."
  (org-agent-tools-test--with
    (with-current-buffer (find-file-noselect file)
      (goto-char (point-max))
      (insert "#+begin_src emacs-lisp\n(canary)\n#+end_src\n")
      (should (equal (org-agent-private-parts)
                     (list (cons (save-excursion (goto-char (point-min))
                                                 (search-forward "* TODO Secret")
                                                 (line-beginning-position))
                                 (point-max)))))
      (let ((whole (make-indirect-buffer (current-buffer) "plan-whole" t))
            (part (make-indirect-buffer (current-buffer) "plan-Secret" t))
            source agenda)
        (unwind-protect
            (cl-flet ((names ()
                        (mapcar (lambda (b) (plist-get b :name))
                                (plist-get (org-agent-tools-test--ask
                                            "emacs/buffers" :limit 1000)
                                           :buffers))))
              (with-current-buffer part
                (goto-char (point-max))
                (re-search-backward "^\\* ")
                (narrow-to-region (point) (point-max)))
              (save-window-excursion
                (goto-char (point-max))
                (search-backward "canary")
                (org-edit-special)
                (setq source (current-buffer)))
              (with-current-buffer source
                (should (string-match-p "canary" (buffer-string))))
              (should (member "plan-whole" (names)))
              (should-not (member "plan-Secret" (names)))
              (should-not (member (buffer-name source) (names)))
              (save-window-excursion
                (let ((org-agenda-files (list file))
                      (org-agenda-sticky nil)
                      (inhibit-message t))
                  (org-todo-list)
                  (setq agenda (current-buffer))))
              (with-current-buffer agenda
                (should (string-match-p "Secret" (buffer-string))))
              (let ((read (org-agent-tools-test--ask
                           "emacs/read" :buffer (buffer-name agenda))))
                (should (string-match-p "Prune" (plist-get read :text)))
                (should-not (string-match-p "Secret" (plist-get read :text)))
                (should (plist-get read :withheld))))
          (dolist (buffer (list source part whole agenda))
            (when (buffer-live-p buffer)
              (with-current-buffer buffer (set-buffer-modified-p nil))
              (kill-buffer buffer))))))))

(ert-deftest org-agent-tools-give-way ()
  "While the person types, the answer is that Emacs is busy."
  (org-agent-tools-test--with
    (let ((unread-command-events (list ?a)))
      (pcase-dolist (`(,method . ,params)
                     `(("emacs/notes") ("emacs/buffers") ("emacs/read" :buffer "*org-agent-chat*")
                       ("emacs/agenda" :file ,file :from "2026-03-02" :days 8)))
        (should (plist-get (apply #'org-agent-tools-test--ask method params) :busy)))
      (should-not (find-buffer-visiting file)))))

;;;; What a model is given

(defun org-agent-tools-test--call (tool &rest arguments)
  "Return the reply that calls TOOL with ARGUMENTS."
  (org-agent-rpc-print
   (list :type :request :target :tool :action :call :tool tool :args arguments)))

(defmacro org-agent-tools-test--kernel (call &rest body)
  "Run BODY with a kernel whose model replies CALL to \"go\", then an echo.
`file', in the home, has the plan."
  (declare (indent 1) (debug t))
  `(org-agent-kernel-test--with
       (list (org-agent-kernel-test--exchange ,call '(match . "\\Ago"))
             '((echo . t) (times . -1)))
     (let* ((file (file-truename (expand-file-name "plan.org" org-agent-home)))
            (org-agenda-files (list file))
            (org-id-locations (make-hash-table :test #'equal)))
       (org-agent-tools-test--with-plan file ,@body))))

(defun org-agent-tools-test--went ()
  "Say \"go\" and return the conversation when the answer is there."
  (org-agent-kernel-test--say "go")
  (org-agent-kernel-test--settle 1)
  (org-agent-fake-text))

(ert-deftest org-agent-tools-query-for-a-model ()
  "A query finds unsaved text and nothing private."
  (org-agent-tools-test--kernel
      (org-agent-tools-test--call "org_query" :todo "open" :sort "title")
    (let ((buffer (find-file-noselect file)))
      (with-current-buffer buffer
        (goto-char (point-max))
        (insert "* TODO Buy seeds\n")
        (goto-char 5))
      (let ((text (org-agent-tools-test--untouched buffer
                    (with-current-buffer "*org-agent-chat*"
                      (org-agent-tools-test--went)))))
        (should (string-match-p "4 entries match in 1 file, with what is not saved in Emacs" text))
        (should (string-match-p "plan.org:[0-9]+: TODO Buy seeds" text))
        (should (string-match-p "TODO \\[#A\\] Water the roses  :home:" text))
        (should-not (string-match-p "Secret" text))))))

(ert-deftest org-agent-tools-agenda-for-a-model ()
  "The agenda is Org's own, without private entries."
  (org-agent-tools-test--kernel
      (org-agent-tools-test--call "agenda" :from "2026-03-02" :days 4)
    (let ((text (org-agent-tools-test--went)))
      (should (string-match-p "Monday 2026-03-02\n: +09:30-10:15, Sched" text))
      (should (string-match-p "Trip  (plan.org:10" text))
      (should-not (string-match-p "Secret" text)))
    (should-not (find-buffer-visiting file))))

(ert-deftest org-agent-tools-read-for-a-model ()
  "A buffer without a file is read when the person allows it."
  (let ((words (generate-new-buffer "some words")))
    (unwind-protect
        (org-agent-tools-test--kernel
            (org-agent-tools-test--call "emacs_read" :buffer "some words")
          (with-current-buffer words (insert "the first\nthe second\n"))
          (org-agent-kernel-test--say "go")
          (org-agent-fake-wait (org-agent-asks-of :approval))
          (org-agent-approval-test--decorated)
          (should (string-match-p "Read the buffer some words" (org-agent-fake-text)))
          (should-not (string-match-p "the second" (org-agent-fake-text)))
          (org-agent-allow-once)
          (org-agent-kernel-test--settle 1)
          (should (string-match-p "2.the second" (org-agent-fake-text))))
      (kill-buffer words))))

(ert-deftest org-agent-tools-read-withheld-for-a-model ()
  "A model learns that lines are not shown, and not their text."
  (org-agent-tools-test--kernel
      (org-agent-tools-test--call "emacs_read" :file "plan.org")
    (with-current-buffer (find-file-noselect file)
      (erase-buffer)
      (insert org-agent-tools-test--secretive))
    (let ((text (org-agent-tools-test--went)))
      (should (string-match-p "lines 1 to 11 of 11" text))
      (should (string-match-p "Lines 3 to 5 are not shown" text))
      (should (string-match-p " 6.\\*\\* Roses" text))
      (should (string-match-p "11.last water" text))
      (should-not (string-match-p "canary\\|Safe\\|Mine" text)))))

(ert-deftest org-agent-tools-edit-for-a-model ()
  "An entry is changed in the live buffer once, and the turn can be undone."
  (org-agent-tools-test--kernel
      (org-agent-tools-test--call "org_edit" :id "roses" :tags '("now") :deadline "2026-03-30")
    (with-current-buffer (find-file-noselect file)
      (buffer-enable-undo)
      (goto-char (point-max))
      (insert "mine\n")
      (goto-char 5)
      (let ((before (buffer-string))
            (chat (get-buffer "*org-agent-chat*")))
        (with-current-buffer chat
          (org-agent-kernel-test--say "go")
          (org-agent-fake-wait (org-agent-asks-of :approval))
          (org-agent-approval-test--decorated)
          (should (string-match-p "\\+DEADLINE: <2026-03-30 Mon> SCHEDULED:" (org-agent-fake-text)))
          (org-agent-allow-once)
          (org-agent-kernel-test--settle 1)
          (should (string-match-p "not saved" (org-agent-fake-text))))
        (should (= (point) 5))
        (should (buffer-modified-p))
        (should (string-match-p "\\*\\* TODO \\[#A\\] Water the roses +:now:\nDEADLINE: <2026-03-30 Mon> SCHEDULED: <2026-03-02 Mon 09:30-10:15 \\+1w>\n"
                                (buffer-string)))
        (with-current-buffer chat
          (goto-char (point-min))
          (let ((inhibit-message t))
            (cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t))
                      ((symbol-function 'yes-or-no-p) (lambda (&rest _) t)))
              (org-agent-undo-turn))))
        (org-agent-fake-wait (equal (buffer-string) before))))))

(provide 'org-agent-tools-test)
;;; org-agent-tools-test.el ends here
