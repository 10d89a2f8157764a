;;; org-agent-context-test.el --- Tests of attachments  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'cl-lib)
(require 'dired)
(require 'org-agent)
(require 'org-agent-fake-kernel)
(require 'org-agent-kernel-test)
(require 'org-agent-chat)
(require 'org-agent-context)
(require 'org-agent-context-read)
(require 'org-agent-draft)
(require 'org-agent-heading)

(defconst org-agent-context-test--pixel
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  "A PNG image of one pixel.")

(defun org-agent-context-test--file (name text)
  "Make the file NAME with TEXT in the test's directory and return it."
  (let ((file (expand-file-name (concat "files/" name) org-agent-fake-directory))
        (coding-system-for-write 'utf-8-unix))
    (make-directory (file-name-directory file) t)
    (write-region text nil file nil 'silent)
    file))

(defun org-agent-context-test--image (name)
  "Make an image in the file NAME and return it."
  (let ((file (org-agent-context-test--file name ""))
        (coding-system-for-write 'binary))
    (write-region (base64-decode-string org-agent-context-test--pixel)
                  nil file nil 'silent)
    file))

(defmacro org-agent-context-test--in (file &rest body)
  "Run BODY in a window with a buffer that visits FILE; forget it then."
  (declare (indent 1) (debug t))
  `(save-window-excursion
     (let ((buffer (find-file-noselect ,file)))
       (unwind-protect
           (progn (switch-to-buffer buffer) ,@body)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer (set-buffer-modified-p nil))
           (kill-buffer buffer))))))

(defun org-agent-context-test--add (&optional argument)
  "Call `org-agent-add' with ARGUMENT as a person would."
  (let ((current-prefix-arg argument) (inhibit-message t))
    (call-interactively #'org-agent-add)))

(defun org-agent-context-test--draft ()
  "Return the text of the draft of the main conversation."
  (with-current-buffer "*org-agent-chat*"
    (buffer-substring-no-properties (org-agent-draft-start) (point-max))))

(defun org-agent-context-test--say (text)
  "Write TEXT into the heading of the draft, send it, return the event."
  (with-current-buffer "*org-agent-chat*"
    (goto-char (org-agent-draft-start))
    (end-of-line)
    (insert text)
    (let ((inhibit-message t)) (org-agent-send)))
  (org-agent-fake-settle)
  (car (last (org-agent-fake-requests "event"))))

(defun org-agent-context-test--texts (event)
  "Return kind, name and text of each thing that goes along with EVENT."
  (mapcar (lambda (item) (list (plist-get item :kind) (plist-get item :name)
                               (plist-get item :text)))
          (plist-get event :context)))

;;;; Adding

(ert-deftest org-agent-context-region-follows-the-text ()
  "A region is listed with its lines; its text at the time of sending is sent."
  (org-agent-fake-with-chat
    (org-agent-context-test--in
        (org-agent-context-test--file "a b.org" "one\ntwo\nthree\nfour\n")
      (setq-local transient-mark-mode t)
      (goto-char 5) (push-mark 15 t t)
      (let ((point (point)) said)
        (cl-letf (((symbol-function 'message)
                   (lambda (format &rest rest)
                     (setq said (apply #'format-message format rest)))))
          (org-agent-context-test--add))
        (should (equal said "lines 2-3 of a b.org (10 bytes) goes along with the next message in *org-agent-chat*"))
        (should (= point (point))))
      (should (string-match-p
               "\\`\\* \n- Context: lines 2-3 of \\[\\[file:.*/a b\\.org\\]\\[a b\\.org\\]\\]\n\\'"
               (org-agent-context-test--draft)))
      (deactivate-mark)
      (goto-char (point-min)) (insert "zero\nzero\n")
      (goto-char 15) (insert "TWO, ")
      (let ((event (org-agent-context-test--say "What?")))
        (should (equal (org-agent-context-test--texts event)
                       '(("region" "a b.org" "TWO, two\nthree\n"))))
        (should (string-match-p "\\`lines 4-5 of " (plist-get (car (plist-get event :context)) :place)))
        (should (string-match-p
                 "\\`What\\?\n- Context: lines 4-5 of \\[\\[file:.*/a b\\.org\\]\\[a b\\.org\\]\\], 15 bytes\\'"
                 (plist-get event :text)))))))

(ert-deftest org-agent-context-what-the-line-says-is-sent ()
  "A deleted line sends nothing; a changed line sends what it names."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "a.txt" "one\ntwo\nthree\nfour\n")))
      (org-agent-context-test--in file
        (setq-local transient-mark-mode t)
        (goto-char 1) (push-mark 5 t t)
        (org-agent-context-test--add)
        (with-current-buffer "*org-agent-chat*"
          (goto-char (org-agent-draft-start))
          (search-forward "line 1 of")
          (replace-match "lines 3-4 of"))
        (should (equal (org-agent-context-test--texts (org-agent-context-test--say "What?"))
                       '(("region" "a.txt" "three\nfour\n"))))
        (org-agent-context-test--add)
        (with-current-buffer "*org-agent-chat*"
          (goto-char (org-agent-draft-start))
          (search-forward "- Context")
          (delete-region (line-beginning-position) (line-beginning-position 2)))
        (let ((event (org-agent-context-test--say "Nothing?")))
          (should-not (plist-member event :context))
          (should (equal (plist-get event :text) "Nothing?")))))))

(ert-deftest org-agent-context-buffers ()
  "Unsaved text is sent, a narrowed buffer in part, a killed one is refused."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "a.org" "* one\n* two\n")))
      (org-agent-context-test--in file
        (org-agent-context-test--add)
        (org-agent-context-test--add)   ; once is enough
        (goto-char (point-max)) (insert "* thrée \x3fff80\n")
        (narrow-to-region 7 (point-max))
        (let* ((event (org-agent-context-test--say "What?"))
               (item (car (plist-get event :context))))
          (should (= 1 (length (plist-get event :context))))
          (should (equal (plist-get item :text) "* two\n* thrée \ufffd\n"))
          (should (equal (plist-get item :mode) "org-mode"))
          (should (string-match-p "narrowed to lines 2-4, not saved\\'" (plist-get item :place))))))
    (with-current-buffer (get-buffer-create "*some [odd] buffer*")
      (insert "words")
      (org-agent-context-test--add)
      (should (string-match-p "org-agent-buffer:" (org-agent-context-test--draft)))
      (should (equal (org-agent-context-test--texts (org-agent-context-test--say "And?"))
                     '(("buffer" "*some [odd] buffer*" "words"))))
      (org-agent-context-test--add)
      (kill-buffer))
    (let ((before (length (org-agent-fake-requests "event"))))
      (should (string-match-p "is gone"
                              (cadr (should-error (org-agent-context-test--say "Gone?")
                                                  :type 'user-error))))
      (should (= before (length (org-agent-fake-requests "event"))))
      (should (string-match-p "Gone\\?" (org-agent-context-test--draft))))))

(ert-deftest org-agent-context-subtrees-and-ids ()
  "With a prefix argument the subtree is attached, by its ID if it has one."
  (org-agent-fake-with-chat
    (let ((org-id-locations (make-hash-table :test #'equal))
          (org-id-locations-file (expand-file-name "ids" org-agent-fake-directory))
          (org-id-files nil)
          (file (org-agent-context-test--file
                 "s.org" "* TODO One :tag:\nbody\n** Below\n* Two\n:PROPERTIES:\n:ID: id-of-two\n:END:\ntext\n")))
      (org-agent-context-test--in file
        (goto-char (point-min)) (search-forward "body")
        (org-agent-context-test--add '(4))
        (goto-char (point-max)) (forward-line -1)
        ;; The message names the heading, and not the ID that nobody knows.
        (should (string-prefix-p "Two (" (org-agent-context-test--add '(4))))
        (let ((draft (org-agent-context-test--draft)))
          (should (string-match-p "\\[\\[file:.*s\\.org::\\*One\\]\\[One\\]\\]" draft))
          (should (string-match-p "\\[\\[id:id-of-two\\]\\[Two\\]\\]" draft)))
        (should (equal (mapcar #'car (org-agent-context-test--texts (org-agent-context-test--say "What?")))
                       '("subtree" "subtree"))))
      ;; Without the buffers, from the file.
      (org-id-add-location "id-of-two" file)
      (should (equal (org-agent-context-test--texts
                      (org-agent-context-test--say
                       (format "Of [[file:%s::*One]] and [[id:id-of-two][two]]?" file)))
                     '(("subtree" "One" "* TODO One :tag:\nbody\n** Below\n")
                       ("subtree" "Two" "* Two\n:PROPERTIES:\n:ID: id-of-two\n:END:\ntext\n")))))))

(ert-deftest org-agent-context-dired-and-links ()
  "In Dired the marked files are attached, on a link its target."
  (org-agent-fake-with-chat
    (let* ((file (org-agent-context-test--file "d/a.txt" "text a"))
           (image (org-agent-context-test--image "d/p.png"))
           (directory (file-name-directory file)))
      (org-agent-context-test--file "d/skip.txt" "skipped")
      (save-window-excursion
        (dired directory)
        (dired-mark-files-regexp "a\\.txt\\|p\\.png")
        (org-agent-context-test--add)
        (kill-buffer))
      (org-agent-context-test--in
          (org-agent-context-test--file "links.org" (format "see [[file:%s][there]] and [[https://example.org][web]]\n" directory))
        (goto-char (point-min)) (search-forward "there")
        (org-agent-context-test--add)
        (search-forward "web")
        (should-error (org-agent-context-test--add) :type 'user-error))
      (let ((items (plist-get (org-agent-context-test--say "What?") :context)))
        (should (equal (mapcar (lambda (item) (plist-get item :kind)) items)
                       '("file" "image" "directory")))
        (should (equal (plist-get (nth 1 items) :data) org-agent-context-test--pixel))
        (should (equal (plist-get (nth 2 items) :text)
                       "a.txt  6\np.png  70\nskip.txt  7\n")))
      (should (file-exists-p image)))))

(ert-deftest org-agent-context-refusals ()
  "A file that cannot be sent is refused with its name and the reason."
  (org-agent-fake-with-chat
    (pcase-dolist (`(,name ,text ,says)
                   (list '("a.bin" "a\0b" "a\\.bin is no text")
                         (list "big.txt" (make-string 1100000 ?x) "big\\.txt has 1\\.1 MB, 51\\.4 kB more than the 1\\.0 MB")))
      (ert-info (name)
        (save-window-excursion
          (dired (file-name-directory (org-agent-context-test--file name text)))
          (dired-goto-file (expand-file-name (concat "files/" name) org-agent-fake-directory))
          (should (string-match-p says (cadr (should-error (org-agent-context-test--add)))))
          (kill-buffer))))
    (should (equal (org-agent-context-test--draft) "* "))
    (let ((file (expand-file-name "files/a.bin" org-agent-fake-directory)))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) nil)))
        (should-error (org-agent-context-test--say (format "See [[file:%s]]" file)) :type 'user-error))
      (should-not (org-agent-fake-requests "event"))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
        (let ((event (org-agent-context-test--say "")))
          (should (equal (plist-get event :text) (format "See [[file:%s]]" file)))
          (should-not (plist-get event :context)))))
    (with-current-buffer "*org-agent-chat*"
      (goto-char (point-max))
      (insert "Look\n- Context: [[file:/nowhere/x]]\n")
      (should-error (org-agent-send) :type 'user-error))))

(ert-deftest org-agent-context-lines-of-the-message ()
  "A line that only looks like a context line is part of the message."
  (org-agent-fake-with-chat
    (let* ((file (org-agent-context-test--file "a.txt" "text"))
           (words (format "Do it\n- Context: a Debian server\n- Context: see [[file:%s]] first\n- Context: [[https://example.org]]" file))
           (event (org-agent-context-test--say (concat words (format "\n- Context: [[file:%s]], 12 bytes\n" file)))))
      (should (equal (org-agent-context-test--texts event) '(("file" "a.txt" "text"))))
      (should (equal (plist-get event :text)
                     (format "%s\n- Context: [[file:%s][a.txt]], 4 bytes" words file))))
    ;; What is only listed is no message.
    (with-current-buffer "*org-agent-chat*"
      (goto-char (point-max))
      (insert "\n- Context: [[file:/tmp]]\n")
      (should (string-match-p "the draft has attachments and no text"
                              (cadr (should-error (org-agent-send) :type 'user-error)))))))

(ert-deftest org-agent-context-secrets-ask-first ()
  "Secrets are asked about, also by their real names; the token is refused."
  (org-agent-fake-with-chat
    (let* ((secret (org-agent-context-test--file ".ssh/config" "Host x"))
           (link (expand-file-name "innocent" org-agent-fake-directory))
           (asked 0) answer)
      (make-symbolic-link secret link)
      (cl-letf (((symbol-function 'yes-or-no-p)
                 (lambda (_) (cl-incf asked) answer)))
        (org-agent-context-test--in link
          (should-error (org-agent-context-test--add) :type 'user-error)
          (should (= asked 1))
          (should (equal (org-agent-context-test--draft) "* "))
          (setq answer t)
          (org-agent-context-test--add)
          (should (= asked 2))
          (should (equal (org-agent-context-test--texts (org-agent-context-test--say "What?"))
                         '(("file" "innocent" "Host x"))))
          (should (= asked 2)))
        (let ((token (org-agent-state-file "token")))
          (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
            (should-not (plist-get (org-agent-context-test--say (format "See [[file:%s]]" token))
                                   :context))))))))

;;;; Words

(ert-deftest org-agent-context-words ()
  "Links and mentions in the text are attached, except in quoted blocks."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "w.txt" "one\ntwo\n")))
      (with-current-buffer (get-buffer-create "mentioned.txt") (insert "m"))
      (pcase-dolist
          (`(,words . ,names)
           `((,(format "[[file:%s]] and [[%s][again]]" file file) "w.txt")
             (,(format "line 2 of [[file:%s]]" file) "w.txt")
             (,(format "see file:%s." file) "w.txt")
             (,(format "#+begin_quote\n[[file:%s]] @mentioned.txt\n#+end_quote" file))
             ("ask @mentioned.txt, please." "mentioned.txt")
             (,(format "(@%s)" file) "w.txt")
             ("mail a@mentioned.txt or @nobody or @ alone")
             ("[[https://example.org/a.txt]] [[shell:ls]] [[*Heading]]")))
        (ert-info (words)
          (should (equal (mapcar #'org-agent-context-name
                                 (org-agent-context-references words))
                         names))))
      (let ((org-agent-context-links nil))
        (should-not (org-agent-context-references "@mentioned.txt")))
      (should (equal (org-agent-context-test--texts
                      (org-agent-context-test--say (format "line 2 of [[file:%s]]?" file)))
                     '(("region" "w.txt" "two\n"))))
      (kill-buffer "mentioned.txt"))))

(ert-deftest org-agent-context-completion ()
  "A choice after an at sign becomes a link."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "long name.org" "* A heading\nbody\n")))
      (org-agent-context-test--in file
        (push-mark 1 t) (goto-char 5)
        (switch-to-buffer "*org-agent-chat*")
        (delete-other-windows)
        (display-buffer buffer '(display-buffer-pop-up-window))
        (pcase-dolist (`(,typed ,becomes)
                       '(("@long" "\\[\\[file:.*long name\\.org\\]\\[long name\\.org\\]\\] \\'")
                         ("@regi" "line 1 of \\[\\[file:.*long name\\.org\\]\\[long name\\.org\\]\\] \\'")
                         ("@*A h" "\\[\\[file:.*::\\*A heading\\]\\[A heading\\]\\] \\'")))
          (ert-info (typed)
            (goto-char (point-max))
            (insert " in " typed)
            (let ((inhibit-message t)) (completion-at-point))
            (should (string-match-p becomes (buffer-substring-no-properties
                                             (org-agent-draft-start) (point-max))))))
        (should (equal (mapcar #'car (org-agent-context-test--texts (org-agent-context-test--say "")))
                       '("file" "region" "subtree")))))))

(ert-deftest org-agent-context-completion-in-any-style ()
  "What a person's style finds within names is completed, and a name that begins another one is chosen."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file
                 "long name.org" "* A heading\nbody\n* A heading of old\nbody\n"))
          (inhibit-message t))
      (org-agent-context-test--in file
        (switch-to-buffer "*org-agent-chat*")
        (delete-other-windows)
        (display-buffer buffer '(display-buffer-pop-up-window))
        (dolist (completion-styles '((substring) (flex)))
          (pcase-dolist (`(,typed ,becomes)
                         `(("@ng name" "\\[\\[file:.*long name\\.org\\]\\[long name\\.org\\]\\] \\'")
                           ("@of old" "\\[\\[file:.*::\\*A heading of old\\]\\[A heading of old\\]\\] \\'")
                           (,(format "@%sng nam" (file-name-directory (abbreviate-file-name file)))
                            "\\[\\[file:.*long name\\.org\\]\\[long name\\.org\\]\\] \\'")))
            (ert-info ((format "%s %s" completion-styles typed))
              (goto-char (point-max))
              (insert " in " typed)
              (completion-at-point)
              (should (string-match-p becomes (buffer-substring-no-properties
                                               (org-agent-draft-start) (point-max)))))))
        ;; Others complete in the minibuffer or a popup, and tell of a choice that begins another one.
        (let ((choose (lambda (beg end _table _predicate)
                        (delete-region beg end)
                        (insert "*A heading")
                        (funcall (plist-get completion-extra-properties :exit-function)
                                 "*A heading" 'exact)))
              (usual (default-value 'completion-in-region-function)))
          (dolist (function (list choose usual))
            (goto-char (point-max))
            (insert " in @*A h")
            (unwind-protect
                (progn (setq-default completion-in-region-function function)
                       (completion-at-point))
              (setq-default completion-in-region-function usual))
            (should (equal (eq function choose)
                           (looking-back "\\[\\[file:.*::\\*A heading\\]\\[A heading\\]\\] "
                                         (line-beginning-position))))))))))

(ert-deftest org-agent-context-completion-goes-on-in-directories ()
  "After an at sign directories are offered, and TAB lists the files of one at once."
  (org-agent-fake-with-chat
    (let ((directory (file-name-as-directory (expand-file-name "some" org-agent-fake-directory)))
          (inhibit-message t))
      (make-directory (concat directory "deep") t)
      (dolist (name '("one.txt" "other.txt" "deep/only.txt"))
        (write-region name nil (concat directory name) nil 'silent))
      (switch-to-buffer "*org-agent-chat*")
      (delete-other-windows)
      (setq org-agent-context-project directory)
      (cl-flet ((tab (text)
                  (goto-char (point-max))
                  (insert text)
                  (when-let* ((list (get-buffer "*Completions*")))
                    (kill-buffer list))
                  ;; While completions are listed TAB has another command.
                  (let* ((this-command (if completion-in-region-mode
                                           'completion-at-point
                                         'org-cycle))
                         (last-command 'self-insert-command))
                      ;; That waits for two seconds in a real Emacs.
                  (cl-letf (((symbol-function 'minibuffer-message)
                             (lambda (message &rest _)
                               (when (equal (char-before) ?/)
                                 (ert-fail message)))))
                    (call-interactively this-command)))
                  (and (get-buffer "*Completions*")
                       (with-current-buffer "*Completions*"
                         (cl-remove-if-not
                          (lambda (name) (string-search name (buffer-string)))
                          '("one.txt" "other.txt" "deep/" "~/" "some/"))))))
        (should (equal (tab "@") '("~/" "some/")))
        ;; A directory, typed or completed, is gone into with the same key.
        (should (equal (tab (abbreviate-file-name directory)) '("one.txt" "other.txt" "deep/")))
        (should (equal (tab "o") '("one.txt" "other.txt")))
        (should-not (tab "th"))
        (should (string-match-p "\\[\\[file:.*/some/other\\.txt\\]\\[other\\.txt\\]\\] \\'" (buffer-string)))
        (delete-region (line-beginning-position) (point-max))
        (insert "* ")
        (tab (concat "@" directory "de"))
        (should (string-suffix-p "some/deep/" (buffer-string)))
        (should-not (tab ""))
        (should (string-match-p "only\\.txt\\]\\] \\'" (buffer-string)))))))

(ert-deftest org-agent-context-completion-offers-files-first ()
  "After an at sign come the files one is in, and Emacs's own buffers last."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "z.org" "* A heading\nbody\n")))
      (unwind-protect
          (org-agent-context-test--in file
            (get-buffer-create "*Async-native-compile-log*")
            (get-buffer-create "plain")
            (switch-to-buffer "*org-agent-chat*")
            (delete-other-windows)
            (display-buffer buffer '(display-buffer-pop-up-window))
            (goto-char (point-max))
            (insert "see @")
            (pcase-let* ((`(,beg ,end ,table . ,_) (org-agent-add-mention-completion))
                         (names (all-completions (buffer-substring beg end) table))
                         (sort (completion-metadata-get
                                (completion-metadata "" table nil)
                                'display-sort-function)))
              (setq names (funcall sort names))
              (should (member "z.org" (member "*A heading" names)))
              (should (member "plain" (member "z.org" names)))
              (should (member "*Async-native-compile-log*" (member "plain" names)))))
        (mapc (lambda (name) (when (get-buffer name) (kill-buffer name)))
              '("*Async-native-compile-log*" "plain"))))))

(ert-deftest org-agent-context-sizes-are-shown ()
  "The size of each attachment is shown, and the text does not change."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "a.txt" "twelve bytes")))
      (goto-char (point-max))
      (insert (format "See [[file:%s]] and file:%s.gone\n- Context: [[file:%s]]\n" file file (file-name-directory file)))
      (let ((text (buffer-string)) (tick (buffer-chars-modified-tick)))
        (org-agent-context-show)
        (should (equal (mapcar (lambda (overlay)
                                 (substring-no-properties (overlay-get overlay 'after-string)))
                               (sort (cl-remove-if-not (lambda (overlay) (overlay-get overlay 'org-agent-context))
                                                       (overlays-in (point-min) (point-max)))
                                     (lambda (a b) (< (overlay-start a) (overlay-start b)))))
                       '(" (12 bytes)" " (not there)" " (a listing)")))
        (should (equal text (buffer-string)))
        (should (= tick (buffer-chars-modified-tick)))))))

(ert-deftest org-agent-context-size-is-no-text ()
  "A name that is being typed has no size, and one that is typed on loses it."
  (org-agent-fake-with-chat
    (let* ((file (org-agent-context-test--file "a.txt" "twelve bytes"))
           (directory (file-name-directory file)))
      (cl-flet ((shown ()
                  (org-agent-context-show)
                  (mapcar (lambda (overlay)
                            (substring-no-properties (overlay-get overlay 'after-string)))
                          (cl-remove-if-not (lambda (overlay) (overlay-get overlay 'org-agent-context))
                                            (overlays-in (point-min) (point-max))))))
        (goto-char (point-max))
        (insert "See @" directory)
        (should-not (shown))
        (save-excursion (goto-char (point-min))
                        (should (equal (shown) '(" (a listing)"))))
        (insert "a.txt")
        (should-not (cl-find-if (lambda (overlay) (overlay-get overlay 'org-agent-context))
                                (overlays-in (point-min) (point-max))))
        (should-not (shown))
        (insert " and")
        (should (equal (shown) '(" (12 bytes)")))))))

(ert-deftest org-agent-context-sent-again ()
  "A message that was not sent is sent again with the current attachments."
  (org-agent-fake-with-chat
    (let ((file (org-agent-context-test--file "a.txt" "first")))
      (push (cons "event" (lambda (_) '(:error (:code -32007 :message "busy")))) org-agent-fake-answers)
      (let ((event (org-agent-context-test--say (format "See [[file:%s]]" file))))
        (pop org-agent-fake-answers)
        (org-agent-context-test--file "a.txt" "second")
        (with-current-buffer "*org-agent-chat*"
          (goto-char (org-agent-heading-find (plist-get event :id)))
          (org-agent-chat-ctrl-c-ctrl-c))
        (org-agent-fake-settle)
        (let ((again (car (last (org-agent-fake-requests "event")))))
          (should (equal (plist-get again :id) (plist-get event :id)))
          (should (equal (plist-get again :text) (plist-get event :text)))
          (should (equal (org-agent-context-test--texts again) '(("file" "a.txt" "second")))))))))

;;;; With the kernel

(defun org-agent-context-test--blocks ()
  "Return the texts of the prompt that is shown."
  (with-current-buffer "*org-agent-prompt*"
    (save-excursion
      (goto-char (point-min))
      (let (texts)
        (while (re-search-forward "^#\\+begin_example\n" nil t)
          (let ((beg (point)))
            (re-search-forward "^#\\+end_example$")
            (push (org-unescape-code-in-string
                   (buffer-substring-no-properties beg (1- (match-beginning 0))))
                  texts)))
        (nreverse texts)))))

(defun org-agent-context-test--received ()
  "Return the texts of the messages in the last request that the model got."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix) (json-array-type 'list))
      (insert-file-contents (expand-file-name "trace" org-agent-fake-directory))
      (goto-char (point-max))
      (forward-line -1)
      (mapcar (lambda (message)
                (let ((content (alist-get 'content message)))
                  (if (stringp content) content
                    (mapconcat (lambda (part) (alist-get 'text part ""))
                               content ""))))
              (alist-get 'messages (json-read))))))

(ert-deftest org-agent-context-prompt-is-what-is-sent ()
  "`org-agent-prompt' shows exactly what the model receives."
  (org-agent-kernel-test--with
      (list (org-agent-kernel-test--exchange "(:type :response :text \"* Seen\\nit\")"
                                             '(times . -1)))
    (let ((file (org-agent-context-test--file "a.org" "* one\n,* two\n#+end_example\n\nlast"))
          (image (org-agent-context-test--image "p.png")))
      (org-agent-kernel-test--say "Earlier?")
      (org-agent-fake-wait (and (= 1 (org-agent-kernel-test--answers))
                                (not (org-agent-chat-get :turn))))
      (goto-char (point-max))
      (insert (format "Which of [[file:%s]]\nis [[file:%s]]?" file image))
      (let ((text (org-agent-context-test--draft)) (inhibit-message t))
        (org-agent-prompt)
        (org-agent-fake-wait (and (get-buffer "*org-agent-prompt*")
                                  (org-agent-context-test--blocks)))
        (should (equal text (org-agent-context-test--draft))))
      (let ((shown (org-agent-context-test--blocks)) sent)
        (let ((inhibit-message t)) (org-agent-send))
        (org-agent-fake-wait (= 2 (org-agent-kernel-test--answers)))
        (setq sent (org-agent-context-test--received))
        (should (= 4 (length shown) (length sent)))
        ;; Sent are also the lines that say what went along.
        (should (equal shown sent))
        (should (string-match-p "--- \\S-+ data 1: file a\\.org (.*), org-mode, 32 bytes ---\n\\* one\n,\\* two\n#\\+end_example\n\nlast\n---"
                                (car (last shown)))))
      (with-current-buffer "*org-agent-prompt*"
        (should buffer-read-only)
        (goto-char (point-min))
        (should (re-search-forward "^\\* Question (user), " nil t))
        (kill-buffer)))))

(ert-deftest org-agent-context-of-the-kernel-while-it-writes ()
  "A file of the kernel is not sent, also at the moment in which it writes there."
  (org-agent-fake-with-home
    (let* ((token (org-agent-state-file "token"))
           (skills (expand-file-name "skills" org-agent-home))
           (seconds 0)
           (attributes (symbol-function 'file-attributes)))
      (make-directory (file-name-directory token) t)
      (make-directory skills t)
      (with-temp-file token (insert "secret"))
      (cl-letf (((symbol-function 'file-attributes)
                 (lambda (&rest arguments)
                   (dolist (directory (list (file-name-directory token) skills))
                     (set-file-times directory (cl-incf seconds)))
                   (apply attributes arguments))))
        (should (string-match-p
                 "token is in its directory"
                 (cadr (should-error (org-agent-context-read
                                      (list :type 'file :path token :agreed t))
                                     :type 'org-agent-context-read-refused))))
        (should (org-agent-file-in-directory-p
                 (expand-file-name "note.org" skills) skills))
        (should-not (org-agent-file-in-directory-p
                     (concat skills "2/note.org") skills))))))

(provide 'org-agent-context-test)
;;; org-agent-context-test.el ends here
