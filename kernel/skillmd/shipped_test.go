package skillmd_test

import (
	"io/fs"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// TestShipped checks that the shipped skills have no faults and are not offered to the model, so
// that a conversation lists skills only if the person has some.
func TestShipped(t *testing.T) {
	r := skillmd.New(skillmd.Config{Shipped: skills.Notes()})
	all := r.Load(t.Context())
	if len(all) == 0 || len(r.Current().Offered()) != 0 || len(r.Current().Commands()) != len(all) {
		t.Errorf("%+v", all)
	}
	for _, status := range all {
		source, err := fs.ReadFile(skills.Notes(), status.Skill+"/"+skillmd.FileName)
		if err != nil {
			t.Fatal(err)
		}
		if faults := skillmd.Check(status.File, status.Skill, string(source)); status.State != skillmd.Effective || len(faults) > 0 {
			t.Errorf("%s is %s: %v", status.Skill, status.State, faults)
		}
	}
}

// TestExampleWorks checks that the note that write-a-skill shows works.
func TestExampleWorks(t *testing.T) {
	source, err := fs.ReadFile(skills.Notes(), "write-a-skill/references/example.org")
	if err != nil {
		t.Fatal(err)
	}
	if faults := skill.Check(t.Context(), "example.org", source, skill.Options{Specs: kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs}); len(faults) > 0 {
		t.Error(faults)
	}
	proofs, _, err := skill.Prove(t.Context(), "example.org", source, skill.Options{Specs: kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs})
	if err != nil || len(proofs) != 3 {
		t.Fatal(proofs, err)
	}
	for _, proof := range proofs {
		if proof.Result != skill.Pass {
			t.Errorf("%+v", proof)
		}
	}
}
