package keys_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/keys"
)

// keptPaths and perhapsPaths are names of files in a home. Each program of the table has one.
func keptPaths() []string {
	return strings.Fields(`.ssh .ssh/id_rsa .ssh/config .gnupg/private-keys-v1.d/x.key .password-store/mail.gpg .aws/credentials .kube/config .azure/x
		.local/share/keyrings/login.keyring .authinfo .authinfo.gpg .netrc .pgpass .my.cnf .git-credentials .npmrc .pypirc .vault-token .s3cfg .boto .dockercfg
		.docker/config.json .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties .config/gh/hosts.yml
		.config/gcloud/credentials.db .config/rclone/rclone.conf .config/sops/age/keys.txt .config/op/config .config/hub .config/containers/auth.json
		.config/git/credentials .config/nix/netrc .config/stripe/config.toml .config/wandb/settings .config/filezilla/sitemanager.xml .config/remmina/a.remmina
		.config/msmtp/config .config/github-copilot/hosts.json .config/google-chrome/Default/Cookies .config/chromium/x .mozilla/firefox/a.default/key4.db
		.thunderbird/p/logins.json .config/BraveSoftware/x .claude/.credentials.json .codex/auth.json .cache/huggingface/token .terraform.d/credentials.tfrc.json
		.kaggle/kaggle.json .purple/accounts.xml .pki/nssdb/key4.db .bitcoin/wallet.dat .msmtprc .databrickscfg .dbt/profiles.yml .subversion/auth/svn.simple/x
		.mylogin.cnf backup/id_rsa keys/id_ed25519 old/id_ecdsa_sk.2019 safe.kdbx cert.p12 cert.pfx store.jks putty.ppk host.keytab x.agekey
		.netrc~ .netrc.bak .authinfo.bak .authinfo~ .AUTHINFO .Netrc .NETRC.OLD #.netrc# .#.netrc .netrc.~3~ .netrc.swp .netrc.swp .ssh.bak/id .ssh-old/x .ssh_backup/x
		.erlang.cookie .Xauthority .ICEauthority .sentryclirc .offlineimaprc .google_authenticator .passwd-s3fs .s3cmd .linode-cli .config/linode-cli .lastpass/x .gopass/x
		.config/gopass/age/identities .local/share/gopass/stores/root/a.age .local/share/password-store/x.gpg .config/rbw/config.json .local/share/rbw/x .config/1Password/x
		.cloudflared/cert.pem .cloudflared/tunnel.json .railway/config.json .supabase/access-token .circleci/cli.yml .travis/config.yml .snowsql/config .doppler/.doppler.yaml
		.config/solana/id.json .near-credentials/mainnet/a.json .foundry/keystores/a .lnd/data/x src/admin.macaroon .sparrow/wallets/x .config/Exodus/x .config/tigervnc/passwd
		.local/share/TelegramDesktop/tdata/x .config/borg/keys/x .config/pypoetry/auth.toml .hex/hex.config .config/cachix/cachix.dhall .config/scw/config.yaml .ovh.conf
		.config/tea/config.yml .config/io.datasette.llm/keys.json .local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json .wrangler/config/default.toml
		.config/Code/User/globalStorage/state.vscdb .config/onedrive/refresh_token .config/profanity/x .local/share/profanity/accounts .config/openai/x .config/anthropic/x
		.gnupg-backup/x .aws.20240101/credentials src/project/.npmrc work/.ssh/known_hosts .electrum/wallets/default_wallet .step/secrets/x`)
}

func perhapsPaths() []string {
	return strings.Fields(`src/.env src/.env.production src/.envrc src/prod.env src/.ENV .bash_history .zsh_history .python_history .psql_history .lesshst .viminfo
		.local/share/fish/fish_history .local/share/atuin/history.db src/credentials.json src/secrets.yml src/secrets.env src/service-account.json src/client_secret_1.json
		src/server.pem src/tls.key src/main.tfvars src/terraform.tfstate .config/pip/pip.conf .hgrc src/.env.bak src/.env~ .muttrc a/kubeconfig
		.credentials .secrets src/.secret src/access-token src/github_token src/.github_token src/api_key.txt src/.api_key src/.apikey src/.openai_api_key .nuget/NuGet/NuGet.Config
		.bundle/config .yarnrc .bunfig.toml .getmail/getmailrc .aider.conf.yml .config/lab/lab.toml .local/share/gajim/x .local/share/dino/dino.db .config/Nextcloud/nextcloud.cfg
		src/secrets.enc.yaml src/database.yml .putty/sessions/x`)
}

func plainPaths() []string {
	return strings.Fields(`notes.org src/main.go src/.env.example src/.env.sample src/.env.template src/.environment src/go/token/token.go src/credentials/credentials.go
		src/secrets src/passwords src/cookies .ssh2 src/id_rsa.pub src/id_ed25519.pub src/keyring.go src/monkey src/turkey.txt .config/emacs/init.el .config/git/config
		.emacs.d/init.el .gitconfig .gitignore .bashrc .profile .github/workflows/ci.yml .docker/Dockerfile .cargo/config.toml .cargo/registry/x
		etc/hosts etc/passwd src/pem.go src/authinfo src/history.go .local/share/org/x src/env src/environment.ts src/.envoy.yaml src/access-token.go src/api_key.py src/database.yml.go .config/Code/User/settings.json .secretary .bundle/x a.key.go notes.bak notes.org~`)
}

func TestOf(t *testing.T) {
	for level, paths := range map[keys.Level][]string{keys.Kept: keptPaths(), keys.Perhaps: perhapsPaths(), keys.None: plainPaths()} {
		for _, path := range paths {
			for _, full := range []string{path, "/home/ann/" + path, "/home/ann/deep/er/" + path} {
				if got := keys.Of(full); got != level {
					t.Errorf("%s has level %d, not %d", full, got, level)
				}
			}
		}
	}
	for path, level := range map[string]keys.Level{
		"": keys.None, "/": keys.None, "/proc/1/environ": keys.Kept, "/proc/self/environ": keys.Kept, "/etc/shadow": keys.Kept, "/etc/gshadow": keys.Kept,
		"/etc/ssl/private/x.key": keys.Kept, "/etc/ssl/certs/ca.crt": keys.None, "/etc/NetworkManager/system-connections/home": keys.Kept, "/run/secrets/db": keys.Kept,
		"/home/ann/snap/firefox/common/x": keys.Kept, "/etc/ssh/ssh_host_ed25519_key": keys.Kept, "/etc/ssh/ssh_host_ed25519_key.pub": keys.None,
	} {
		if got := keys.Of(path); got != level {
			t.Errorf("%s has level %d, not %d", path, got, level)
		}
	}
}

// TestOfAnyCopy checks that neither the case of a name nor what marks a copy lowers its level.
func TestOfAnyCopy(t *testing.T) {
	strict := append(keptPaths(), perhapsPaths()...)
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom(strict).Draw(t, "path")
		level := keys.Of(path)
		name := []byte(path)
		for i := range name {
			if rapid.Bool().Draw(t, "upper") {
				name[i] = strings.ToUpper(string(name[i]))[0]
			}
		}
		marked := string(name) + rapid.SampledFrom([]string{"", "~", ".bak", ".old", ".orig", "-backup", " copy", ".~12~", ".2024", ".BAK~", ".save.1", ".tmp"}).Draw(t, "mark")
		if got := keys.Of(marked); got < level {
			t.Fatalf("%s has level %d, and %s %d", path, level, marked, got)
		}
	})
}

// TestIn checks that a file with keys is found under other names, and a private key under any.
func TestIn(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	write := func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(from, to string) string {
		t.Helper()
		if err := os.Link(from, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----\n"
	for path, level := range map[string]keys.Level{
		link(write(filepath.Join(home, ".ssh/work"), "x"), filepath.Join(project, "a")):                            keys.Kept,
		link(write(filepath.Join(home, ".netrc"), "x"), filepath.Join(project, "b")):                               keys.Kept,
		link(write(filepath.Join(home, ".config/gh/hosts.yml"), "x"), filepath.Join(project, "c")):                 keys.Kept,
		link(write(filepath.Join(home, ".docker/config.json"), "x"), filepath.Join(project, "d")):                  keys.Kept,
		link(write(filepath.Join(project, ".env"), "x"), filepath.Join(project, "hardenv")):                        keys.Perhaps,
		link(write(filepath.Join(project, "plain"), "x"), filepath.Join(project, "linked")):                        keys.None,
		write(filepath.Join(project, "mykey"), key):                                                                keys.Kept,
		write(filepath.Join(project, "notes.org"), "* Keys\n#+begin_example\n"+key+"#+end_example\n"):              keys.Perhaps,
		write(filepath.Join(project, "words.org"), "A file begins with -----BEGIN PRIVATE KEY----- there.\n"):      keys.None,
		write(filepath.Join(project, "bundle"), "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"+key): keys.Kept,
		write(filepath.Join(project, "server.pem"), strings.ReplaceAll(key, "PRIVATE KEY", "CERTIFICATE")):         keys.Perhaps,
		write(filepath.Join(project, "pgp.asc"), "-----BEGIN PGP PRIVATE KEY BLOCK-----\n"):                        keys.Kept,
		write(filepath.Join(project, "age.txt"), "# created\nAGE-SECRET-KEY-1QQ\n"):                                keys.Kept,
		write(filepath.Join(project, "putty"), "PuTTY-User-Key-File-3: ssh-ed25519\n"):                             keys.Kept,
		write(filepath.Join(project, "public"), strings.ReplaceAll(key, "PRIVATE", "PUBLIC")):                      keys.None,
		write(filepath.Join(project, "empty"), ""):                                                                 keys.None,
		filepath.Join(project, "missing"):                                                                          keys.None,
		project:                                                                                                    keys.None,
		"/dev/zero":                                                                                                keys.None,
	} {
		if got := keys.In(path, home); got != level {
			t.Errorf("%s has level %d, not %d", path, got, level)
		}
	}
	if err := os.Symlink(filepath.Join(project, "mykey"), filepath.Join(project, "symlink")); err != nil {
		t.Fatal(err)
	}
	if got := keys.In(filepath.Join(project, "symlink"), home); got != keys.Kept {
		t.Errorf("a link to a private key has level %d", got)
	}
}

func BenchmarkOf(b *testing.B) {
	paths := []string{"/home/ann/src/project/kernel/policy/reach.go", "/home/ann/.config/emacs/init.el", "/usr/share/doc/x", "notes.org"}
	for b.Loop() {
		for _, path := range paths {
			keys.Of(path)
		}
	}
}
