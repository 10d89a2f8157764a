package protocol

// DoctorParams asks the kernel to look for faults of its instance; Only names checks.
type DoctorParams struct {
	Only []string `json:"only,omitempty"`
}

// DoctorResult has the findings. The kernel changes nothing; "org-agent doctor --fix" mends.
type DoctorResult struct {
	Findings []DoctorFinding `json:"findings,omitempty"`
}

// DoctorFinding is about one thing. State is ok, warn or fail; Mend says what
// "org-agent doctor --fix" would do.
type DoctorFinding struct {
	Check  string  `json:"check"`
	State  Keyword `json:"state"`
	Text   string  `json:"text"`
	Advice string  `json:"advice,omitempty"`
	Mend   string  `json:"mend,omitempty"`
}
