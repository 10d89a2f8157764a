;;; org-agent-diff.el --- What differs between two texts  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The org-agent maintainers

;; Author: The org-agent maintainers
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Compares two texts line by line, without any program, so that the parts
;; of a change can be shown and taken one by one.  A *change* is a list
;; (FROM TO LINES): the lines FROM to TO, counted from 0, of the old text
;; become LINES.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst org-agent-diff--cells 400000
  "How large the table may be in which common lines are looked for.
What is larger counts as replaced between its first and last difference.")

(defconst org-agent-diff--context 3
  "Equal lines that are shown around a change.")

(defun org-agent-diff--lines (text)
  "Return the lines of TEXT with their line ends, a vector."
  (let ((start 0) lines)
    (while (string-match "\n" text start)
      (push (substring text start (match-end 0)) lines)
      (setq start (match-end 0)))
    (when (< start (length text))
      (push (substring text start) lines))
    (vconcat (nreverse lines))))

(defun org-agent-diff-changes (old new)
  "Return the changes that make the text NEW of OLD, in order."
  (let* ((a (org-agent-diff--lines old))
         (b (org-agent-diff--lines new))
         (shorter (min (length a) (length b)))
         (head 0) (tail 0))
    (while (and (< head shorter) (equal (aref a head) (aref b head)))
      (cl-incf head))
    (while (and (< tail (- shorter head))
                (equal (aref a (- (length a) tail 1))
                       (aref b (- (length b) tail 1))))
      (cl-incf tail))
    (let ((n (- (length a) head tail))
          (m (- (length b) head tail)))
      (cond
       ((= 0 n m) nil)
       ((or (= n 0) (= m 0)
            (> (* (1+ n) (1+ m)) org-agent-diff--cells))
        (list (list head (+ head n)
                    (append (substring b head (+ head m)) nil))))
       (t (org-agent-diff--middle a b head n m))))))

(defun org-agent-diff--middle (a b head n m)
  "Compare N lines of A with M of B, both from HEAD on; return the changes."
  (let* ((width (1+ m))
         (table (make-vector (* (1+ n) width) 0))
         (i (1- n)) (j 0) changes from lines)
    (while (>= i 0)
      (setq j (1- m))
      (while (>= j 0)
        (aset table (+ (* i width) j)
              (if (equal (aref a (+ head i)) (aref b (+ head j)))
                  (1+ (aref table (+ (* (1+ i) width) j 1)))
                (max (aref table (+ (* (1+ i) width) j))
                     (aref table (+ (* i width) j 1)))))
        (cl-decf j))
      (cl-decf i))
    (setq i 0 j 0)
    (cl-flet ((close ()
                (when from
                  (push (list from (+ head i) (nreverse lines)) changes)
                  (setq from nil lines nil))))
      (while (or (< i n) (< j m))
        (cond
         ((and (< i n) (< j m)
               (equal (aref a (+ head i)) (aref b (+ head j))))
          (close)
          (cl-incf i)
          (cl-incf j))
         ((and (< i n)
               (or (= j m)
                   (>= (aref table (+ (* (1+ i) width) j))
                       (aref table (+ (* i width) j 1)))))
          (setq from (or from (+ head i)))
          (cl-incf i))
         (t
          (setq from (or from (+ head i)))
          (push (aref b (+ head j)) lines)
          (cl-incf j))))
      (close))
    (nreverse changes)))

(defun org-agent-diff-apply (old changes)
  "Return the text OLD with CHANGES made, which are in order."
  (let ((lines (org-agent-diff--lines old))
        (at 0) parts)
    (pcase-dolist (`(,from ,to ,new) changes)
      (push (mapconcat #'identity (substring lines at from) "") parts)
      (push (mapconcat #'identity new "") parts)
      (setq at to))
    (push (mapconcat #'identity (substring lines at) "") parts)
    (apply #'concat (nreverse parts))))

(defun org-agent-diff-hunk (old change first &optional moved)
  "Return CHANGE of the text OLD as a hunk, its first line being FIRST.
MOVED is how many lines the changes before it added."
  (pcase-let* ((`(,from ,to ,new) change)
               (lines (org-agent-diff--lines old))
               (beg (max 0 (- from org-agent-diff--context)))
               (end (min (length lines) (+ to org-agent-diff--context)))
               (signed (lambda (sign line)
                         (concat sign line
                                 (unless (string-suffix-p "\n" line) "\n")))))
    (concat
     (format "@@ -%d,%d +%d,%d @@\n" (+ first beg) (- end beg)
             (+ first beg (or moved 0))
             (+ (- end beg) (- (length new) (- to from))))
     (mapconcat (lambda (line) (funcall signed " " line))
                (substring lines beg from) "")
     (mapconcat (lambda (line) (funcall signed "-" line))
                (substring lines from to) "")
     (mapconcat (lambda (line) (funcall signed "+" line)) new "")
     (mapconcat (lambda (line) (funcall signed " " line))
                (substring lines to end) ""))))

(defun org-agent-diff (old new name &optional first)
  "Return the difference between OLD and NEW, texts of NAME, as a diff.
The number of their first line is FIRST, or else 1."
  (let ((moved 0))
    (concat
     (format "--- %s\n+++ %s\n" name name)
     (mapconcat (lambda (change)
                  (prog1 (org-agent-diff-hunk old change (or first 1) moved)
                    (cl-incf moved (- (length (nth 2 change))
                                      (- (nth 1 change) (car change))))))
                (org-agent-diff-changes old new) ""))))

(defun org-agent-diff-fontify (text)
  "Return TEXT, a diff, with faces."
  (mapconcat
   (lambda (line)
     (propertize line 'face
                 (pcase (and (> (length line) 0) (aref line 0))
                   (?+ 'diff-added)
                   (?- 'diff-removed)
                   (?@ 'diff-hunk-header)
                   (_ 'default))))
   (split-string text "\n") "\n"))

(provide 'org-agent-diff)
;;; org-agent-diff.el ends here
