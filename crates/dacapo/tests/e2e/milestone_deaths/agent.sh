# Both agents of a milestone: agent.sh ROLE DESK FORMAT [--resume SESSION]
# FORMAT is text, rehearsal, or acp, where acp.sh says what is printed here.
#
# Whatever they do is settled by the round and by what lies in the tree, so that a turn that is had again comes to the
# same. They do nothing that they were not told: a tree is put in order only where the prompt asks for it. Each turn has
# a folder on the desk: what it was told, and in which session. A script ROLE.ROUND.sh on the desk is what happens to the
# first such turn instead of its work; it is read from the point that its name on the first line says.
unset RUNNER_DIES_AT
role=$1 desk=$2 format=$3 session=$5
told=$(cat)
turn=0
while ! mkdir "$desk/$turn" 2>/dev/null; do turn=$((turn + 1)); done
round=${told#*Round }
round=${round%% of*}
printf '%s\n' "$told" > "$desk/$turn/told"
echo "$role $round ${session:-new}" > "$desk/$turn/who"

event() { if [ "$format" = rehearsal ]; then printf '%s\n' "$1"; fi; }
event "{\"kind\":\"session\",\"session_id\":\"${session:-$role-$turn}\"}"

# The text has \n for its line ends, as both formats want it.
reply() {
    if [ "$format" = rehearsal ]; then
        event "{\"kind\":\"usage\",\"tokens\":{\"input\":10,\"output\":5}}"
        event "{\"kind\":\"text\",\"text\":\"$1\"}"
        event '{"kind":"end","reason":"end_turn"}'
    elif [ "$format" = acp ]; then
        printf '%s' "$1"
    else
        printf '%b\n' "$1"
    fi
    exit 0
}

# What this turn was to meet, if it has come to that point.
meets() {
    accident=$desk/$role.$round.sh
    if [ "$(head -n 1 "$accident" 2>/dev/null)" = "# $1" ] && mkdir "$accident.met" 2>/dev/null; then
        . "$accident"
    fi
}
# The moment to be killed in.
stay() { touch "$desk/ready"; sleep 1000; }

is_told() { case $told in *"$1"*) ;; *) false ;; esac; }
commit() { git add -A && git -c maintenance.auto=false commit -qm "$1"; }

meets begin
if [ "$role" = acceptor ]; then
    if [ -e "$desk/strict" ]; then reply "REJECTED: never in round $round"; fi
    if [ "$round" -ge 4 ]; then reply 'ACCEPTED\nC-1: met'; fi
    if grep -qs bad two; then reply 'REJECTED: two is bad\n- two says bad'; fi
    reply ACCEPTED
fi

if is_told '## First put the tree in order'; then
    for lock in index.lock HEAD.lock; do
        if is_told "$lock: remove it"; then rm -f "$(git rev-parse --git-path $lock)"; fi
    done
    if is_told 'HEAD is on'; then git checkout -q milestone/m; fi
    if is_told 'are not committed'; then git reset -q --hard; git clean -fdq; fi
    meets cleaned
fi
if is_told 'Only put the tree in order'; then reply 'It is in order.'; fi

# An earlier try of this round may have come as far as its commit.
build() {
    if ! git log --format=%s main.. | grep -qxF "$3"; then
        echo "$2" > "$1"
        meets built
        commit "$3"
    fi
    meets committed
    reply "## Implementation Report — Round $round\n\n**Feature**: $4\n**Commit**: $(git log -1 --format=%h --grep="^$3\$")\n**Tests**: 1 passed, 0 failed\n**Lint**: clean\n\n### Changes\n- $1: $2"
}
case $round in
1) build one good 'feat: one' F-1 ;;
2) build two bad 'feat: two' F-2 ;;
3) build two good 'fix: two' F-2 ;;
*) reply "## ALL_FEATURES_COMPLETE\n\n### Commits\n$(git log --format='- %h: %s\n' main.. | tr -d '\n')\n### Summary\nBoth." ;;
esac
