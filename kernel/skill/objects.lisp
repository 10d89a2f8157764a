;; The object store that notes of older kernels use, under both of its names. It lives in
;; the note's own environment, in memory only, and begins empty at each publish.

(defvar *object-store* (make-hash-table :test 'equal) "The objects, by id.")
(defvar *memory* *object-store* "The same table as *object-store*.")
(defvar *history-store* '() "The snapshots, the last one first.")

(defstruct org-object
  id type attributes content vector parent-id children version last-sync hash)

(defun lookup-object (id)
  "The object with that id, or nil."
  (gethash id *object-store*))

(defun list-objects-with-attribute (attribute value)
  "The objects whose attribute has a value equal to VALUE."
  (let ((found '()))
    (maphash (lambda (id object)
               (declare (ignore id))
               (when (equal (getf (org-object-attributes object) attribute) value)
                 (push object found)))
             *object-store*)
    (nreverse found)))

(defun copy-objects (from to)
  "Make TO hold copies of what FROM holds."
  (clrhash to)
  (maphash (lambda (id object)
             (let ((copy (copy-org-object object)))
               (setf (org-object-attributes copy) (copy-list (org-object-attributes object)))
               (setf (gethash id to) copy)))
           from)
  to)

(defun snapshot-object-store ()
  "Remember the objects as they are; the last 20 snapshots are kept."
  (push (copy-objects *object-store* (make-hash-table :test 'equal)) *history-store*)
  (when (> (length *history-store*) 20)
    (setf *history-store* (subseq *history-store* 0 20)))
  t)

(defun rollback-object-store (&optional (index 0))
  "Bring back the objects of a snapshot; 0 is the last one. True if there is one."
  (let ((snapshot (nth index *history-store*)))
    (when snapshot
      (copy-objects snapshot *object-store*)
      t)))

(defun snapshot-memory () "The same as snapshot-object-store." (snapshot-object-store))
(defun rollback-memory (&optional (index 0)) "The same as rollback-object-store." (rollback-object-store index))
