package keys

// kept are directories in which all is kept from reading, wherever they are.
var kept = map[string]bool{
	".ssh": true, ".gnupg": true, ".password-store": true, ".aws": true, ".kube": true, ".azure": true, "keyrings": true,
	".pki": true, ".electrum": true, ".bitcoin": true, ".ethereum": true, ".monero": true, ".oci": true, ".bluemix": true,
	".aliyun": true, ".step": true, ".minisign": true, ".davfs2": true, ".mozilla": true, ".thunderbird": true, ".doctl": true, ".fly": true,
	".lastpass": true, ".gopass": true, ".railway": true, ".supabase": true, ".doppler": true, ".near-credentials": true, ".lnd": true, ".snowsql": true,
	".cloudflared": true, ".wrangler": true, ".sparrow": true,
}

// named is a name, or a part of one, with its level.
type named struct {
	text  string
	level Level
}

// files are names of files, wherever they are.
var files = map[string]Level{
	".authinfo": Kept, ".authinfo.gpg": Kept, "authinfo.gpg": Kept, ".netrc": Kept, ".netrc.gpg": Kept, "_netrc": Kept,
	".pgpass": Kept, "pgpass.conf": Kept, ".my.cnf": Kept, ".mylogin.cnf": Kept, ".git-credentials": Kept, ".npmrc": Kept, ".pypirc": Kept,
	".yarnrc.yml": Perhaps, ".vault-token": Kept, ".s3cfg": Kept, ".boto": Kept, ".dockercfg": Kept, ".htpasswd": Kept, ".fetchmailrc": Kept,
	".msmtprc": Kept, ".esmtprc": Kept, ".mbsyncrc": Kept, ".isyncrc": Kept, ".databrickscfg": Kept, ".terraformrc": Kept, "terraform.rc": Kept,
	"rclone.conf": Kept, "wallet.dat": Kept, ".pwsafe": Kept, ".rhosts": Kept, ".smbcredentials": Kept, ".wandbrc": Kept,
	".erlang.cookie": Kept, ".xauthority": Kept, ".iceauthority": Kept, ".sentryclirc": Kept, ".offlineimaprc": Kept, ".google_authenticator": Kept,
	".passwd-s3fs": Kept, ".s3cmd": Kept, ".linode-cli": Kept, ".ovh.conf": Kept, ".yarnrc": Perhaps, ".bunfig.toml": Perhaps, ".aider.conf.yml": Perhaps,
	".k5login": Perhaps, ".muttrc": Perhaps, ".pg_service.conf": Perhaps, ".rtorrent.rc": Perhaps,
	"key3.db": Kept, "key4.db": Kept, "logins.json": Kept, "signons.sqlite": Kept, "cookies.sqlite": Kept, "login data": Kept, "login data for account": Kept,
	"user.keystore": Kept, "kwallet.kwl": Kept, "kdewallet.kwl": Kept, "secring.gpg": Kept,
	"ssh_host_rsa_key": Kept, "ssh_host_ed25519_key": Kept, "ssh_host_ecdsa_key": Kept, "ssh_host_dsa_key": Kept,

	".bash_history": Perhaps, ".zsh_history": Perhaps, ".zhistory": Perhaps, ".histfile": Perhaps, ".sh_history": Perhaps, ".ksh_history": Perhaps,
	".history": Perhaps, "fish_history": Perhaps, ".python_history": Perhaps, ".psql_history": Perhaps, ".mysql_history": Perhaps,
	".sqlite_history": Perhaps, ".rediscli_history": Perhaps, ".mongosh_repl_history": Perhaps, ".node_repl_history": Perhaps, ".irb_history": Perhaps,
	".lesshst": Perhaps, ".viminfo": Perhaps, "consolehost_history.txt": Perhaps,

	".env": Perhaps, ".envrc": Perhaps, "credentials.json": Perhaps, "credentials.toml": Perhaps, "credentials.yml": Perhaps,
	"credentials.yaml": Perhaps, "credentials.ini": Perhaps, "credentials.xml": Perhaps, "credentials.csv": Perhaps,
	"secrets.json": Perhaps, "secrets.yml": Perhaps, "secrets.yaml": Perhaps, "secrets.toml": Perhaps, "secrets.env": Perhaps, "secrets.ini": Perhaps,
	"secret.json": Perhaps, "secret.yml": Perhaps, "secret.yaml": Perhaps, "vault.yml": Perhaps, "vault.yaml": Perhaps, "auth.json": Perhaps,
	"master.key": Perhaps, "passwords.txt": Perhaps, "passwords.csv": Perhaps, "password.txt": Perhaps, "kubeconfig": Perhaps,
	"terraform.tfstate": Perhaps, "wp-config.php": Perhaps, "token.json": Perhaps, ".token": Perhaps,
	".credentials": Perhaps, ".secret": Perhaps, ".secrets": Perhaps, "secrets.enc.yaml": Perhaps, "database.yml": Perhaps, "access-token": Perhaps,
	"access_token": Perhaps, "refresh_token": Perhaps, "github_token": Perhaps, ".github_token": Perhaps, "api_key": Perhaps, "api_key.txt": Perhaps,
	"apikey.txt": Perhaps, ".api_key": Perhaps, ".apikey": Perhaps, ".openai_api_key": Perhaps, ".anthropic_api_key": Perhaps,
}

// beginnings are how names of files begin, before their end or a dot, a dash or an underscore. A name that
// ends in "example", "sample", "template", ".dist" or ".pub" does not count.
var beginnings = []named{
	{"id_rsa", Kept}, {"id_dsa", Kept}, {"id_ecdsa", Kept}, {"id_ed25519", Kept}, {"id_xmss", Kept}, {".env", Perhaps},
	{"service-account", Perhaps}, {"service_account", Perhaps}, {"client_secret", Perhaps}, {"client-secret", Perhaps},
	{"application_default_credentials", Kept}, {".netrc", Kept}, {".authinfo", Kept},
}

// endings are how names of files end, behind their last dot.
var endings = map[string]Level{
	"kdbx": Kept, "kdb": Kept, "p12": Kept, "pfx": Kept, "jks": Kept, "keystore": Kept, "ppk": Kept, "keytab": Kept, "agekey": Kept,
	"macaroon": Kept,
	"psafe3":   Kept, "keychain": Kept, "keychain-db": Kept, "agilekeychain": Kept, "opvault": Kept,
	"pem": Perhaps, "key": Perhaps, "p8": Perhaps, "ovpn": Perhaps, "tfvars": Perhaps, "tfstate": Perhaps, "kubeconfig": Perhaps, "env": Perhaps,
	"htpasswd": Perhaps,
}

// places are files and directories by the end of their names: below such a directory all has its level.
var places = []named{
	{".config/gh", Kept}, {".config/glab-cli", Kept}, {".config/hub", Kept}, {".config/gcloud", Kept}, {".config/sops", Kept}, {".config/age", Kept},
	{".config/rclone", Kept}, {".config/op", Kept}, {".config/bitwarden", Kept}, {".config/bitwarden cli", Kept}, {".config/keepassxc", Kept},
	{".config/doctl", Kept}, {".config/hcloud", Kept}, {".config/stripe", Kept}, {".config/netlify", Kept}, {".config/heroku", Kept}, {".config/wandb", Kept},
	{".config/github-copilot", Kept}, {".config/filezilla", Kept}, {".config/remmina", Kept}, {".config/freerdp", Kept}, {".config/msmtp", Kept},
	{".config/containers/auth.json", Kept}, {".config/git/credentials", Kept}, {".config/nix/netrc", Kept}, {".config/composer/auth.json", Kept},
	{".config/configstore", Kept}, {".config/signal", Kept}, {".config/element", Kept}, {".config/slack", Kept}, {".config/discord", Kept},
	{".config/google-chrome", Kept}, {".config/google-chrome-beta", Kept}, {".config/chromium", Kept}, {".config/bravesoftware", Kept},
	{".config/vivaldi", Kept}, {".config/opera", Kept}, {".config/microsoft-edge", Kept}, {".config/qutebrowser", Perhaps}, {".config/pip", Perhaps},
	{".config/mutt", Perhaps}, {".config/neomutt", Perhaps}, {".config/aerc", Kept}, {".config/himalaya", Perhaps}, {".config/atuin", Perhaps},
	{".config/gcloud-legacy", Kept}, {".config/kube", Kept}, {".config/ngrok", Kept}, {".config/syncthing", Kept}, {".config/rustdesk", Kept},
	{".config/linode-cli", Kept}, {".config/gopass", Kept}, {".config/rbw", Kept}, {".config/1password", Kept}, {".config/solana", Kept}, {".config/exodus", Kept},
	{".config/tigervnc", Kept}, {".config/borg/keys", Kept}, {".config/pypoetry/auth.toml", Kept}, {".config/cachix", Kept}, {".config/scw", Kept}, {".config/tea", Kept},
	{".config/io.datasette.llm/keys.json", Kept}, {".config/code/user/globalstorage", Kept}, {".config/cursor/user/globalstorage", Kept}, {".config/vscodium/user/globalstorage", Kept},
	{".config/onedrive", Kept}, {".config/profanity", Kept}, {".config/openai", Kept}, {".config/anthropic", Kept}, {".config/.wrangler", Kept},
	{".config/lab", Perhaps}, {".config/nextcloud", Perhaps}, {".circleci/cli.yml", Kept}, {".travis/config.yml", Kept}, {".foundry/keystores", Kept},
	{".hex/hex.config", Kept}, {".nuget/nuget/nuget.config", Perhaps}, {".bundle/config", Perhaps}, {".getmail", Perhaps}, {".putty", Perhaps},
	{".local/share/gopass", Kept}, {".local/share/password-store", Kept}, {".local/share/rbw", Kept}, {".local/share/telegramdesktop", Kept},
	{".local/share/dbeaverdata", Kept}, {".local/share/profanity", Kept}, {".local/share/gajim", Perhaps}, {".local/share/dino", Perhaps},
	{".local/share/atuin", Perhaps}, {".local/share/fish", Perhaps}, {".local/share/kwalletd", Kept}, {".local/share/keybase", Kept},
	{".local/share/python_keyring", Kept}, {".local/share/mkcert", Kept}, {".local/share/evolution", Perhaps}, {".local/share/qutebrowser", Perhaps},
	{".var/app/org.mozilla.firefox", Kept}, {".var/app/com.google.chrome", Kept}, {"snap/firefox", Kept}, {"snap/chromium", Kept},
	{".docker/config.json", Kept}, {".cargo/credentials", Kept}, {".cargo/credentials.toml", Kept}, {".gem/credentials", Kept}, {".composer/auth.json", Kept},
	{".m2/settings.xml", Kept}, {".m2/settings-security.xml", Kept}, {".gradle/gradle.properties", Kept}, {".sbt/.credentials", Kept}, {".ivy2/.credentials", Kept},
	{".terraform.d/credentials.tfrc.json", Kept}, {".pulumi/credentials.json", Kept}, {".kaggle/kaggle.json", Kept}, {".dbt/profiles.yml", Kept},
	{".cache/huggingface/token", Kept}, {".huggingface/token", Kept}, {".claude/.credentials.json", Kept}, {".claude.json", Kept}, {".codex/auth.json", Kept},
	{".gemini/oauth_creds.json", Kept}, {".purple/accounts.xml", Kept}, {".weechat/sec.conf", Kept}, {".config/weechat/sec.conf", Kept},
	{".subversion/auth", Kept}, {".hgrc", Perhaps}, {".netlify/config.json", Kept}, {".vercel/auth.json", Kept},
	{".jupyter/jupyter_server_config.json", Perhaps}, {".irssi", Perhaps}, {".znc", Kept}, {".cert", Kept}, {".vnc/passwd", Kept}, {".tor", Kept},
	{".android/adbkey", Kept}, {".android/debug.keystore", Kept}, {"etc/ssl/private", Kept}, {"etc/wireguard", Kept}, {"etc/networkmanager/system-connections", Kept},
	{"etc/openvpn", Perhaps}, {"etc/sudoers", Perhaps}, {"etc/krb5.keytab", Kept}, {"etc/shadow", Kept}, {"etc/gshadow", Kept}, {"run/secrets", Kept}, {"var/lib/docker", Perhaps},
}

// copies are what people and programs put behind the name of a copy.
var copies = map[string]bool{
	"bak": true, "backup": true, "old": true, "orig": true, "save": true, "saved": true, "copy": true, "rej": true, "swp": true, "swo": true,
	"tmp": true, "new": true, "dist": true, "rpmsave": true, "rpmnew": true, "org_archive": true, "part": true,
}
