package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/sandbox"
)

// escapes are scripts of programs that try to leave the fence, with a name. None succeeds, and none
// has an effect that is visible outside.
var escapes = []struct{ name, script string }{
	// Files of others.
	{"the root of another process", `cat /proc/[0-9]*/root$H/.authinfo /proc/[0-9]*/root$W/state/token`},
	{"the directory of another process", `for p in /proc/[0-9]*; do cat $p/cwd/../home/.authinfo $p/cwd/../../state/token; done`},
	{"the open files of another process", `for f in /proc/[0-9]*/fd/*; do timeout 0.1 head -c 100 $f; echo x >$f & done 2>/dev/null; wait`},
	{"the program of the warden", `echo x >/proc/1/exe; cp /bin/true /proc/1/exe; dd if=/dev/zero of=/proc/1/mem bs=1 count=1 seek=4194304; cat /proc/1/maps`},
	{"a directory above", `cat ../home/.authinfo ../state/token /proc/self/cwd/../home/.authinfo $P/../state/journal.db; ls ..`},
	{"a link out", `ln -s $H/.authinfo out; cat out; echo x >out; ln -s $W/state d; cat d/token; echo x >d/new; rm -f out d`},
	{"a link that moves", `for i in $(seq 50); do ln -sfn mine race; ln -sfn $W/beside/a race; echo x >race; cat race; done & for i in $(seq 50); do echo y >>race; done; wait; rm -f race`},
	{"hard links", `ln $H/.authinfo hard; ln $W/beside/a hard2; ln /etc/passwd hard3; ln /proc/1/exe hard4; cat hard hard2`},
	{"a name with another file system in it", `exec 9<$P; cat /proc/self/fd/9/../home/.authinfo; cd /proc/self/fd/9/.. && cat home/.authinfo`},
	{"a file by its handle", `./program attempt handle=$P/mine handle=/etc/passwd handle=/`},
	{"a program in no file", `./program attempt memfd=$H/.authinfo memfd=$W/state/token`},
	{"what starts with the person", `for f in .bashrc .profile .ssh/authorized_keys .config/autostart/x.desktop .emacs.d/init.el; do mkdir -p $(dirname $H/$f); echo 'touch /tmp/mine' >>$H/$f; done`},
	{"what starts with other programs", `echo x >>.git/hooks/pre-commit; cp /bin/true .git/hooks/pre-commit; mv .git/hooks .git/h; echo x >>.git/config; git config core.fsmonitor /bin/true; echo x >>.dir-locals.el; rm -f .envrc .dir-locals.el; mv .git g`},
	{"what starts with the machine", `crontab -l; echo '* * * * * true' | crontab -; echo true | at now; systemd-run --user true; echo x >/etc/cron.d/x; echo x >/etc/ld.so.preload; echo x >>/etc/profile; echo x >/usr/local/bin/x`},
	// Namespaces and mounts.
	{"a mount", `mkdir -p m; mount --bind / m; mount -t proc proc m; mount -t tmpfs x m; mount -o remount,rw /usr; mount --move $P m; umount -l $H; umount /proc; ls m; rmdir m; ./program attempt mount=/tmp unmount=$H tree=/ filesystem= pivot=/tmp`},
	{"a namespace of its own", `unshare -Urm sh -c 'mount -t tmpfs x /tmp && cat $H/.authinfo'; unshare -n true && echo out; unshare -p -f true && echo out; ./program attempt namespace=`},
	{"the namespaces of another", `nsenter -t 1 -m -- cat $H/.authinfo; ./program attempt enter=/proc/1/ns/mnt enter=/proc/1/ns/net enter=/proc/1/ns/user enter=/proc/self/ns/mnt`},
	{"another root", `chroot / cat $H/.authinfo; ./program attempt root=/tmp root=$P`},
	{"groups that run programs at their end", `mkdir -p g; mount -t cgroup -o memory x g; mount -t cgroup2 x g; find /sys g -name release_agent; echo /tmp/x >/sys/fs/cgroup/release_agent; echo 1 >/sys/fs/cgroup/notify_on_release; rmdir g`},
	{"a device", `mknod disk b 8 0; mknod /tmp/mem c 1 1; cat disk /tmp/mem /dev/mem /dev/kmem /dev/sda /dev/vda /dev/kmsg; ls /dev/kvm /dev/vsock; rm -f disk`},
	// The system itself.
	{"the settings of the system", `echo "|$P/program" >/proc/sys/kernel/core_pattern; echo $P/program >/proc/sys/kernel/modprobe; echo b >/proc/sysrq-trigger; echo 1 >/proc/sys/net/ipv4/ip_forward; echo x >/sys/kernel/uevent_helper; sysctl -w kernel.hostname=mine; hostname mine`},
	{"a crash", `ulimit -c unlimited; bash -c 'kill -SEGV $$'; ls core*`},
	{"modules and programs for the system", `insmod x; modprobe loop; ./program attempt program= fault= watch= ring= clock= name=`},
	{"keys", `keyctl add user $MARK x @u; keyctl show; ./program attempt key=$MARK keys=$MARK; cat /proc/keys`},
	{"other rights", `su -c 'cat '$H/.authinfo; sudo -n true; cp /bin/bash b; chmod u+s b; chmod 6755 b; chmod g+s .; install -m 4755 /bin/true i; setcap cap_sys_admin+ep b; ./program attempt setuid=$P/mine setuid-made=$P/made owner=$P/mine`},
	// Processes.
	{"signals", `kill -9 -1 $KERNEL 1 $PPID; kill -STOP $KERNEL; pkill -9 -f org-agent; killall -9 sandbox.test; for i in $(seq 300); do kill -9 $i; done`},
	{"tracing", `gdb -p 1 -batch -ex 'call (int)system("true")'; strace -p 1 -o /tmp/s & sleep 0.05; ./program attempt peek=1 peek=$KERNEL; cat /proc/1/environ /proc/$KERNEL/environ`},
	{"processes that stay", `sleep $MARK & setsid sleep $MARK & (setsid nohup sleep $MARK >/dev/null 2>&1 &); (trap '' TERM HUP INT; exec setsid sleep $MARK) & disown -a; exit 0`},
	{"many processes", `for i in $(seq 120); do sleep $MARK & done; exit 0`},
	{"processes that beget others", `f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; exec sleep $MARK; }; f 5 & sleep 0.2; exit 0`},
	{"much memory", `./program attempt memory=; ulimit -v unlimited; ulimit -d unlimited`},
	{"much of the disk", `fallocate -l 4G /tmp/x; fallocate -l 4G $H/x; fallocate -l 4G /dev/shm/x; truncate -s 9000G x; ls -s /tmp $H /dev/shm`},
	{"memory of others", `ipcs; ipcrm -a; ./program attempt shared=4711; ls /dev/mqueue /dev/shm`},
	// Sockets and networks.
	{"sockets by their name", `eval ./program attempt $SOCKETS`},
	{"sockets of the shell", `for a in 127.0.0.1 localhost ::1; do (exec 3<>/dev/tcp/$a/$TCP; cat <&3); echo x >/dev/udp/$a/$UDP; done`},
	{"programs of the network", `curl -m1 http://127.0.0.1:$TCP; wget -T1 -t1 http://127.0.0.1:$TCP; nc -w1 127.0.0.1 $TCP </dev/null; ping -c1 -W1 127.0.0.2; getent hosts example.org; ip addr add 10.9.8.7/8 dev lo; ./program attempt raw=`},
	{"sockets that know of no network", `./program attempt socket=40 socket=38 socket=31 socket=17 socket=29 socket=30`},
	{"sockets of known programs", `ls /run/user /run/dbus /tmp/.X11-unix /tmp/ssh-* /run/docker.sock /var/run/docker.sock /run/systemd/private; docker ps; DBUS_SESSION_BUS_ADDRESS=unix:path=$W/run/bus dbus-send --session --dest=x /; emacsclient -s $W/run/emacs/server -e '(kill-emacs)'; SSH_AUTH_SOCK=$W/ssh-XY/agent.1 ssh-add -l`},
	{"what was left open", `for fd in $(seq 3 30); do echo x >&$fd; timeout 0.01 cat <&$fd; done`},
	{"the terminal of the person", `echo x >/dev/tty; stty -a </dev/tty; ./program attempt type=/dev/tty type=/dev/ptmx; for f in /dev/pts/[0-9]* /dev/tty[0-9]*; do echo x >$f; done`},
	{"the environment of the person", `env | grep -a 'EMACS\|SSH_\|DBUS\|DISPLAY\|TOKEN\|KEY\|XDG'; tr '\0' '\n' </proc/1/environ`},
}

// TestNoEscape checks that no attempt has a visible effect outside: no changed file, no connection
// to a listener, no process that is left.
func TestNoEscape(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWitness(t)
	for _, e := range escapes {
		output, _ := w.run(t, kind, e.script, false)
		if seen := w.check(t, output); seen != "" {
			t.Errorf("%s: %s\n%s", e.name, seen, output)
		}
		for line := range strings.Lines(output) {
			if strings.HasSuffix(line, "\tdone\n") || strings.HasSuffix(line, "\tnobody knows how\n") || line == "out\n" {
				t.Errorf("%s: inside it went well: %s", e.name, line)
			}
		}
	}
}

// TestNoEscapeByNetwork checks that a command with the network reaches no socket of this machine.
func TestNoEscapeByNetwork(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWitness(t)
	for _, socket := range w.sockets {
		output, _ := w.run(t, kind, "./program attempt "+quoted(socket), true)
		if w.connections(t) > 0 {
			t.Errorf("%s: it came\n%s", socket, output)
		}
	}
	for _, e := range escapes[13:20] {
		output, _ := w.run(t, kind, e.script, true)
		if seen := w.check(t, output); seen != "" {
			t.Errorf("%s: %s\n%s", e.name, seen, output)
		}
	}
}

// TestWitness checks that the witness sees the same attempts when they are made outside, so that
// the tests above can fail.
func TestWitness(t *testing.T) {
	w := newWitness(t)
	for script, want := range map[string]string{
		`cat $W/state/token`:                           "read what is secret",
		`echo x >>$H/.bashrc`:                          "home/.bashrc is",
		`echo x >$W/beside/new`:                        "there is beside/new",
		`rm $H/.authinfo`:                              "home/.authinfo is",
		`chmod 777 $W/state/token`:                     "state/token is",
		`echo x >>.git/hooks/pre-commit`:               "project/.git/hooks/pre-commit is",
		`cp /bin/true s; chmod u+s s`:                  "there is project/s",
		`(exec 3<>/dev/tcp/127.0.0.1/$TCP)`:            "it came to a listener",
		`echo x >/dev/udp/127.0.0.1/$UDP`:              "it came to a listener",
		`./program attempt unix=@$W/dbus-1`:            "it came to a listener",
		`setsid sleep $MARK >/dev/null 2>&1 & sleep 0`: "are left",
	} {
		command := exec.Command("/bin/bash", "-c", w.words(script))
		command.Dir = w.project
		output, err := command.CombinedOutput()
		seen := ""
		eventually(t, script+" is seen", func() bool {
			seen = w.check(t, string(output))
			return seen != ""
		})
		if !strings.Contains(seen, want) {
			t.Errorf("%s: %v, %s, and of it is seen %q", script, err, output, seen)
		}
		for _, pid := range processesWith(w.mark) {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
		eventually(t, "it has ended", func() bool { return len(processesWith(w.mark)) == 0 })
		_ = os.Remove(filepath.Join(w.project, "s"))
		w.files = w.look(t)
	}
}

// TestFilteredCalls checks that programs still have what they need of the filtered calls.
func TestFilteredCalls(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	for script, want := range map[string]string{
		`touch a; chmod 755 a; chmod u+rwx,g-w a; stat -c %a a`:             "755\n",
		`mkdir -m 700 d; stat -c %a d; install -m 600 /bin/true d/t; ls d`:  "700\nt\n",
		`umask 022; echo x >f; stat -c %a f; cp -p f g; stat -c %a g`:       "644\n644\n",
		`chmod u+s g 2>/dev/null || echo refused; chmod 1777 d && echo yes`: "refused\nyes\n",
		`stty size </dev/null 2>/dev/null || echo none`:                     "none\n",
		`(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -o refused | head -1`:   "refused\n",
		`set -o pipefail; seq 3 | sort -r | head -1; wait`:                  "3\n",
		`tar cf t.tar f && mkdir x && tar xf t.tar -C x && cat x/f`:         "x\n",
	} {
		directory := resolved(t)
		if err := os.WriteFile(filepath.Join(directory, "f"), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(script, "chmod u+s g") {
			script = "cp f g; mkdir d; " + script
		}
		output, outcome := run(t, kind, sandbox.Command{Text: script, Directory: directory, Home: "/root", Writes: true})
		if output != want || outcome.Status != 0 {
			t.Errorf("%s: %s, %q", script, outcome, output)
		}
	}
}

// TestFloods checks that endless work of a command ends with it, within its time.
func TestFloods(t *testing.T) {
	kind := look(t)
	if !kind.Fenced() {
		return
	}
	w := newWitness(t)
	for _, script := range []string{
		`while :; do sleep $MARK & done`,
		`while :; do mkdir -p /tmp/d/d && cd /tmp/d; echo x >$RANDOM$RANDOM; done`,
		`yes $MARK >/dev/null & yes $MARK >/dev/null & trap '' TERM; while :; do :; done`,
	} {
		text := fmt.Sprintf("(sleep 0.4; kill -9 -1) & ulimit -u 600; %s", script)
		begun := time.Now()
		output, _ := w.run(t, kind, text, false)
		if seen := w.check(t, ""); seen != "" {
			t.Errorf("%s: %s\n%.500s", script, seen, output)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: it took %s", script, took)
		}
	}
}
