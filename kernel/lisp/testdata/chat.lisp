;; A small note in the manner of a chat skill: perception, verification, reply.
(defun greet-trigger (context)
  "True for a message from a person."
  (let* ((payload (getf context :payload))
         (sensor (getf payload :sensor)))
    (eq sensor :chat-message)))

(defun greet-verify (action context)
  "Let through what the room allows; explain everything else."
  (let* ((payload (getf action :payload))
         (verb (or (getf payload :action) (getf action :action)))
         (target (getf action :target)))
    (if (and (listp action)
             (or (and (member (getf action :type) '(:request :REQUEST))
                      (or (and (member target '(:emacs :EMACS))
                               (member verb '(:insert-at-end :INSERT-AT-END)))
                          (and (member target '(:matrix :MATRIX))
                               (or (getf payload :room-id) (getf action :room-id)))
                          (member target '(:tool :TOOL))))
                 (member (getf action :type) '(:response :log))))
        action
        (let ((text (format nil "\n*Refused:* ~s" action)))
          `(:type :request :target :emacs
            :payload (:action :insert-at-end :buffer "*chat*" :text ,text))))))

(defun greet-neuro (context)
  "Ask the model with what the person wrote."
  (let* ((payload (getf context :payload))
         (raw (getf payload :text))
         (channel (or (getf payload :channel) :emacs))
         (room (getf payload :chat-id))
         (clean (cl-ppcre:regex-replace-all "(?i)oops.*|hmm\\.\\.\\." raw ""))
         (short (if (> (length clean) 40)
                    (subseq clean (- (length clean) 40))
                    clean))
         (how (case channel
                (:matrix (format nil "- reply to ~a with \"<text>\"" room))
                (t "- reply in Emacs"))))
    (ask-neuro short :system-prompt (concatenate 'string "RULES:
" how "
- be kind"))))

(defskill :greet
  :priority 100
  :trigger #'greet-trigger
  :neuro #'greet-neuro
  :symbolic #'greet-verify)
