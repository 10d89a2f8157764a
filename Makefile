# org-agent. Two commands matter: "make chat" sets up and opens the chat,
# "make test" sets up and runs the tests. "make help" lists the rest.

SHELL   := /bin/bash
comma   := ,
GO      ?= go
EMACS   ?= emacs
SBCL    ?= sbcl
BIN     := bin/org-agent
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unversioned)
# The data of other people's making that "make test-shared" reads.
SHARED  ?= ../shared

GO_FILES := $(shell find kernel skills -name '*.go' -not -name '*_test.go' 2>/dev/null) $(wildcard skills/*.org skills/*/* skills/*/*/*) go.mod go.sum
# What package.el makes when it installs a package: in which file each command is.
AUTOLOADS := elisp/org-agent-autoloads.el
EL_FILES := $(filter-out $(AUTOLOADS),$(wildcard elisp/*.el))

# Go modules are kept in the checkout, so that a build needs neither the network
# nor a particular HOME once it has run. What the user's own cache has is taken
# from there.
OWN_MODULES := $(shell $(GO) env GOMODCACHE 2>/dev/null)
PROXY       := $(shell $(GO) env GOPROXY 2>/dev/null)
export GOMODCACHE := $(CURDIR)/.cache/mod
export GOPROXY    := $(if $(wildcard $(OWN_MODULES)/cache/download),file://$(OWN_MODULES)/cache/download$(comma))$(PROXY)
# Encrypted rooms of Matrix are read by a library in Go, which needs the tag; without it the library would need C, and the
# program is built without encryption. -tags on a command line is in place of this one.
# Nobody looks at what is built here with a debugger; "go build" by hand makes what one needs.
export GOFLAGS    := -tags=goolm -gcflags=all=-dwarf=false $(filter-out -tags=% -buildvcs=% -modcacherw,$(GOFLAGS)) -buildvcs=false -modcacherw
ifeq ($(wildcard $(HOME)/.cache/go-build),)
export GOCACHE := $(CURDIR)/.cache/build
endif
ifeq ($(HOME),)
export GOPATH := $(CURDIR)/.cache/go
endif

# Compilers and checkers take a quarter less time when they collect garbage rarely. The programs that
# are tested run as they do elsewhere.
RARELY := env GOGC=400

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# ---- the main job ---------------------------------------------------------

.PHONY: build
build: $(BIN) $(if $(shell command -v $(EMACS)),$(AUTOLOADS)) ## build the kernel, and what Emacs needs to know its commands

# A first build takes minutes. On a terminal one line says how far it is, in place of a line for each module
# that is fetched and none for the packages that are compiled. Whatever else Go says is printed as it is.
HOW_FAR = { modules=0; packages=0; total=; end=; while IFS= read -r line; do case "$$line" in \
  "go: downloading "*) printf '\r  fetching module %d' $$((++modules)); end=$$'\n';; \
  "packages "*) total=" of $${line\#packages }, the largest come last";; \
  *" "*) printf '%s%s\n' "$$end" "$$line"; end=;; \
  *) printf '\r  compiling package %d%s' $$((++packages)) "$$total"; end=$$'\n';; esac; done; printf %s "$$end"; }

$(BIN): $(GO_FILES)
	@command -v $(GO) >/dev/null || { echo "org-agent needs Go 1.26 or later: https://go.dev/dl/"; exit 1; }
	@[ -e $@ ] && echo "building the kernel" || echo "building the kernel; the first time that takes two to five minutes"
	@build() { $(RARELY) $(GO) build -ldflags '-X main.version=$(VERSION)' -o $@ "$$@" ./kernel/cmd/org-agent; }; \
	set -o pipefail; if [ -e $@ ] || [ ! -t 1 ]; then build; \
	else { $(GO) list -deps ./kernel/cmd/org-agent | sed -n '$$=' | sed 's/^/packages /' && build -v; } 2>&1 | $(HOW_FAR); fi

bin/llmtest-server: $(GO_FILES)
	$(RARELY) $(GO) build -o $@ ./kernel/cmd/llmtest-server

.PHONY: chat
chat: need-emacs $(BIN) elisp/org-agent.elc ## get what is missing, build, and open the chat in Emacs
	@exec $(EMACS) $(if $(DISPLAY)$(WAYLAND_DISPLAY),,-nw) -Q --eval '(setq load-prefer-newer t)' \
	  -l $(AUTOLOADS) --eval '(org-agent-chat)'

$(AUTOLOADS): $(EL_FILES)
	@rm -f $@; $(EMACS) -Q --batch -l package --eval '(package-generate-autoloads "org-agent" (expand-file-name "elisp"))' 2>/dev/null
	@touch $@

elisp/org-agent.elc: $(EL_FILES) $(AUTOLOADS) | need-emacs
	@$(EMACS) -Q --batch --eval '(setq load-prefer-newer t gc-cons-threshold 67108864)' -L elisp -f batch-byte-compile $(EL_FILES)

# What package-install-file takes: the files of Emacs, and beside them the sources that the kernel
# is built from where there is no org-agent on the path.
EL_VERSION  := $(shell sed -n 's/^;; Version: //p' elisp/org-agent.el)
PACKAGE_TAR ?= bin/org-agent-$(EL_VERSION).tar

# The manual for "C-h i", and the list of it that package.el looks for. Info names the pages that it
# refers to: in a package and in a checkout they are in the same places below the top.
MANUAL ?= elisp

.PHONY: info
info: need-emacs need-makeinfo $(MANUAL)/org-agent.info ## export the manual for Emacs's "C-h i"

$(MANUAL)/org-agent.info: elisp/org-agent.org
	@mkdir -p $(MANUAL); work="$$(mktemp -d)"; trap 'rm -rf "$$work"' EXIT; \
	$(EMACS) -Q --batch --eval '(progn (require (quote ox-texinfo)) (setq org-export-use-babel nil) (find-file "$<") (org-export-to-file (quote texinfo) "'"$$work"'/org-agent.texi"))' && \
	cd "$$work" && sed -i.before 's|@uref{\.\./|@uref{|g' org-agent.texi && makeinfo --no-split --output=org-agent.info org-agent.texi && \
	install-info --quiet org-agent.info dir && cd "$(CURDIR)" && mv "$$work/dir" "$$work/org-agent.info" $(MANUAL)/ && touch $@

# A package has the manual where it was exported, or can be.
INFO_FILES := $(if $(and $(shell command -v makeinfo),$(shell command -v install-info)),elisp/org-agent.info,$(wildcard elisp/org-agent.info))

.PHONY: package
package: $(PACKAGE_TAR) ## make the package that M-x package-install-file installs

$(PACKAGE_TAR): $(EL_FILES) $(GO_FILES) LICENSE README.org $(INFO_FILES) | need-emacs
	@mkdir -p $(dir $@); work="$$(mktemp -d)"; trap 'rm -rf "$$work"' EXIT; \
	to="$$work/org-agent-$(EL_VERSION)"; mkdir "$$to" && cp $(EL_FILES) go.mod go.sum LICENSE README.org $(if $(INFO_FILES),$(INFO_FILES) elisp/dir) "$$to" && \
	$(EMACS) -Q --batch -l package --eval '(package-generate-description-file (with-temp-buffer (insert-file-contents "elisp/org-agent.el") (package-buffer-info)) (pop command-line-args-left))' \
	  "$$to/org-agent-pkg.el" && \
	find kernel skills -type f -not -name '*_test.go' -not -path '*/testdata/*' -not -path 'kernel/cmd/bench/*' \
	  -not -path 'kernel/cmd/llmtest-server/*' | tar --format=ustar -cf - -T - | tar -xf - -C "$$to" && \
	tar --format=ustar -cf $@ -C "$$work" "org-agent-$(EL_VERSION)" && echo "$@"

# need PROGRAM PACKAGE: install a Debian package when that is allowed, else say how.
define need
	@command -v $(1) >/dev/null || { \
	  install="apt-get install -y --no-install-recommends $(2)"; \
	  if ! command -v apt-get >/dev/null; then echo "org-agent needs $(1): install $(2) with your system's package manager and try again"; exit 1; fi; \
	  if [ "$$(id -u)" = 0 ]; then run=""; elif sudo -n true 2>/dev/null; then run=sudo; \
	  else echo "org-agent needs $(1). Run: sudo $$install"; exit 1; fi; \
	  echo "installing $(2) ..."; \
	  $$run $$install >/dev/null 2>&1 || { $$run apt-get update -qq && $$run $$install >/dev/null; } || { echo "that failed; run: sudo $$install"; exit 1; }; }
endef

.PHONY: need-emacs need-makeinfo need-tests
need-emacs:
	$(call need,$(EMACS),emacs-nox)

need-makeinfo:
	$(call need,makeinfo,texinfo)
	$(call need,install-info,install-info)

need-tests: need-emacs need-makeinfo need-mcp
	$(call need,$(SBCL),sbcl)
	$(call need,tmux,tmux)
	$(call need,espeak-ng,espeak-ng)
	$(call need,dbus-daemon,dbus-daemon)

# The servers of other people that our side of MCP is tried with, as they are locked.
.PHONY: need-mcp
need-mcp: .cache/mcp/node_modules/.package-lock.json

.cache/mcp/node_modules/.package-lock.json: testdata/mcp/package.json testdata/mcp/package-lock.json
	$(call need,npm,npm)
	@mkdir -p .cache/mcp && cp testdata/mcp/package.json testdata/mcp/package-lock.json .cache/mcp/
	@cd .cache/mcp && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

# ---- the tests ------------------------------------------------------------

# The names of sockets are bounded, and tests have theirs below directories of their own: where
# temporary files are in a deep place, tests have them in /tmp.
SHORT_TMP := $(shell name=$${TMPDIR:-/tmp}; [ "$$(printf %s "$$name" | wc -c)" -le 16 ] && echo "$$name" || echo /tmp)
quick test-go test-raced test-unraced race-all test-mcp test-elisp test-shared test-model kills: export TMPDIR := $(SHORT_TMP)

.PHONY: test
test: need-tests $(BIN) bin/llmtest-server ## get what the tests need and run them all, in three lanes beside each other
	@$(MAKE) --no-print-directory -j3 test-raced test-unraced test-elisp

.PHONY: quick
quick: ## in half a minute, what a change of one package needs; BASE is what it is a change of
	@EMACS="$(EMACS)" MAKE="$(MAKE)" .ci/quick

# Each test runs once. The tests of a package run with the race detector, unless the package has a
# file unraced_test.go: that says why not. Where single tests of a package are to run otherwise, they
# are in files that begin with "//go:build race" or "//go:build !race". A package without tests is not compiled
# for the race detector: that of the drivers would take a minute with the libraries of their makers.
PACKAGES = $(patsubst $(shell $(GO) list -m)/%,./%,$(shell $(GO) list ./...))
UNRACED := $(sort $(patsubst %/unraced_test.go,./%,$(shell find kernel skills -name unraced_test.go)))
RACED    = $(filter-out $(UNRACED),$(patsubst %/,%,$(sort $(dir $(wildcard $(addsuffix /*_test.go,$(PACKAGES)))))))

# tests-of TAG,PACKAGES: for "go test", the tests in files of PACKAGES for that build tag, and where
# they are; nothing if there are none.
tests-of = $(call tests-in,$(shell grep -l '^//go:build $(1)$$' $(wildcard $(addsuffix /*_test.go,$(2))) | xargs -r grep -l '^func Test'))
tests-in = $(if $(1),-run '^($(shell sed -nE 's/^func (Test[A-Za-z0-9]*).*/\1/p' $(1) | paste -sd '|'))$$' $(sort $(patsubst %/,%,$(dir $(1)))))

# What hangs is ended after an hour: ten minutes, as "go test" has it, are few for a package on a
# machine that does other things. "go vet" was run before.
GO_TEST := $(GO) test -toolexec '$(RARELY)' -timeout 1h -vet=off
# SQLite, translated from C, is not ours to look for races in, and takes ten times as long. The
# detector would have each program that ends wait for a second.
GO_RACE := GORACE=atexit_sleep_ms=20 $(GO_TEST) -race '-gcflags=modernc.org/...=-race=false -dwarf=false'

.PHONY: test-go test-raced test-unraced check-go
test-go: check-go test-raced test-unraced ## run the tests of Go

# What is checked here, with the files that "test-shared" adds, is not checked again where it is tested.
check-go:
	@unformatted="$$(gofmt -l kernel skills)"; [ -z "$$unformatted" ] || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(RARELY) $(GO) vet -tags goolm,shared,model,peers ./...
	$(RARELY) $(GO) tool staticcheck -tags goolm,shared,model,peers ./...

# Files for "race" are of packages that otherwise run without the detector, files for "!race" of those that
# otherwise run with it.
test-raced: $(BIN)
	$(GO_RACE) $(RACED)
	$(if $(call tests-of,race,$(UNRACED)),$(GO_RACE) $(call tests-of,race,$(UNRACED)))

test-unraced: $(BIN) check-go elisp/org-agent.elc
	$(GO_TEST) $(UNRACED)
	$(if $(call tests-of,!race,$(RACED)),$(GO_TEST) $(call tests-of,!race,$(RACED)))

.PHONY: race-all
race-all: need-tests $(BIN) ## run all tests of Go with the race detector, which takes long
	$(GO_RACE) ./...

.PHONY: test-mcp
test-mcp: need-mcp ## get the MCP servers of other people that the tests use, and run those tests
	$(GO) test ./kernel/mcp

# The tests run the package as it is installed, compiled. The checks run beside them.
# Native code is not made of it meanwhile: that is Emacs's, takes as long as the tests, and is late for them.
TEST_EMACS = $(EMACS) -Q --batch --eval '(setq load-prefer-newer t native-comp-deferred-compilation nil native-comp-jit-compilation nil)' -L elisp
.PHONY: test-elisp
test-elisp: $(BIN) bin/llmtest-server elisp/org-agent.elc
	@mkdir -p .cache; $(TEST_EMACS) -l elisp/test/check.el >.cache/check.log 2>&1 & checks=$$!; \
	trap 'kill $$checks; exit 1' INT TERM; \
	ORG_AGENT_PROGRAM=$(CURDIR)/$(BIN) ORG_AGENT_LLMTEST=$(CURDIR)/bin/llmtest-server \
	  $(TEST_EMACS) -L elisp/test -l elisp/test/run.el; ran=$$?; \
	wait $$checks; checked=$$?; cat .cache/check.log; exit $$((ran | checked))

# Real models, on this machine: nothing is asked of anybody else once they are installed.
MODELS := $(CURDIR)/.cache/model
.PHONY: need-models
need-models:
	$(call need,python3,python3)
	@testdata/model/install.sh $(MODELS)

.PHONY: test-model
test-model: need-tests need-models $(BIN) bin/llmtest-server $(AUTOLOADS) elisp/org-agent.elc ## get llama.cpp's server and three small models (700 MB in .cache), and drive all of it with them; UPDATE=1 records the server's wire anew
	$(if $(UPDATE),ORG_AGENT_MODELS=$(MODELS) $(GO) test -tags goolm,model -count=1 -timeout 1h -vet=off ./kernel/llm/openai -run '^TestRealWire$$' -update)
	@set -o pipefail; ORG_AGENT_MODELS=$(MODELS) $(GO_TEST) -tags goolm,model -count=1 -p 1 -v $(call tests-of,model,$(PACKAGES)) | grep -v -e '^=== ' -e '^ *--- PASS'
	ORG_AGENT_MODELS=$(MODELS) ORG_AGENT_PROGRAM=$(CURDIR)/$(BIN) ORG_AGENT_LLMTEST=$(CURDIR)/bin/llmtest-server \
	  $(TEST_EMACS) -l $(AUTOLOADS) -L elisp/test -l elisp/test/org-agent-real-model.el --eval '(ert-run-tests-batch-and-exit "^org-agent-real-model-")'

# Programs of other people that the kernel speaks with, each a process of its own. They are built in a module of their own,
# from what testdata/peers locks, and nothing of them is linked.
PEERS := $(CURDIR)/.cache/peers
.PHONY: need-peers test-peers
need-peers: $(PEERS)/dendrite

$(PEERS)/dendrite: testdata/peers/go.mod testdata/peers/go.sum
	@mkdir -p $(PEERS)/module && cp $^ $(PEERS)/module/
	@echo "building a homeserver; the first time that takes one to three minutes"
	@cd $(PEERS)/module && CGO_ENABLED=0 $(RARELY) $(GO) build -o $(PEERS)/ github.com/matrix-org/dendrite/cmd/dendrite github.com/matrix-org/dendrite/cmd/generate-keys

test-peers: need-peers ## build a Matrix homeserver (in .cache), and talk with it
	ORG_AGENT_PEERS=$(PEERS) $(GO_TEST) -tags goolm,peers -count=1 -v $(call tests-of,peers,$(PACKAGES))

.PHONY: test-shared
test-shared: need-tests $(BIN) ## run the tests over $(SHARED), which is not part of a clone
	ORG_AGENT_SHARED="$$(cd $(SHARED) && pwd)" $(GO_TEST) -tags goolm,shared -v $(call tests-of,shared,$(PACKAGES))

.PHONY: conformance
conformance: need-tests ## compare the Lisp with SBCL, form by form, by whole programs and by PROGRAMS (default 50000) random ones
	$(GO) test ./kernel/lisp -run '^(TestConformance|TestPrograms)$$' -count=1 -v -update
	$(GO) test ./kernel/lisp -run '^TestRandomPrograms$$' -count=1 -programs $${PROGRAMS:-50000} -random

.PHONY: attacks
attacks: ## run what hostile notes would try, and print the time and memory each takes
	$(GO) test ./kernel/lisp -run '^(TestAttacks|TestDeepestStack)$$' -count=1 -v | grep -v -e '^ *--- PASS' -e '^=== RUN'
	$(GO) test ./kernel/lisp -run '^(TestAllocationsAreCharged|TestHostileArguments|TestLoopsStep|TestBuiltinsWithOddArguments|TestPeakMemory|TestPeakOfAProcess|TestPeakOfThree)$$' -count=1 -thorough

.PHONY: race
race: ## run 20 notes in 8 goroutines for RACETIME (default 1m) under the race detector
	$(GO) test -race ./kernel/skill -run '^TestManyNotesAtOnce$$' -count=1 -v -together $${RACETIME:-1m}

# ---- measuring and showing ------------------------------------------------

.PHONY: bench
bench: need-tests $(BIN) $(AUTOLOADS) ## measure the targets and print them as a table; GPTEL=DIR:COMPAT measures gptel too
	$(GO) run ./kernel/cmd/bench -program $(BIN) -emacs $(EMACS) -sbcl $(SBCL) -go $(GO) -gptel '$(GPTEL)'

.PHONY: screenshot
screenshot: need-emacs $(BIN) bin/llmtest-server $(AUTOLOADS) ## make the pictures in testdata of real Emacs frames
	$(call need,Xvfb,xvfb)
	EMACS=$(EMACS) testdata/screenshot/screenshot.sh pictures

.PHONY: animation
animation: need-emacs $(BIN) bin/llmtest-server $(AUTOLOADS) ## make the animation in testdata of real Emacs frames
	$(call need,Xvfb,xvfb)
	EMACS=$(EMACS) GO="$(GO)" testdata/screenshot/screenshot.sh animation

.PHONY: power-loss
power-loss: ## lose the power at LOSSES (default 3000) moments of a journal's life, and check what is left
	ORG_AGENT_POWER_LOSSES=$(or $(LOSSES),3000) $(GO) test -count=1 -timeout 0 -run TestPowerLoss ./kernel/journal/powerloss

.PHONY: red-team
red-team: $(BIN) ## attack the built kernel with all corpora, as an ordinary user and, where root starts it, as root; and try the options that programs are allowed
	@set -e; work="$$(mktemp -d)"; trap 'rm -rf "$$work"' EXIT; chmod 755 "$$work"; \
	$(GO) build -o "$$work/redteam" ./kernel/cmd/redteam; \
	"$$work/redteam" -program $(BIN) -data . $(if $(CLASS),-only '$(CLASS)'); \
	if [ "$$(id -u)" = 0 ]; then \
	  mkdir -p "$$work/kernel/policy" "$$work/kernel/cmd/redteam" "$$work/testdata" "$$work/tmp"; cp -R kernel/policy/testdata "$$work/kernel/policy"; \
	  cp -R kernel/cmd/redteam/testdata "$$work/kernel/cmd/redteam"; \
	  cp -R testdata/held "$$work/testdata"; cp $(BIN) "$$work/org-agent"; chmod -R a+rX "$$work"; chmod 1777 "$$work/tmp"; \
	  cd "$$work"; TMPDIR="$$work/tmp" HOME="$$work/tmp" setpriv --reuid=65534 --regid=65534 --clear-groups ./redteam -program ./org-agent -data . $(if $(CLASS),-only '$(CLASS)'); \
	fi
	$(if $(CLASS),,PROGRAMS=all $(GO) test -count=1 -timeout 0 -vet=off -v -run '^TestProgramsDoNoMore$$' ./kernel/shell)

.PHONY: salvage
salvage: ## compare what is salvaged of damaged journals with what .recover of SQLITE3 (default sqlite3) finds
	$(call need,$(or $(SQLITE3),sqlite3),sqlite3)
	SQLITE3='$(or $(SQLITE3),sqlite3)' $(GO) test -tags sqlite3 -count=1 -timeout 0 -vet=off -v -run '^TestSalvageFindsWhatRecoverDoes$$' ./kernel/journal

.PHONY: signal-cli
signal-cli: ## drive the signal-cli of SIGNAL_CLI (default signal-cli), without an account; UPDATE=1 records its answers anew
	$(call need,$(firstword $(or $(SIGNAL_CLI),signal-cli)),signal-cli)
	SIGNAL_CLI='$(or $(SIGNAL_CLI),signal-cli)' $(GO) test -tags signalcli -count=1 -vet=off -v -run '^TestReal' ./kernel/channel/signal $(if $(UPDATE),-update)

.PHONY: kills
kills: ## for KILLTIME (default 1h) kill kernels that run commands, call tools, wait for people and archive, and as long those that talk in chats, and check what was done
	@set -o pipefail; $(GO) test -count=1 -timeout 0 -vet=off -v -run '^TestKilledAmid(Deeds|Chats)$$' ./kernel/daemon -kills $(or $(KILLTIME),1h) | grep -v -e '^=== ' -e '--- PASS'

.PHONY: walks
walks: need-emacs $(BIN) elisp/org-agent.elc ## do in real Emacsen what README.org and the manual say, and print how long it took; PICTURES=DIR keeps pictures
	$(call need,tmux,tmux)
	$(call need,Xvfb,xvfb)
	$(call need,xdotool,xdotool)
	$(call need,import,imagemagick)
	@mkdir -p .cache; set -o pipefail; windows=$$(EMACS=$(EMACS) testdata/screenshot/emacs-with-windows.sh) && \
	$(GO) test ./kernel/walk -run '^TestWalks$$' -count=1 -timeout 2h -v -more -displays terminal,window -inits empty,typical \
	  -emacs "$$windows" -pictures '$(if $(PICTURES),$(abspath $(PICTURES)))' | tee .cache/walks.log | grep -v -e '^=== RUN' -e 'clock	' && \
	$(GO) test ./kernel/walk -run '^TestWalks$$' -count=1 -timeout 2h -v -inits cloned >>.cache/walks.log || { tail -n 40 .cache/walks.log; exit 1; }
	@sed -n 's/.*clock	//p' .cache/walks.log | sort | expand -t 52,72,84

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME (default 30s) each
	@for package in $$($(GO) list ./kernel/...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-30s} $$package || exit 1; \
	  done; done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin .cache elisp/*.elc elisp/test/*.elc $(AUTOLOADS)
