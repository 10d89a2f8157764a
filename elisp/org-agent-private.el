;;; org-agent-private.el --- Buffers that no model sees  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; When the kernel asks this Emacs something for a model, the reply never
;; contains a private buffer, neither its text nor its name.  A buffer is
;; private when its name or file matches `org-agent-private-buffers', when
;; it decrypts its file, or when the person turned on
;; `org-agent-private-mode' in it.
;;
;; Of other buffers some parts are private: the subtrees of Org that have a
;; tag of `org-agent-private-tags', and the whole file where #+FILETAGS: has
;; one; see `org-agent-private-parts'.  Tags in other files count, too: in a
;; file that #+SETUPFILE: names, in :ARCHIVE_ITAGS:, and in the file of
;; :ARCHIVE_FILE:.  The kernel applies the same rule to files, in its package
;; "withheld"; a change here needs the same change there.
;;
;; A reply to the kernel is quick, and stops when the person types: see
;; `org-agent-private-briefly'.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defcustom org-agent-private-buffers
  '("\\`\\*org-agent-\\(?:ap\\|form\\|question\\|grant\\|log\\|status\\|prompt\\|why\\)"
    "\\`\\*\\(?:pass\\|auth-source\\|password\\|pinentry\\|epa\\|Keys\\)"
    "\\(?:\\.gpg\\|\\.pgp\\|\\.asc\\|\\.age\\|\\.pem\\|\\.key\\|\\.p12\\|\\.kdbx\\)\\(?:[~#]\\|\\.~[^/]*~\\|\\.bak\\|\\.orig\\|\\.rej\\)?\\'"
    "\\(?:\\`\\|/\\)[._]\\(?:authinfo\\|netrc\\|pgpass\\|git-credentials\\|npmrc\\|pypirc\\|env\\)"
    "/\\.\\(?:ssh\\|gnupg\\|password-store\\|aws\\|kube\\|azure\\)/"
    "\\(?:\\`\\|/\\)id_\\(?:rsa\\|dsa\\|ecdsa\\|ed25519\\)\\'")
  "Buffers that no model sees, whatever is allowed.
Each element is a regular expression for the name of a buffer or of its
file, or a function that is called in the buffer and returns non-nil
when it is private."
  :type '(repeat (choice regexp function))
  :group 'org-agent-privacy
  :package-version '(org-agent . "0.1.0"))

(defconst org-agent-private-tags '("noagent" "@private" "crypt")
  "Tags that make a heading with its subtree, or a file, private.")

;;;###autoload
(define-minor-mode org-agent-private-mode
  "Hide this buffer, its text and its name, from every model.
What you send from it yourself, such as a region, is still sent."
  :lighter " Private"
  :group 'org-agent-privacy)

(put 'org-agent-private-mode 'permanent-local t)

(defun org-agent-private-p (buffer)
  "Return non-nil when BUFFER is private.
A buffer counts as private when an element of
`org-agent-private-buffers' signals an error in it."
  (with-current-buffer (or (buffer-base-buffer buffer) buffer)
    (let ((names (delq nil (list (buffer-name buffer) (buffer-name)
                                 buffer-file-name buffer-file-truename)))
          (case-fold-search t))
      (or org-agent-private-mode
          (buffer-local-value 'org-agent-private-mode buffer)
          (string-prefix-p " " (buffer-name buffer))
          (minibufferp buffer)
          (bound-and-true-p epa-file-encrypt-to)
          (apply #'derived-mode-p
                 '(authinfo-mode epa-key-list-mode epa-key-mode epa-info-mode))
          (condition-case nil
              (cl-some (lambda (what)
                         (if (stringp what)
                             (cl-some (lambda (name) (string-match-p what name))
                                      names)
                           (funcall what)))
                       org-agent-private-buffers)
            (error t))
          (org-agent-private--of-part-p buffer)))))

(defun org-agent-private-name-p (file)
  "Return non-nil when FILE, whether it is visited or not, has a private name."
  (let ((case-fold-search t))
    (cl-some (lambda (what) (and (stringp what) (string-match-p what file)))
             org-agent-private-buffers)))

(defun org-agent-private-file (buffer)
  "Return the real name of the file of this machine that BUFFER visits, or nil."
  (let ((file (buffer-file-name (or (buffer-base-buffer buffer) buffer))))
    (and file (not (file-remote-p file)) (file-truename file))))

;;;; Parts of a buffer

(defun org-agent-private-parts ()
  "Return the private parts of this buffer, in whole lines.
The result is a list of (BEG . END), in order and without overlaps.  It
may contain too much: a line #+FILETAGS: in an example counts."
  (let ((case-fold-search t))
    (save-excursion
      (save-restriction
        (save-match-data
          (widen)
          (cond ((derived-mode-p 'org-agenda-mode)
                 (org-agent-private--agenda-lines))
                ((not (org-agent-private--org-p)) nil)
                ((org-agent-private--file-p)
                 (list (cons (point-min) (point-max))))
                (t (org-agent-private--subtrees))))))))

(defconst org-agent-private--org-name
  "\\.\\(?:org\\(?:_archive\\)?\\(?:[^a-z0-9/][^/]*\\)?\\|setup\\)\\'"
  "Matches the names of Org files, and of copies of them, in any case.")

(defun org-agent-private--org-p ()
  "Return non-nil when the text of this buffer is Org.
The result is non-nil, too, when the file has several hard links: one of
its other names may be that of an Org file."
  (let ((file (buffer-file-name (buffer-base-buffer))))
    (or (derived-mode-p 'org-mode)
        (and file (string-match-p org-agent-private--org-name file))
        (org-agent-private--declared-p)
        (and file (not (file-remote-p file))
             (> (or (file-attribute-link-number (file-attributes file)) 0) 1)))))

(defun org-agent-private--declared-p ()
  "Return non-nil when a file variable of this buffer sets Org mode."
  (goto-char (point-min))
  (when (looking-at-p "#!")
    (forward-line))
  (or (re-search-forward
       "-\\*-[ \t]*\\(?:.*;[ \t]*\\)?\\(?:mode:[ \t]*\\)?org[ \t]*\\(?:;.*\\)?-\\*-"
       (line-end-position) t)
      (progn
        (goto-char (max (point-min) (- (point-max) 3000)))
        (and (search-forward "Local Variables:" nil t)
             (re-search-forward "\\<mode:[ \t]*org\\>" nil t)))))

(defun org-agent-private--tagged-p (tags)
  "Return non-nil when one of TAGS, between colons or blanks, is private."
  (cl-some (lambda (tag) (member (downcase tag) org-agent-private-tags))
           (split-string tags "[: \t\r]+" t)))

(defun org-agent-private--file-p ()
  "Return non-nil when the whole file is private."
  (let ((tags (org-agent-private--file-tags))
        (file (buffer-file-name (buffer-base-buffer))))
    (or (car tags)
        (progn
          (goto-char (point-min))
          (org-agent-private--archived-p
           file (save-excursion
                  (if (re-search-forward "^\\*+ " nil t) (match-beginning 0)
                    (point-max)))))
        (org-agent-private--setups-p (cdr tags) file))))

(defun org-agent-private--file-tags ()
  "Return (PRIVATE . SETUPS) for this buffer.
PRIVATE is non-nil when a tag of the file makes all of it private.
SETUPS are the names of its setup files."
  (goto-char (point-min))
  (let (private setups)
    (while (and (not private)
                (re-search-forward "^[ \t]*#\\+\\(filetags\\|setupfile\\):\\(.*\\)"
                                   nil t))
      (let ((tags (memq (char-after (match-beginning 1)) '(?f ?F)))
            (value (match-string-no-properties 2)))
        (cond (tags
               (setq private (org-agent-private--tagged-p value)))
              ((not (string-empty-p
                     (setq value (string-trim value "[ \t\r\"]+" "[ \t\r\"]+"))))
               (push value setups)))))
    (cons private setups)))

;;;;; Tags in other files

(defconst org-agent-private--beside-size (* 4 1024 1024)
  "Size in bytes up to which another file is read; a larger one is private.")

(defconst org-agent-private--beside-files 1000
  "How many other files are read for one buffer; the rest is private.")

(defvar org-agent-private--seen nil
  "Files that were read for the current buffer.")

(defvar org-agent-private--known (make-hash-table :test #'equal)
  "Maps a file to its stamp and its `org-agent-private--file-tags'.")

(defun org-agent-private--setups-p (names file)
  "Return non-nil when one of NAMES, the setup files of FILE, is private."
  (when (and names file (not (file-remote-p file)))
    (let ((org-agent-private--seen (list (expand-file-name file))))
      (cl-some (lambda (directory)
                 (cl-some (lambda (name)
                            (org-agent-private--beside-p name directory))
                          names))
               (delete-dups (list (file-name-directory (expand-file-name file))
                                  (file-name-directory (file-truename file))))))))

(defun org-agent-private--beside-p (name directory)
  "Return non-nil when the file NAME of DIRECTORY is private as a whole.
A file that cannot be read is private; one that does not exist, or is on
another machine, is not."
  (unless (or (string-match-p "\\`[a-z][a-z0-9+.-]*://" name)
              (file-remote-p name))
    (let* (file-name-handler-alist
           (file (expand-file-name name directory))
           (attributes (file-attributes (file-truename file))))
      (cond
       ((member file org-agent-private--seen) nil)
       ((> (length org-agent-private--seen) org-agent-private--beside-files) t)
       ((string-match-p "\\.\\(?:gpg\\|pgp\\|age\\|org\\.asc\\)\\'" file) t)
       ((not (and attributes
                  (eq (aref (file-attribute-modes attributes) 0) ?-)))
        nil)
       ((or (not (file-readable-p file))
            (> (file-attribute-size attributes) org-agent-private--beside-size))
        t)
       (t
        (push file org-agent-private--seen)
        (let ((tags (org-agent-private--cached-file-tags file attributes)))
          (or (car tags)
              (cl-some (lambda (setup)
                         (org-agent-private--beside-p
                          setup (file-name-directory file)))
                       (cdr tags)))))))))

(defun org-agent-private--cached-file-tags (file attributes)
  "Return `org-agent-private--file-tags' of FILE, which has ATTRIBUTES.
The file is read again when its size or time has changed."
  (let ((stamp (list (file-attribute-size attributes)
                     (file-attribute-modification-time attributes)))
        (known (gethash file org-agent-private--known)))
    (if (equal (car known) stamp)
        (cdr known)
      (when (> (hash-table-count org-agent-private--known) 500)
        (clrhash org-agent-private--known))
      (cdr (puthash file
                    (cons stamp
                          (with-temp-buffer
                            (insert-file-contents file)
                            (let ((case-fold-search t))
                              (org-agent-private--file-tags))))
                    org-agent-private--known)))))

(defun org-agent-private--archived-p (file limit)
  "Move past the next property before LIMIT that makes an entry private.
Such a property records the tags or the file that an archived entry had.
FILE is that of the buffer.  Return nil when there is none."
  (let ((org-agent-private--seen (and file (list (expand-file-name file))))
        origins found)
    (while (and (not found)
                (re-search-forward
                 "^[ \t]*:archive_\\(itags\\|file\\)\\+?:\\(.*\\)" limit t))
      (let ((tags (memq (char-after (match-beginning 1)) '(?i ?I)))
            (value (string-trim (match-string-no-properties 2))))
        (setq found
              (save-match-data
                (cond
                 (tags (org-agent-private--tagged-p value))
                 ((and file (not (file-remote-p file))
                       (not (string-empty-p value)))
                  (let ((known (assoc value origins)))
                    (if known (cdr known)
                      (let ((private (org-agent-private--beside-p
                                      value (file-name-directory
                                             (expand-file-name file)))))
                        (push (cons value private) origins)
                        private)))))))))
    found))

;;;;; Subtrees

(defun org-agent-private--subtrees ()
  "Return the private subtrees as a list of (BEG . END)."
  (let ((file (buffer-file-name (buffer-base-buffer)))
        (tagged (format "^\\*+ .*:%s:.*$"
                        (regexp-opt org-agent-private-tags t)))
        (end (point-min))
        headings parts)
    (goto-char (point-min))
    (while (re-search-forward tagged nil t)
      (let ((beg (match-beginning 0)))
        (goto-char beg)
        (skip-chars-forward "*")
        (when (and (re-search-forward
                    "[ \t]:\\([[:alnum:]_@#%:]+\\):[ \t\r]*$"
                    (line-end-position) t)
                   (org-agent-private--tagged-p
                    (match-string-no-properties 1)))
          (push beg headings))
        (goto-char beg)
        (end-of-line)))
    (goto-char (point-min))
    (while (org-agent-private--archived-p file nil)
      (save-excursion
        (when (re-search-backward "^\\*+ " nil t)
          (push (point) headings))))
    (dolist (beg (sort (delete-dups headings) #'<))
      (when (>= beg end)
        (goto-char beg)
        (let ((level (skip-chars-forward "*")))
          (end-of-line)
          (setq end (if (re-search-forward
                         (format "^\\*\\{1,%d\\} " level) nil t)
                        (match-beginning 0)
                      (point-max))))
        (if (and parts (= (cdar parts) beg))
            (setcdr (car parts) end)
          (push (cons beg end) parts))))
    (nreverse parts)))

(defun org-agent-private--agenda-lines ()
  "Return the lines of this agenda that show private entries."
  (let (known parts)
    (goto-char (point-min))
    (while (not (eobp))
      (let* ((beg (point))
             (marker (or (get-text-property beg 'org-hd-marker)
                         (get-text-property beg 'org-marker)))
             (buffer (and (markerp marker) (marker-buffer marker))))
        (forward-line)
        (when buffer
          (unless (assq buffer known)
            (push (cons buffer (with-current-buffer buffer
                                 (org-agent-private-parts)))
                  known))
          (when (org-agent-private-part-at marker (cdr (assq buffer known)))
            (if (and parts (= (cdar parts) beg))
                (setcdr (car parts) (point))
              (push (cons beg (point)) parts))))))
    (nreverse parts)))

(defun org-agent-private-part-at (position parts)
  "Return the element of PARTS that POSITION is in, or nil."
  (cl-find-if (lambda (part)
                (and (<= (car part) position) (< position (cdr part))))
              parts))

(defun org-agent-private--of-part-p (buffer)
  "Return non-nil when BUFFER shows only a private part of another one.
BUFFER may be the one in which a source block is edited, or an indirect
one that is narrowed."
  (with-current-buffer buffer
    (let ((source (and (bound-and-true-p org-src-mode)
                       (bound-and-true-p org-src--beg-marker))))
      (cond
       ((and (markerp source) (marker-buffer source))
        (with-current-buffer (marker-buffer source)
          (org-agent-private-part-at source (org-agent-private-parts))))
       ((and (buffer-base-buffer) (buffer-narrowed-p))
        (let ((part (org-agent-private-part-at (point-min)
                                               (org-agent-private-parts))))
          (and part (<= (point-max) (cdr part)))))))))

(defmacro org-agent-private-briefly (&rest body)
  "Return the value of BODY, or (:busy t) as soon as the person types.
BODY is stopped wherever it is then, so it must have no side effects.
A question to the person is an error in it."
  (declare (indent 0) (debug t))
  `(let* ((inhibit-interaction t)
          (answer (while-no-input (list (progn ,@body)))))
     (if (consp answer) (car answer) (list :busy t))))

(provide 'org-agent-private)
;;; org-agent-private.el ends here
