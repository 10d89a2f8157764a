;;; org-agent-page-test.el --- Tests of what one sees of a conversation  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A test has a file and the page that one sees of it.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent-fake-kernel)
(require 'org-agent-answer)
(require 'org-agent-chat)
(require 'org-agent-heading)
(require 'org-agent-page)

(defun org-agent-page-test--seen (&optional beg end)
  "Return what one sees of the buffer between BEG and END."
  (let ((position (or beg (point-min)))
        (end (or end (point-max)))
        (seen ""))
    (while (< position end)
      (let* ((next (min end (next-single-char-property-change position 'display)
                        (next-single-char-property-change position 'invisible)))
             (display (get-char-property position 'display)))
        (cond ((invisible-p position))
              ;; The blank before a free line is only for the cursor.
              ((stringp display)
               (setq seen (concat seen (string-remove-prefix
                                        (if (string-suffix-p "\n\n" display) " " "")
                                        display))))
              (t (setq seen (concat seen (buffer-substring position next)))))
        ;; A string stands instead of all the text that has it.
        (setq position (if (and (stringp display) (not (invisible-p position)))
                           (min end (next-single-char-property-change
                                     position 'display))
                         next))))
    (substring-no-properties seen)))

(defmacro org-agent-page-test--with (file &rest body)
  "Evaluate BODY in a buffer with the text FILE, shown as a page.
It is shown as where there is nothing but ASCII."
  (declare (indent 1) (debug t))
  `(cl-letf (((symbol-function 'char-displayable-p) (lambda (char) (< char 128))))
     (with-temp-buffer
       (insert ,file)
       (org-agent-chat-mode)
       (font-lock-ensure)
       ,@body)))

(defun org-agent-page-test--stays (times)
  "Check that the page stays as it is when TIMES parts are highlighted anew.
The parts are random, and the same whenever the test runs."
  (random "page")
  (let ((page (org-agent-page-test--seen)))
    (dotimes (_ times)
      (let* ((a (+ (point-min) (random (buffer-size))))
             (b (+ (point-min) (random (buffer-size)))))
        (font-lock-flush (min a b) (max a b))
        (font-lock-ensure (min a b) (max a b))
        (should (equal (org-agent-page-test--seen) page))))))

(defun org-agent-page-test--faces (text)
  "Return the faces of the first character of TEXT."
  (save-excursion
    (goto-char (point-min))
    (search-forward text)
    (ensure-list (get-text-property (match-beginning 0) 'face))))

(defconst org-agent-page-test--turn
  "* What is new?                                  :user:
:PROPERTIES:
:ID:       q1
:END:
In the last week.
** Three things                                   :agent:
:PROPERTIES:
:ID:       a1
:MODEL:    m
:END:
:THOUGHTS:
: The person wants news,
: and of the last week.
:END:
:COMMENTARY:
: I read what
: came in.
:
: And *this*, which is longer than the line that stands for it can be shown.
:END:
:CALLS:
: read (:path \"a.org\")
:   performed in 0.01 s:
:   forty lines
:
: read (:path \"b.org\")
:   performed in 0.01 s
:
: (:type :request :target :shell :cmd \"make\")
:   denied in 3.20 s:
:   not now
:END:
They are =new= and *bold*.
*** The first
| *a* | b |
* "
  "A question, its answer, and the draft.")

(ert-deftest org-agent-page-is-what-one-reads ()
  "Of drawers, tags and stars nothing is seen, of calls and thoughts a line each."
  (org-agent-page-test--with org-agent-page-test--turn
    (should (equal (org-agent-page-test--seen)
                   "> What is new?
In the last week.
Three things
+ thought, 9 words
+ I read what came in. And *this*, which is longer than the line that...
+ called read ×2, shell (denied)
They are new and bold.
The first
| a   | b |

> "))
    (should (memq 'org-agent-page-question (org-agent-page-test--faces "What")))
    (should (memq 'org-agent-page-question (org-agent-page-test--faces "In the last")))
    (should-not (memq 'org-agent-page-question (org-agent-page-test--faces "They are")))
    (should (memq 'org-agent-page-answer-title (org-agent-page-test--faces "Three")))))

(ert-deftest org-agent-page-however-it-is-highlighted ()
  "The page is the same whichever part of it is highlighted anew, and when."
  (org-agent-page-test--with
      (concat org-agent-page-test--turn "More?  :user:\n:PROPERTIES:\n:ID: q2\n:END:\n"
              "** Stopped :agent:\n:PROPERTIES:\n:ID: a2\n:STATE: cancelled\n:END:\nText.\n* ")
    (org-agent-page-test--stays 200)))

(ert-deftest org-agent-page-file-is-there ()
  "A key shows the file as it is, and the page again; the file never changes."
  (org-agent-page-test--with org-agent-page-test--turn
    (let ((page (org-agent-page-test--seen)))
      (set-buffer-modified-p nil)
      (org-agent-page-toggle)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) org-agent-page-test--turn))
      (org-agent-page-toggle)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) page))
      (should-not (buffer-modified-p))
      (should (equal (buffer-string) org-agent-page-test--turn))
      (should-not (overlays-in (point-min) (point-max))))))

(ert-deftest org-agent-page-names-actions ()
  "An action that calls no tool has the name of what it does.
Lines of results are no calls, as files of before indented none."
  (pcase-dolist (`(,name . ,line)
                 '(("edit" . ": (:type :request :target :emacs :payload (:action :edit :file \"/a\"))")
                   ("shell" . ": (:type :request :target :shell :cmd \"make :target :x\")")
                   ("read_file" . ": read_file (:path \"a\")")))
    (should (equal (org-agent-fontify--calls-summary
                    (list line ": performed in 0.02 s:" ": done in Emacs" ": and more"))
                   (concat "called " name)))))

(ert-deftest org-agent-page-states ()
  "What became of a turn is said in words, and an error looks like one."
  (cl-flet ((seen (heading state)
              (org-agent-page-test--with
                  (concat heading "\n:PROPERTIES:\n:ID: x\n" state ":END:\nbody\n")
                (cons (org-agent-page-test--seen)
                      (org-agent-page-test--faces
                       (if (string-search "Words" heading) "Words" "Stopped"))))))
    (pcase-dolist (`(,heading ,state ,page ,face)
                   '(("** Words :agent:" ":STATE: failed\n" "! Words\nbody\n" org-agent-page-trouble)
                     ("** Stopped :agent:" ":STATE: cancelled\n" "Stopped\nbody\n"
                      org-agent-page-answer-title)
                     ("** Words :agent:" ":STATE: cancelled\n" "Words  stopped\nbody\n"
                      org-agent-page-answer-title)
                     ("** Words :agent:" ":STATE: interrupted\n" "Words  broke off\nbody\n"
                      org-agent-page-answer-title)
                     ("** Words and… :agent:" "" "Words and…\nbody\n" org-agent-page-excerpt)
                     ("** Words and… :agent:" ":STATE: cancelled\n" "Words and…  stopped\nbody\n"
                      org-agent-page-excerpt)
                     ("** Words :agent:mine:" "" "Words  :mine:\nbody\n" org-agent-page-answer-title)
                     ("** TODO Words :agent:" ":ASKS: approval\n" "? Words\nbody\n" org-agent-page-answer-title)
                     ("** DONE Words :agent:" ":ASKS: approval\n" "+ Words\nbody\n" org-agent-page-quiet)
                     ("** CANCELLED Words :agent:" ":ASKS: approval\n" "- Words\nbody\n" org-agent-page-quiet)
                     ("** TODO Words :agent:" "" "TODO Words\nbody\n" org-agent-page-answer-title)
                     ("* Words :user:unsent:" "" "> Words  not sent; C-c C-c sends it\nbody\n"
                      org-agent-page-question-title)))
      (pcase-let ((`(,seen . ,faces) (seen heading state)))
        (should (equal seen page))
        (should (memq face faces))))))

;; A turn that differs from others is not to be taken for one of them.
(ert-deftest org-agent-page-tells-answers-apart ()
  "Another answer to a question is marked; the first, and one behind a letter or what was sent, is not."
  (let ((head (lambda (title more) (concat "** " title " :agent:\n:PROPERTIES:\n:ID: x\n" more ":END:\n"))))
    (org-agent-page-test--with
        (concat "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:\n"
                (funcall head "DONE Approved once: x" ":ASKS: approval\n")
                (funcall head "One" "") "*** Part\nwords\n"
                (funcall head "Two" "")
                (funcall head "Some…" "") "Some words.\n"
                "* R :user:\n:PROPERTIES:\n:ID: r\n:END:\n"
                (funcall head "plot.png" ":SENT: t\n")
                (funcall head "Three" "")
                (funcall head "more.png" ":SENT: t\n"))
      (should (equal (org-agent-page-test--seen)
                     (concat "> Q\n+ Approved once: x\nOne\nPart\nwords\nTwo  another answer\n"
                             "another answer\nSome words.\n\n> R\nplot.png\nThree\nmore.png\n"))))))

(ert-deftest org-agent-page-marks-what-differs ()
  "A question asked anew, a branch and a preferred answer each have a quiet mark."
  (pcase-dolist (`(,heading ,property ,page)
                 '(("* Words :user:" ":INSTEAD: q0\n" "> Words  asked anew\nbody\n")
                   ("** Words :user:" ":HISTORY: branch\n" "> Words  branch\nbody\n")
                   ("** Words :user:" "" "> Words  branch\nbody\n")
                   ("** Words :draft:" ":HISTORY: branch\n" "> Words   branch\nbody\n")
                   ("* Words :user:mine:" ":INSTEAD: q0\n" "> Words  asked anew  :mine:\nbody\n")
                   ("** Words :user:unsent:" ":INSTEAD: q0\n"
                    "> Words  not sent; C-c C-c sends it\nbody\n")
                   ("* Words :user:" ":HISTORY: 3\n" "> Words\nbody\n")
                   ("** Words :agent:" ":PREFERRED: t\n" "Words  preferred\nbody\n")
                   ("** Words :agent:" ":STATE: truncated\n:PREFERRED: t\n"
                    "Words  cut short  preferred\nbody\n")))
    (org-agent-page-test--with
        (concat heading "\n:PROPERTIES:\n:ID: x\n" property ":END:\nbody\n")
      (should (equal (org-agent-page-test--seen) page))))
  ;; It stands alone where the title only repeats how the text begins.
  (pcase-dolist (`(,property ,calls ,mark ,page)
                 '((":PREFERRED: t\n" "" "preferred" "preferred\nSome words.\n")
                   (":PREFERRED: t\n"
                    ":CALLS:\n: read (:path \"a\")\n:   performed in 0.01 s\n:END:\n"
                    "preferred" "preferred\n+ called read\nSome words.\n")
                   (":STATE: cancelled\n" "" "stopped" "stopped\nSome words.\n")
                   (":STATE: interrupted\n"
                    ":CALLS:\n: read (:path \"a\")\n:   performed in 0.01 s\n:END:\n"
                    "broke off" "broke off\n+ called read\nSome words.\n")
                   (":STATE: truncated\n:PREFERRED: t\n" ""
                    "cut short  preferred" "cut short  preferred\nSome words.\n")))
    (org-agent-page-test--with
        (concat "** Some…  :agent:\n:PROPERTIES:\n:ID: x\n:END:\n" calls "Some words.\n")
      (goto-char (point-min))
      (search-forward ":END:")
      (forward-line 0)
      (insert property)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) page))
      (goto-char (point-min))
      (org-agent-heading-call-org 'org-fold-hide-subtree 'outline-hide-subtree)
      (run-hook-with-args 'org-cycle-hook 'folded)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) (concat "Some…  " mark)))))
  ;; The mark comes and goes with its property.
  (org-agent-page-test--with "** Words  :agent:\n:PROPERTIES:\n:ID: x\n:END:\nbody\n"
    (goto-char (point-min))
    (search-forward ":END:")
    (forward-line 0)
    (insert ":PREFERRED: t\n")
    (font-lock-ensure)
    (should (equal (org-agent-page-test--seen) "Words  preferred\nbody\n"))
    (delete-region (line-beginning-position 0) (point))
    (font-lock-ensure)
    (should (equal (org-agent-page-test--seen) "Words\nbody\n"))))

;; Org would leave an ellipsis behind the words, and one would write on before it.
(ert-deftest org-agent-page-property-is-set ()
  "The first property of a draft is not seen, nor is that Org folds its drawer."
  (org-agent-page-test--with "* Ask :user:\n** Words :agent:\nbody\n* What now?\n"
    (goto-char (point-max))
    (forward-line -1)
    (org-set-property "MODEL" "large")
    (font-lock-ensure)
    (should (string-suffix-p "* What now?\n:PROPERTIES:\n:MODEL:    large\n:END:\n"
                             (buffer-string)))
    (should (string-suffix-p "> What now?\n" (org-agent-page-test--seen)))
    (should-not (cl-find 'outline (overlays-in (point-min) (point-max))
                         :key (lambda (overlay) (overlay-get overlay 'invisible))))))

;; Nothing that is hidden is highlighted, so the heading has to be.
(ert-deftest org-agent-page-change-of-a-property-is-seen ()
  "A property that changes has its heading highlighted, and no other."
  (org-agent-fake-with-chat
    (switch-to-buffer "*org-agent-chat*")
    (let ((noninteractive nil)) (font-lock-mode 1))
    (should jit-lock-mode)
    (goto-char (point-min))
    (insert "* Ask :user:\n** Words  :agent:\n:PROPERTIES:\n:ID: x\n:END:\nbody\n")
    (jit-lock-fontify-now (point-min) (point-max))
    (goto-char (point-min))
    (search-forward ":END:")
    (forward-line 0)
    (insert ":PREFERRED: t\n")
    (goto-char (point-min))
    (should (get-text-property (point) 'fontified))
    (search-forward "Words")
    (should-not (get-text-property (point) 'fontified))))

(ert-deftest org-agent-page-draft-of-a-branch-is-written ()
  "What is typed into the empty draft of a branch is not hidden with its tag.
Emacs would move point behind the drawer."
  (org-agent-page-test--with
      (concat "* Q :user:\n:PROPERTIES:\n:ID: x\n:END:\n"
              (org-agent-heading-line 2 "" '("draft"))
              ":PROPERTIES:\n:HISTORY:  branch\n:END:\n")
    (goto-char (point-min))
    (re-search-forward "^\\*\\* ")
    (should-not (get-text-property (1- (point)) 'invisible))
    (dolist (typed '("a" " "))
      (insert-and-inherit typed)
      (org-align-tags)
      (font-lock-ensure)
      (should (equal typed (buffer-substring-no-properties (1- (point)) (point))))
      (should-not (get-text-property (1- (point)) 'invisible)))))

(ert-deftest org-agent-page-unsent-question-is-corrected ()
  "What is typed behind the words of a heading is seen, also behind blanks.
So it is in a question that was not sent, in a draft and in a person's heading."
  (dolist (heading '("* Hello                    :user:unsent:" "* Hello   :user:"
                     "** Hello            :draft:" "* Hello   :user:unsent:mine:"))
    (org-agent-page-test--with (concat heading "\n:PROPERTIES:\n:ID: q\n:END:\n* ")
      (goto-char (point-min))
      (search-forward "Hello")
      (dolist (typed '(" " " " " " "x" " " "y"))
        (insert-and-inherit typed)
        (should-not (get-text-property (1- (point)) 'invisible))
        (should-not (get-text-property (1- (point)) 'display))
        (font-lock-ensure))
      (should (equal (org-agent-heading-title (point-min)) "Hello   x y"))
      (should (string-search "Hello   x y" (org-agent-page-test--seen))))))

(ert-deftest org-agent-page-excerpt-is-the-text ()
  "A title that only repeats how the text begins is shown as its beginning."
  (let ((file "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:
** Some ~words~ for a…  :agent:\n:PROPERTIES:\n:ID: a\n:END:
Some ~words~ for a beginning.\nMore.\n* "))
    (org-agent-page-test--with file
      (let ((page "> Q\nSome words for a beginning.\nMore.\n\n> "))
        (should (equal (org-agent-page-test--seen) page))
        (should-not (memq 'org-level-2 (org-agent-page-test--faces "Some")))
        (should (memq 'org-code (org-agent-page-test--faces "words")))
        (org-agent-page-test--stays 200)
        ;; Other text is not what the title repeats.
        (goto-char (point-min))
        (search-forward "beginning")
        (forward-line 0)
        (insert "x")
        (font-lock-ensure)
        (should (string-search "Some words for a…\nxSome" (org-agent-page-test--seen)))))
    ;; The title has no markup where a line of the text was too long for one.
    (org-agent-page-test--with
        "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:
** Some words for a…  :agent:\n:PROPERTIES:\n:ID: a\n:END:
Some *words* for [[https://example.org][a]] beginning.\n* "
      (should (equal (org-agent-page-test--seen)
                     "> Q\nSome words for a beginning.\n\n> "))
      (goto-char (point-min))
      (search-forward "** Some words")
      (org-agent-heading-call-org 'org-fold-hide-subtree 'outline-hide-subtree)
      (run-hook-with-args 'org-cycle-hook 'folded)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) "> Q\nSome words for a…\n\n> ")))
    ;; What was thought stands between the two.
    (org-agent-page-test--with (replace-regexp-in-string
                                "^Some" ":THOUGHTS:\n: Oh.\n:END:\nSome" file)
      (should (equal (org-agent-page-test--seen)
                     "> Q\n+ thought, 1 word\nSome words for a beginning.\nMore.\n\n> "))
      (goto-char (point-min))
      (search-forward "Some ~words")
      (org-agent-heading-call-org 'org-fold-hide-subtree 'outline-hide-subtree)
      (run-hook-with-args 'org-cycle-hook 'folded)
      (font-lock-ensure)
      (should (equal (org-agent-page-test--seen) "> Q\nSome words for a…\n\n> "))
      (org-agent-heading-call-org 'org-fold-show-all 'org-show-all)
      (run-hook-with-args 'org-cycle-hook 'all)
      (font-lock-ensure)
      ;; Point may be at the hidden heading where one sees the thought.
      (goto-char (point-min))
      (search-forward "** ")
      (should (org-agent-page-toggle-drawer))
      (should (equal (org-agent-page-test--seen)
                     "> Q\n- thought, 1 word\n: Oh.\nSome words for a beginning.\nMore.\n\n> ")))))

(ert-deftest org-agent-page-has-no-ellipsis-of-drawers ()
  "What a page hides anyway Org does not fold as well, which one would see."
  (org-agent-page-test--with
      "* Q :user:\n:PROPERTIES:\n:ID: q\n:END:\n** Title  :agent:\n:PROPERTIES:\n:ID: a\n:END:
:THOUGHTS:\n: Oh.\n:END:\nText.\n* "
    (let ((page (org-agent-page-test--seen))
          ;; Each ends with all unfolded.
          (ways (list (lambda ()
                        (let ((this-command 'org-cycle) (last-command nil))
                          (dotimes (_ 3)
                            (org-cycle-internal-global)
                            (setq last-command 'org-cycle))))
                      (lambda ()
                        (let ((org-startup-folded nil))
                          (org-agent-heading-call-org 'org-cycle-set-startup-visibility
                                                      'org-set-startup-visibility))
                        (org-agent-page-unfolded 'all)))))
      (dolist (way ways)
        (funcall way)
        (font-lock-ensure)
        (should (equal (org-agent-page-test--seen) page))
        (dolist (overlay (overlays-in (point-min) (point-max)))
          (should-not (eq (overlay-get overlay 'invisible) 'outline)))
        (let ((folded-p 'org-fold-folded-p)) ; Org 9.6
          (when (fboundp folded-p)
            (should-not (cl-some (lambda (position) (funcall folded-p position 'drawer))
                                 (number-sequence (point-min) (point-max))))))))))

(ert-deftest org-agent-page-leaves-a-persons-text-alone ()
  "A heading of the person's own is as they wrote it, and so is its drawer's name."
  (org-agent-page-test--with
      (concat "* My own :mine:\ntext\n" org-agent-page-test--turn)
    (should (string-prefix-p "* My own :mine:\ntext\n" (org-agent-page-test--seen)))))

(ert-deftest org-agent-page-waits ()
  "A question that waits for its turn says so."
  (org-agent-fake-with-chat
    (let ((question (org-agent-fake-say "Hello")))
      (org-agent-heading-mark-waiting question t)
      (font-lock-ensure)
      (should (string-match-p "Hello +waits for its turn\n" (org-agent-page-test--seen)))
      (org-agent-heading-mark-waiting question nil)
      (font-lock-ensure)
      (should-not (string-match-p "waits" (org-agent-page-test--seen))))))

(ert-deftest org-agent-page-room-moves ()
  "The free line is above the next question, also while an answer comes."
  (org-agent-fake-with-chat
    (cl-letf (((symbol-function 'char-displayable-p) (lambda (char) (< char 128)))
              (question (org-agent-fake-say "Hello")))
      ;; As in a window, where only what changed is highlighted anew.
      (switch-to-buffer "*org-agent-chat*")
      (let ((noninteractive nil)) (font-lock-mode 1))
      (should jit-lock-mode)
      (cl-flet ((seen ()
                  (font-lock-ensure)
                  (goto-char (point-min))
                  (search-forward "* Hello")
                  (org-agent-page-test--seen (line-beginning-position))))
        (should (equal (seen) "> Hello\n\n> "))
        (org-agent-fake-delta question "a1" 0 "** Title\nSome ")
        (org-agent-fake-wait org-agent-answer-previews)
        (org-agent-fake-settle)
        (should (string-match-p "\\`> Hello\n\\S-*Title\nSome \n\n> \\'" (seen)))
        (org-agent-fake-act "a1" question "** Title\nSome words\n")
        (org-agent-fake-settle)
        (should (string-match-p "\\`> Hello\n\\S-*Title\nSome words\n\n> \\'" (seen)))))))

(ert-deftest org-agent-page-room-is-never-above-an-answer ()
  "No free line is left above text that comes, also before it is highlighted.
Emacs highlights while it draws, and has drawn the line above then."
  (let* ((drawer ":PROPERTIES:\n:ID: a2\n:END:\n")
         (comes
          (list
           (lambda (question)
             (org-agent-fake-delta question "a2" 0 (concat "** Title  :agent:\n" drawer "Some ")))
           (lambda (question)
             (org-agent-fake-delta question "a2" 0 "** Title that is not yet whole"))
           (lambda (question)
             (org-agent-fake-act "a2" question (concat "** Title  :agent:\n" drawer "Some\n")))
           (lambda (question)
             (org-agent-fake-act "a2" question
                                 (concat "** TODO May I?  :agent:\n" drawer "Now?\n"))))))
    (cl-loop
     for (come . shown) in (append (mapcar #'list comes)
                                   (mapcar (lambda (come) (cons come t)) comes))
     do (org-agent-fake-with-chat
          (let ((question (org-agent-fake-say "Hello")))
            (when shown
              (switch-to-buffer "*org-agent-chat*"))
            (let ((noninteractive nil)) (font-lock-mode 1))
            (org-agent-fake-act
             "a1" question "** DONE Approved once: it  :agent:\n:PROPERTIES:\n:ID: a1\n:ASKS: approval\n:END:\nYou, in Emacs.\n")
            (font-lock-ensure)
            (goto-char (point-min))
            (search-forward "in Emacs.")
            (should (org-agent-page--room-p (point)))
            (let ((size (buffer-size)))
              (funcall come question)
              (org-agent-fake-wait (> (buffer-size) size)))
            (should-not (org-agent-page--room-p (point)))
            (font-lock-ensure)
            (should-not (org-agent-page--room-p (point)))
            (should (org-agent-page--room-p (- (point-max) 3))))))))

(ert-deftest org-agent-page-lists-are-aligned ()
  "A long item goes on below its text."
  (org-agent-page-test--with "- one\n  12. two\n"
    (should (equal (get-text-property (point-min) 'wrap-prefix) "  "))
    (goto-char (point-min))
    (search-forward "two")
    (should (equal (get-text-property (1- (point)) 'wrap-prefix) "      "))))

(ert-deftest org-agent-page-no-room-for-programs ()
  "Org's indentation is not added to the page, however it is turned on.
Nor does it come with text that is undone."
  (let ((org-startup-indented t)
        (org-mode-hook '(org-indent-mode)))
    (org-agent-page-test--with org-agent-page-test--turn
      (should-not (bound-and-true-p org-indent-mode))
      (buffer-enable-undo)
      (goto-char (point-max))
      (insert "words\n** below\nmore\n")
      (undo-boundary)
      (delete-region (point-min) (point))
      (undo-boundary)
      (let ((inhibit-message t)) (undo))
      (font-lock-ensure)
      (should-not (text-property-not-all
                   (point-min) (point-max) 'line-prefix nil)))))

(provide 'org-agent-page-test)
;;; org-agent-page-test.el ends here
