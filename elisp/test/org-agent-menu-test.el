;;; org-agent-menu-test.el --- Tests of how commands are found  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The menu has every command, keys have names, and the help shows both.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'org-agent)
(require 'org-agent-menu)
(require 'org-agent-chat)
(require 'org-agent-rewrite)

(defun org-agent-menu-test--suffixes ()
  "Return the keys and commands of the menu and of those in it, an alist."
  (let (found)
    (cl-labels ((walk (thing before)
                  (cond
                   ((vectorp thing) (mapc (lambda (part) (walk part before)) thing))
                   ((and (consp thing) (plist-get (cl-find-if #'consp thing) :command))
                    (let* ((plist (cl-find-if #'consp thing))
                           (key (plist-get plist :key))
                           (menu (get (plist-get plist :command) 'transient--layout)))
                      (push (cons (concat before key) (plist-get plist :command))
                            found)
                      (when menu
                        (walk menu (concat before key)))))
                   ((and (consp thing) (proper-list-p thing))
                    (mapc (lambda (part) (walk part before)) thing)))))
      (walk (get 'org-agent-menu 'transient--layout) ""))
    ;; What a narrow frame has is the same, in another place.
    (delete-dups found)))

(defun org-agent-menu-test--entries ()
  "Return the interactive commands that the package has as entries."
  (let (commands)
    (with-temp-buffer
      (insert-file-contents (locate-library "org-agent-autoloads.el"))
      (while (re-search-forward "^(autoload '\\(\\S-+\\) " nil t)
        (push (intern (match-string 1)) commands)))
    (cl-remove-if-not #'commandp (delete-dups commands))))

(ert-deftest org-agent-menu-is-short ()
  "The menu has the dozen things that people do; the others are one key farther."
  (let* ((suffixes (org-agent-menu-test--suffixes))
         (first (cl-count 1 suffixes :key (lambda (suffix) (length (car suffix))))))
    (should (<= 10 first 17))
    (should (cl-every (lambda (suffix) (<= (length (car suffix)) 3)) suffixes))))

(ert-deftest org-agent-menu-is-complete ()
  "Every entry command is in the menu, under a key of its own."
  (let* ((suffixes (org-agent-menu-test--suffixes))
         (missing (cl-set-difference
                   (org-agent-menu-test--entries)
                   (append (mapcar #'cdr suffixes)
                           ;; What is set up once, done from a list, where
                           ;; something waits or is written, or the menu.
                           '(org-agent-menu
                             org-agent-capture-setup org-agent-model-test
                             org-agent-stop-here
                             org-agent-mode-line-mode org-agent-memory-search
                             org-agent-memory-undo org-agent-memory-notes
                             org-agent-memory-changes org-agent-skill-revoke
                             org-agent-skill-mode org-agent-skill-global-mode
                             org-agent-skill-evaluate org-agent-skill-test
                             org-agent-approval-view org-agent-approval-edit
                             org-agent-question-submit org-agent-question-decline
                             org-agent-question-fill org-agent-subagent-open
                             org-agent-chat-ctrl-c-ctrl-c
                             org-agent-chat-ctrl-c-ctrl-k
                             org-agent-ask-insert-latest org-agent-regenerate
                             org-agent-previous-matching-question
                             org-agent-next-matching-question)))))
    (should (> (length suffixes) 20))
    (should-not missing)
    (should (= (length suffixes)
               (length (delete-dups (mapcar #'car suffixes)))))
    (dolist (suffix suffixes)
      (should (commandp (cdr suffix))))))

(defun org-agent-menu-test--size (menu)
  "Return the (COLUMNS . LINES) that MENU takes with all that it has.
A group is as wide as its widest line, with three blanks to the next."
  (let ((columns 0) (lines -1))
    (dolist (row (get menu 'transient--layout))
      (let ((width -3) (height 0)
            (seen (plist-get (aref row 2) :if)))
        (when (and (or (null seen) (funcall seen))
                   (not (plist-get (aref row 2) :hide)))
          (dolist (group (aref row 3))
            (let ((suffixes (aref group 3)))
              (setq height (max height (1+ (length suffixes)))
                    width (+ width 3
                             (apply #'max
                                    (length (plist-get (aref group 2) :description))
                                    (mapcar (lambda (suffix)
                                              (let ((plist (cl-find-if #'consp suffix)))
                                                (+ 2 (length (plist-get plist :key))
                                                   (length (plist-get plist :description)))))
                                            suffixes))))))
          (setq columns (max columns width)
                lines (+ lines 1 height)))))
    (cons columns lines)))

(ert-deftest org-agent-menu-fits-a-terminal ()
  "On a terminal of 24 lines all of it is seen, and some of the text too.
With 80 columns much of the text is seen.  With fewer columns nothing is
wrapped or cut."
  (pcase-dolist (`(,frame ,most) '((80 10) (79 10) (78 15) (54 15) (43 15)))
    (cl-letf (((symbol-function 'org-agent-menu--width) (lambda () frame)))
      (dolist (menu '(org-agent-menu org-agent-menu-conversations
                                     org-agent-menu-answers org-agent-menu-writing
                                     org-agent-menu-inspect org-agent-menu-senses
                                     org-agent-menu-permissions org-agent-menu-summaries))
        (pcase-let ((`(,columns . ,lines) (org-agent-menu-test--size menu)))
          (should (< 10 columns frame))
          (should (< 3 lines most)))))))

(ert-deftest org-agent-menu-width-is-that-of-its-window ()
  "A menu at the bottom of the frame is as wide as that, else as its window."
  (save-window-excursion
    (split-window-right)
    (let ((transient-display-buffer-action '(display-buffer-in-side-window (side . bottom))))
      (should (= (org-agent-menu--width) (frame-width))))
    (let ((transient-display-buffer-action '((display-buffer-below-selected))))
      (should (= (org-agent-menu--width) (window-width))))
    (should (< (window-width) (frame-width)))))

(ert-deftest org-agent-menu-keys-have-names ()
  "The keys of our maps have names for which-key, and none is [tab]."
  (dolist (map (list org-agent-chat-mode-map org-agent-rewrite-mode-map))
    (cl-labels ((walk (key binding)
                  (should-not (memq key '(tab return)))
                  (cond ((keymapp binding)
                         (map-keymap-internal #'walk binding))
                        ((and (consp binding) (stringp (car binding)))
                         (should (commandp (cdr binding))))
                        (t (ert-fail (list "no name" key binding))))))
      (map-keymap-internal #'walk map))))

(ert-deftest org-agent-menu-is-left-with-q ()
  "As in other menus and lists, q leaves, also the menus in the menu."
  (let ((suffixes (org-agent-menu-test--suffixes)))
    (dolist (key '("q" "Cq" "Aq" "Wq" "WAq" "CZq" "Iq" "jq"))
      (should (eq 'transient-quit-one (cdr (assoc key suffixes)))))))

(ert-deftest org-agent-menu-help-tells-all ()
  "The description of the mode names its keys."
  (with-temp-buffer
    (use-local-map org-agent-chat-mode-map)
    (let ((help (substring-no-properties
                 (substitute-command-keys (documentation 'org-agent-chat-mode)))))
      (dolist (key (list "C-c C-c" "C-c C-k" "C-c C-x ?" "M-x org-agent-ask"
                         "M-x org-agent-rewrite"
                         ;; Since Emacs 29 it has a key.
                         (substitute-command-keys "\\[imenu]")))
        (should (string-match-p (regexp-quote key) help))))))

(provide 'org-agent-menu-test)
;;; org-agent-menu-test.el ends here
