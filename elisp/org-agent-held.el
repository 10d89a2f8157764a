;;; org-agent-held.el --- What is held in the text of a model  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What a model wrote is Org, except for what would run code, reach
;; outside, change the whole file, or speak as the kernel: that is held.
;; See `org-agent-inert.el' for the list.
;;
;; A held place has a face, and says under the mouse why it is held.
;; `org-agent-held' lists the held places of any Org buffer.  `C-c C-c' on
;; one shows what it would do and, if the person says yes, makes it real.
;; Nothing else does.  What is copied is copied as it is held.
;;
;; Which places are held is known by the list alone: what would be held if
;; it stood there without its mark.  So it does not matter who marked it,
;; when, and to which file the text was moved.

;;; Code:

(require 'cl-lib)
(require 'org)
(require 'subr-x)
(require 'org-agent-heading)
(require 'org-agent-inert)
(require 'org-agent-list)

(defface org-agent-held
  '((t :inherit warning))
  "Face of what is held in the text of a model."
  :group 'org-agent-chat)

(defconst org-agent-held--regexp
  (concat org-agent-inert-mark "\\|^[ \t]*:" org-agent-inert-prefix)
  "Matches what every held place has.")

;;;; Which places

(defun org-agent-held--freed (text)
  "Return TEXT without its marks, as it would stand if nothing were held."
  (let ((case-fold-search t))
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (while (re-search-forward (concat "^[ \t]*#\\+begin_\\(example\\) +"
                                        org-agent-inert-mark "\\(?:[^ \t\n]\\)")
                                nil t)
        (org-agent-held--rename (match-beginning 1) "example" "src")
        (when (re-search-forward "^[ \t]*#\\+end_\\(example\\)[ \t]*$" nil t)
          (org-agent-held--rename (match-beginning 1) "example" "src")))
      (goto-char (point-min))
      (while (re-search-forward (concat "^[ \t]*:\\(" org-agent-inert-prefix "\\)") nil t)
        (replace-match "" t t nil 1))
      (string-replace org-agent-inert-mark "" (buffer-string)))))

(defun org-agent-held--rename (place from to)
  "Replace FROM at PLACE, the type of a block, by TO, in the case it has."
  (save-excursion
    (goto-char place)
    (let ((case-fold-search nil))
      (when (looking-at-p "[A-Z]") (setq to (upcase to))))
    (delete-char (length from))
    (insert to)))

(defun org-agent-held-places (beg end)
  "Return the held places from BEG, the beginning of a line, to END.
Each is (POSITION RULE WHAT), in order.  POSITION is that of the mark, or
of what a property's key begins with."
  (let ((text (buffer-substring-no-properties beg end))
        (case-fold-search t)
        places)
    (when (string-match-p org-agent-held--regexp text)
      ;; What comes first in a text may be an answer's heading.
      (let* ((first "* \n")
             (held nil)
             (again (org-agent-inert (concat first (org-agent-held--freed text)) nil
                                     (lambda (place rule what)
                                       (push (list (- place 1 (length first)) rule what) held))))
             (again (substring again (length first))))
        (dolist (place held)
          (when-let* ((there (org-agent-held--there again (car place) text)))
            (push (cons (+ beg there) (cdr place)) places)))))
    places))

(defun org-agent-held--there (again place text)
  "Return where in TEXT the place is that is held at PLACE in AGAIN, or nil.
Both are the same lines, one as it is and one with all held; a place that
was made real is held in AGAIN only."
  (let* ((number (cl-count ?\n again :end place))
         (line-start (lambda (string)
                       (let ((from 0))
                         (dotimes (_ number)
                           (setq from (1+ (or (string-search "\n" string from) (1- (length string))))))
                         from)))
         (i (funcall line-start again))
         (j (funcall line-start text))
         (found nil))
    (while (and (not found) (<= i place) (< i (length again)) (< j (length text)))
      (cond
       ((and (= i place) (org-agent-held--mark-p text j)) (setq found j))
       ((= i place) (setq i (1+ place))) ; made real
       ((eq (aref again i) (aref text j)) (cl-incf i) (cl-incf j))
       ((org-agent-held--mark-p again i)
        (cl-incf i (org-agent-held--mark-p again i)))
       ((org-agent-held--mark-p text j)
        (cl-incf j (org-agent-held--mark-p text j)))
       ;; The block that one has is an example in the other.
       ((and (eq t (compare-strings "example" nil nil again i (+ i 7) t))
             (eq t (compare-strings "src" nil nil text j (min (length text) (+ j 3)) t)))
        (cl-incf i 7) (cl-incf j 3))
       (t (setq i (1+ place)))))
    found))

(defun org-agent-held--mark-p (string i)
  "Return how long the mark at I of STRING is, nil if there is none."
  (cond
   ((eq (aref string i) ?\u200b) 1)
   ((eq t (compare-strings org-agent-inert-prefix nil nil string i
                           (min (length string) (+ i (length org-agent-inert-prefix)))))
    (length org-agent-inert-prefix))))

(defun org-agent-held--entry (position)
  "Return the entry around POSITION, (BEG . END): a heading with its text."
  (save-excursion
    (goto-char position)
    (forward-line 0)
    (cons (if (or (looking-at-p "\\*+ ") (re-search-backward "^\\*+ " nil t))
              (point)
            (point-min))
          (progn
            (forward-line)
            (if (re-search-forward "^\\*+ " nil t) (match-beginning 0) (point-max))))))

(defun org-agent-held-all ()
  "Return the held places of this buffer, as `org-agent-held-places' has them."
  (let (places)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (point-min))
        (while (re-search-forward org-agent-held--regexp nil t)
          (pcase-let ((`(,beg . ,end) (org-agent-held--entry (match-beginning 0))))
            (setq places (nconc places (org-agent-held-places beg end)))
            (goto-char end)))))
    places))

(defun org-agent-held--extent (position)
  "Return what the held place at POSITION belongs to, (BEG . END)."
  (save-excursion
    (goto-char position)
    (let ((beg (line-beginning-position)) (end (line-end-position)))
      (if (save-excursion
            (and (re-search-backward "\\[\\[" beg t)
                 (re-search-forward "\\]\\]" end t)
                 (> (point) position)))
          (cons (save-excursion (re-search-backward "\\[\\[" beg t) (point))
                (save-excursion (re-search-forward "\\]\\]" end t) (point)))
        (cons (progn (skip-chars-backward "^ \t\n" beg) (point))
              (progn (skip-chars-forward "^ \t\n" end) (point)))))))

(defun org-agent-held-at (position)
  "Return the held place at POSITION, (MARK RULE WHAT), or nil."
  (when (save-excursion
          (goto-char position)
          (forward-line 0)
          (re-search-forward org-agent-held--regexp (line-end-position) t))
    (save-restriction
      (widen)
      (pcase-let ((`(,beg . ,end) (org-agent-held--entry position)))
        (cl-find-if (lambda (place)
                      (pcase-let ((`(,from . ,to) (org-agent-held--extent (car place))))
                        (<= from position to)))
                    (org-agent-held-places beg end))))))

;;;; How they look

(defun org-agent-held-explain (place)
  "Return why PLACE is held, in a sentence or two."
  (pcase-let ((`(,_ ,rule ,what) place))
    (format "Held: %s.  %s.  C-c C-c shows what it would do and can make it real."
            what (cdr (assq rule org-agent-inert-rules)))))

;;;###autoload
(defun org-agent-held-fontify (limit)
  "Give held places from point to LIMIT their face; for font lock.
It looks at whole entries, since what is above a line may decide what it is."
  (save-match-data
    (save-excursion
      (save-restriction
        (widen)
        (let ((case-fold-search t))
          (while (re-search-forward org-agent-held--regexp limit t)
            (pcase-let ((`(,beg . ,end) (org-agent-held--entry (match-beginning 0))))
              (dolist (place (org-agent-held-places beg end))
                (pcase-let ((`(,from . ,to) (org-agent-held--extent (car place))))
                  (when (< from limit)
                    (add-face-text-property from to 'org-agent-held)
                    (add-text-properties
                     from to (list 'help-echo (org-agent-held-explain place)
                                   'rear-nonsticky '(help-echo))))))
              (goto-char (min limit end))))))))
  nil)

(define-minor-mode org-agent-held-mode
  "Show what is held in this Org buffer.
\\<org-mode-map>\\[org-ctrl-c-ctrl-c] on a held place can make it real."
  :lighter nil
  :group 'org-agent-chat
  (let ((keywords '((org-agent-held-fontify))))
    (font-lock-remove-keywords nil keywords)
    (remove-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-held-ctrl-c-ctrl-c t)
    (remove-function (local 'filter-buffer-substring-function) #'org-agent-held-copied)
    (when org-agent-held-mode
      (unless (derived-mode-p 'org-mode)
        (setq org-agent-held-mode nil)
        (user-error "Only Org has held places"))
      ;; Behind Org's own rules, which set faces anew.
      (font-lock-add-keywords nil keywords 'append)
      (add-hook 'org-ctrl-c-ctrl-c-hook #'org-agent-held-ctrl-c-ctrl-c nil t)
      (add-function :around (local 'filter-buffer-substring-function)
                    #'org-agent-held-copied))
    (font-lock-flush)))

;;;###autoload
(defun org-agent-held-copied (function beg end &optional delete)
  "Call FUNCTION with BEG, END and DELETE, and say that what is held stays so.
This is around `filter-buffer-substring-function'."
  (let* ((from (save-excursion (goto-char (min beg end)) (line-beginning-position)))
         (places (cl-remove-if-not (lambda (place) (<= beg (car place) end))
                                   (org-agent-held-places from (max beg end)))))
    (prog1 (funcall function beg end delete)
      (when places
        (org-agent-held--say (length places))))))

(defvar-local org-agent-held--told nil
  "What is to be said when the command is done, or nil.")

(defun org-agent-held--say (count)
  "Say, when the command is done, that COUNT places were copied as they are held."
  (setq org-agent-held--told
        (format "%d %s in it stay%s held where you put it; M-x org-agent-held there lists them"
                count (if (= count 1) "place" "places") (if (= count 1) "s" "")))
  (add-hook 'post-command-hook #'org-agent-held--tell nil t))

(defun org-agent-held--tell ()
  "Say what is to be said."
  (remove-hook 'post-command-hook #'org-agent-held--tell t)
  (when org-agent-held--told
    (message "%s" org-agent-held--told)
    (setq org-agent-held--told nil)))

;;;; Making one real

;;;###autoload
(defun org-agent-held-ctrl-c-ctrl-c ()
  "Ask whether to make the held place at point real; nil if there is none.
This is for `org-ctrl-c-ctrl-c-hook'."
  (when (org-agent-held-at (point))
    (org-agent-held-make-real)
    t))

(defun org-agent-held-make-real ()
  "Show what the held place at point would do and, on yes, make it real."
  (interactive)
  (let ((place (or (org-agent-held-at (point))
                   (user-error "Nothing is held here"))))
    (barf-if-buffer-read-only)
    (if (org-agent-held--confirm place)
        (progn
          (org-agent-held--free place)
          (message "It is real now; %s takes that back"
                   (substitute-command-keys "\\[undo]")))
      (message "It stays held"))))

(defun org-agent-held--confirm (place)
  "Show what PLACE would do, and return non-nil if the person says yes."
  (let ((line (save-excursion
                (goto-char (car place))
                (org-agent-held--freed-line (car place)))))
    (save-window-excursion
      (with-temp-buffer-window "*org-agent-held-place*" nil nil
        (princ (format "%s is held.\n\n%s.\n\nMade real the line is:\n\n%s\n\nA model wrote it.  Only you can make it real.\n"
                       (concat (upcase (substring (nth 2 place) 0 1))
                               (substring (nth 2 place) 1))
                       (string-join (split-string (cdr (assq (nth 1 place) org-agent-inert-rules))) " ")
                       line)))
      (yes-or-no-p "Make it real? "))))

(defun org-agent-held--freed-line (position)
  "Return the line of the held place at POSITION as it would be without its mark."
  (let ((text (buffer-substring-no-properties (line-beginning-position)
                                              (line-end-position)))
        (offset (- position (line-beginning-position))))
    (if (eq (aref text offset) ?\u200b)
        (let ((free (concat (substring text 0 offset) (substring text (1+ offset)))))
          (if (org-agent-held--example-p offset text)
              (replace-regexp-in-string "begin_example" "begin_src" free)
            free))
      (concat (substring text 0 offset)
              (substring text (+ offset (length org-agent-inert-prefix)))))))

(defun org-agent-held--example-p (offset text)
  "Return non-nil when the mark at OFFSET of TEXT holds a block's language."
  (let ((case-fold-search t))
    (string-match-p "\\`[ \t]*#\\+begin_example[ \t]+\\'" (substring text 0 offset))))

(defun org-agent-held--free (place)
  "Make PLACE real, as one change."
  (pcase-let ((`(,position . ,_) place)
              (case-fold-search t))
    (undo-boundary)
    (save-excursion
      (save-restriction
        (widen)
        (goto-char position)
        (if (not (eq (char-after) ?\u200b))
            (delete-char (length org-agent-inert-prefix))
          (let ((example (org-agent-held--example-p
                          (- position (line-beginning-position))
                          (buffer-substring-no-properties (line-beginning-position) (line-end-position)))))
            (delete-char 1)
            (when example
              (when (save-excursion (re-search-forward "^[ \t]*#\\+end_\\(example\\)[ \t]*$" nil t))
                (org-agent-held--rename (match-beginning 1) "example" "src"))
              (forward-line 0)
              (when (looking-at "[ \t]*#\\+begin_\\(example\\)")
                (org-agent-held--rename (match-beginning 1) "example" "src")))))))
    (undo-boundary)))

;;;; The list

(defvar-local org-agent-held--buffer nil
  "The buffer whose held places are listed.")

(defvar org-agent-held-list-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map org-agent-list-mode-map)
    (define-key map (kbd "RET") #'org-agent-held-visit)
    (define-key map (kbd "C-c C-c") #'org-agent-held-list-make-real)
    map)
  "Keys in the list of held places.")

(define-derived-mode org-agent-held-list-mode org-agent-list-mode "Org-Agent-Held"
  "Mode of the list of held places.
\\{org-agent-held-list-mode-map}"
  :interactive nil
  (org-agent-list-columns
   [("Line" 6 org-agent-held--earlier-p :right-align t) ("Held" 34 t) ("Why" 0 nil)]
   #'org-agent-held--refresh
   "\\[org-agent-held-visit] visit \\[org-agent-held-list-make-real] make real"))

(defun org-agent-held--earlier-p (one other)
  "Return non-nil when the row ONE is before the row OTHER."
  (< (string-to-number (aref (cadr one) 0)) (string-to-number (aref (cadr other) 0))))

;;;###autoload
(defun org-agent-held ()
  "List the held places of this Org buffer.
Held is what a model wrote that would run code, reach outside, change the
whole file, or speak as the kernel.  From now on they are shown in this
buffer, and \\<org-mode-map>\\[org-ctrl-c-ctrl-c] on one can make it real."
  (interactive)
  (unless (derived-mode-p 'org-mode)
    (user-error "This is no Org buffer"))
  (unless org-agent-held-mode (org-agent-held-mode))
  (let ((buffer (current-buffer)))
    (if (null (org-agent-held-all))
        (message "Nothing is held in this buffer")
      (pop-to-buffer
       (with-current-buffer (get-buffer-create "*org-agent-held*")
         (org-agent-held-list-mode)
         (setq org-agent-held--buffer buffer)
         (org-agent-held--refresh)
         (current-buffer))))))

(defun org-agent-held--refresh (&rest _)
  "List the held places anew."
  (let ((rows (with-current-buffer org-agent-held--buffer
                (save-restriction
                  (widen)
                  (mapcar (lambda (place)
                            (list (copy-marker (car place))
                                  (vector (number-to-string (line-number-at-pos (car place)))
                                          (nth 2 place)
                                          (cdr (assq (nth 1 place) org-agent-inert-rules)))))
                          (org-agent-held-all))))))
    (org-agent-list-show rows "Nothing is held any more." (format "(%d in %s)" (length rows)
                                      (buffer-name org-agent-held--buffer)))))

(defun org-agent-held-visit ()
  "Go to the held place of the row at point."
  (interactive)
  (let ((place (or (tabulated-list-get-id) (user-error "There is no row here"))))
    (unless (buffer-live-p (marker-buffer place))
      (user-error "Its buffer is gone"))
    (pop-to-buffer (marker-buffer place))
    (goto-char place)
    (when (derived-mode-p 'org-mode)
      (org-agent-heading-call-org 'org-fold-show-context 'org-show-context))))

(defun org-agent-held-list-make-real ()
  "Show what the held place of the row at point would do; on yes make it real."
  (interactive)
  (let ((list (current-buffer)))
    (org-agent-held-visit)
    (org-agent-held-make-real)
    (with-current-buffer list (org-agent-held--refresh))))

(provide 'org-agent-held)
;;; org-agent-held.el ends here
