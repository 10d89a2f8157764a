;;; org-agent-mention.el --- Name things with @ in a message  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An at sign in a draft and the name of something attach that.  Completion
;; offers presets, the region, headings and buffers, and the directories
;; from which one comes to files.  What is chosen becomes a link.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-add)
(require 'org-agent-chat)
(require 'org-agent-command)
(require 'org-agent-context)
(require 'org-agent-draft)

(declare-function org-agent-settings-preset-mentions "org-agent-settings")

(defconst org-agent-mention--heading-limit 2000
  "The number of headings of a buffer that completion offers at most.")

;;;###autoload
(defun org-agent-mention-completion ()
  "Complete the name after an at sign in the draft.
This is for `completion-at-point-functions'."
  (let ((end (point)))
    (save-excursion
      (when (and (re-search-backward "\\(?:^\\|[ \t(]\\)@\\([^\n@]\\{0,100\\}\\)"
                                     (line-beginning-position) t)
                 (org-agent-draft-p (match-beginning 1))
                 (<= (match-beginning 1) end))
        (let* ((beg (match-beginning 1))
               (name (buffer-substring-no-properties beg end)))
          (unless (string-match-p "[])]" name)
            (if (string-match-p "\\`\\(?:\\.\\.?/\\|~\\|/\\)" name)
                (list beg end (if (org-agent-context-silent-p name)
                                  #'ignore
                                #'completion-file-name-table)
                      :exclusive 'no
                      :exit-function #'org-agent-mention--file-chosen)
              (let ((known (org-agent-mention--known)))
                (list beg end
                      (lambda (string predicate action)
                        (if (eq action 'metadata)
                            '(metadata (category . org-agent-mention)
                                       (display-sort-function . identity)
                                       (cycle-sort-function . identity))
                          (complete-with-action action (mapcar #'car known)
                                                string predicate)))
                      :exclusive 'no
                      :annotation-function
                      (lambda (name)
                        (concat "  " (cadr (assoc name known))))
                      :exit-function
                      (lambda (name status)
                        (cond ((directory-name-p name)
                               (org-agent-mention--go-on-soon))
                              ((eq status 'finished)
                               (when-let* ((chosen (nth 2 (assoc name known))))
                                 (org-agent-mention--insert name chosen))))))))))))))

(defun org-agent-mention--known ()
  "Return the candidates of a mention: a list of (NAME ANNOTATION FUNCTION).
FUNCTION returns the reference."
  (let ((looked (org-agent-command-looked-at)) known)
    (when looked
      (with-current-buffer looked
        (when (and (mark t) (/= (mark t) (point)))
          (let ((beg (min (point) (mark t))) (end (max (point) (mark t))))
            (push (list "region"
                        (format "%s, from line %d" (buffer-name)
                                (line-number-at-pos beg t))
                        (lambda ()
                          (with-current-buffer looked
                            (org-agent-add-region beg end))))
                  known)))
        (when (derived-mode-p 'org-mode)
          (setq known (append (org-agent-mention--headings) known)))))
    (append (org-agent-settings-preset-mentions) known
            (org-agent-mention--directories looked)
            (org-agent-mention--buffers))))

(defun org-agent-mention--directories (looked)
  "Return candidates that lead to files, as for `org-agent-mention--known'.
LOOKED is the buffer that the person works in, or nil."
  (mapcar (lambda (directory)
            (list directory "its files" nil))
          (seq-uniq
           (mapcar (lambda (directory)
                     (file-name-as-directory (org-agent-context-abbreviate directory)))
                   (cl-remove-if-not
                    (lambda (directory)
                      (and directory (not (file-remote-p directory))))
                    (list org-agent-context-project
                          (and looked (buffer-local-value 'default-directory looked))
                          "~/"))))))

(defvar-local org-agent-mention--listed nil
  "The tick of the buffer when the files of a directory were listed last.")

(defun org-agent-mention--go-on-soon ()
  "List what is in the directory that was chosen, when that is done."
  (run-at-time 0 nil
               (lambda (buffer)
                 (when (eq buffer (window-buffer))
                   (with-current-buffer buffer
                     (org-agent-mention-go-on))))
               (current-buffer)))

;;;###autoload
(defun org-agent-mention-go-on (&rest _)
  "List what is in the directory before point, if its name is a mention.
This is called after each completion in the buffer.  Nobody wants to be
told first that there is more than one file.  If they are listed already,
Emacs scrolls the list.  Who completes in another way than Emacs does
sees the files anyway."
  (when (and (eq (default-value 'completion-in-region-function)
                 #'completion--in-region)
             completion-auto-help
             (not (and (eql org-agent-mention--listed (buffer-chars-modified-tick))
                       (get-buffer-window "*Completions*" 0)))
             (looking-back "\\(?:^\\|[ \t(]\\)@\\(?:\\.\\.?\\|~[^/\n]*\\)?/\\(?:[^\n@]*/\\)?"
                           (line-beginning-position))
             (org-agent-mention-completion))
    (setq org-agent-mention--listed (buffer-chars-modified-tick))
    (completion-help-at-point)))

(defun org-agent-mention--headings ()
  "Return candidates for the headings of this buffer.
They are as for `org-agent-mention--known'."
  (let ((buffer (current-buffer)) (count 0) headings)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (and (< count org-agent-mention--heading-limit)
                    (re-search-forward "^\\*+ " nil t))
          (let ((title (org-get-heading t t t t))
                (position (copy-marker (match-beginning 0))))
            (cl-incf count)
            (unless (string-empty-p title)
              (push (list (concat "*" (substring-no-properties title))
                          (buffer-name)
                          (lambda ()
                            (with-current-buffer buffer
                              (save-excursion
                                (goto-char position)
                                (org-agent-add-subtree)))))
                    headings))))))
    (nreverse headings)))

(defun org-agent-mention--buffers ()
  "Return candidates for buffers, as for `org-agent-mention--known'.
Files that are visited come first, those that one was in last before
others, and buffers of Emacs's own making come last."
  (cl-loop for buffer in (sort (buffer-list)
                               (lambda (a b)
                                 (< (org-agent-mention--rank a)
                                    (org-agent-mention--rank b))))
           unless (or (string-prefix-p " " (buffer-name buffer))
                      (buffer-local-value 'org-agent-chat-session buffer)
                      (org-agent-command-private-p buffer))
           collect (let ((buffer buffer))
                     (list (buffer-name buffer)
                           (if (buffer-file-name buffer)
                               (org-agent-context-abbreviate
                                (buffer-file-name buffer))
                             "buffer")
                           (lambda () (org-agent-context-of-buffer buffer))))))

(defun org-agent-mention--rank (buffer)
  "Return how late BUFFER is offered: the higher, the later."
  (cond ((buffer-file-name buffer) 0)
        ((string-prefix-p "*" (buffer-name buffer)) 2)
        (t 1)))

(defun org-agent-mention--insert (name function)
  "Replace NAME before point, and its at sign, by a link.
FUNCTION returns the reference that the link is made of."
  (let* ((end (point)) (beg (- end (length name) 1)))
    (when (and (>= beg (point-min)) (eq (char-after beg) ?@))
      (let* ((reference (funcall function))
             (link (org-agent-context-link
                    reference (or (plist-get reference :name)
                                  (org-agent-context-name reference)))))
        (put-text-property 0 1 'org-agent-context
                           (list :line link :span (plist-get reference :span))
                           link)
        (delete-region beg end)
        (insert link)
        ;; What is typed next is no part of it.
        (cond ((looking-at-p "[ \t]") (forward-char))
              ((not (looking-at-p "[[:punct:]]")) (insert " ")))))))

(defun org-agent-mention--file-chosen (name status)
  "Replace the file name NAME by a link when STATUS says that it is chosen."
  (when (and (eq status 'finished) (not (directory-name-p name)))
    (org-agent-mention--insert
     name (lambda ()
            (list :type 'file :path (if (file-remote-p name) name
                                      (expand-file-name name)))))))

(provide 'org-agent-mention)
;;; org-agent-mention.el ends here
