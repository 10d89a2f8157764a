;;; greet.el --- The code of a note, in Emacs Lisp  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; kernel/lisp/testdata/chat.lisp, function by function, with what Emacs
;; Lisp has for what is done there.

;;; Code:

(defun greet-trigger (context)
  "True for a message from a person, which CONTEXT tells."
  (let* ((payload (plist-get context :payload))
         (sensor (plist-get payload :sensor)))
    (eq sensor :chat-message)))

(defun greet-verify (action _context)
  "Let ACTION through if the room allows it; explain everything else."
  (let* ((payload (plist-get action :payload))
         (verb (or (plist-get payload :action) (plist-get action :action)))
         (target (plist-get action :target)))
    (if (and (listp action)
             (or (and (memq (plist-get action :type) '(:request :REQUEST))
                      (or (and (memq target '(:emacs :EMACS))
                               (memq verb '(:insert-at-end :INSERT-AT-END)))
                          (and (memq target '(:matrix :MATRIX))
                               (or (plist-get payload :room-id) (plist-get action :room-id)))
                          (memq target '(:tool :TOOL))))
                 (memq (plist-get action :type) '(:response :log))))
        action
      (let ((text (format "\n*Refused:* %S" action)))
        `(:type :request :target :emacs
          :payload (:action :insert-at-end :buffer "*chat*" :text ,text))))))

(defun greet-neuro (context)
  "Ask the model with what the person wrote, which CONTEXT tells."
  (let* ((payload (plist-get context :payload))
         (raw (plist-get payload :text))
         (channel (or (plist-get payload :channel) :emacs))
         (room (plist-get payload :chat-id))
         (case-fold-search t)
         (clean (replace-regexp-in-string "oops.*\\|hmm\\.\\.\\." "" raw t t))
         (short (if (> (length clean) 40)
                    (substring clean (- (length clean) 40))
                  clean))
         (how (pcase channel
                (:matrix (format "- reply to %s with \"<text>\"" room))
                (_ "- reply in Emacs"))))
    (bench-ask-neuro short :system-prompt (concat "RULES:\n" how "\n- be kind"))))

(bench-defskill :greet
  :priority 100
  :trigger #'greet-trigger
  :neuro #'greet-neuro
  :symbolic #'greet-verify)

(provide 'greet)
;;; greet.el ends here
