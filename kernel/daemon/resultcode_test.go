package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/rpc/rpctest"
)

// TestSkillIsToldCodes: a skill's functions are told of what kind an error was, as a model is, and
// nothing of the kind where there was none.
func TestSkillIsToldCodes(t *testing.T) {
	in, _ := newInstanceAndModel(t)
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "Water the roses."))
	in.write(t, "skills/teller.org", deciding(`(defun step-on (c)
  (let ((results (getf c :results)))
    (case (length results)
      (0 '(:type :request :target :tool :action :call :tool "read" :args (:path "nowhere.org")))
      (1 '(:type :request :target :tool :action :batch :calls ((:tool "list_skills") (:tool "use_skill" :args (:name "no")))))
      (t (list :type :response :text (format nil "~(~{~s~^ ~}~)"
               (list (getf (first results) :error) (getf (first results) :code) (getf (first results) :retryable)
                     (getf (second results) :error) (mapcar (lambda (one) (getf one :code)) (getf (second results) :calls)))))))))
(defskill :teller :priority 90 :trigger #'chosen :neuro #'step-on)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "go")
	if want := "t :not-found nil nil (nil :failed)"; !strings.Contains(e.Text(), want) {
		t.Errorf("it does not say %q:\n%s", want, e.Text())
	}
}
