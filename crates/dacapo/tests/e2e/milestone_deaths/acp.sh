# agent.sh behind the Agent Client Protocol, as far as it takes: acp.sh ROLE DESK
# A conversation that is opened again, or goes on, is told to it as the one to go on in.
unset RUNNER_DIES_AT
role=$1 desk=$2 goes_on=
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
# The text of a field on the line; a newline in it is still \n.
field() {
    value=${line#*\""$1"\":\"}
    printf '%s' "${value%%\"*}"
}
while IFS= read -r line; do
    id=${line#*\"id\":}
    id=${id%%[,\}]*}
    case $line in
    *'"method":"initialize"'*)
        answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
        ;;
    *'"method":"session/new"'*)
        cd "$(field cwd)" || exit 1
        session=$role-$$
        answer "{\"sessionId\":\"$session\"}"
        ;;
    *'"method":"session/load"'*)
        cd "$(field cwd)" || exit 1
        session=$(field sessionId) goes_on=$session
        answer '{}'
        ;;
    *'"method":"session/prompt"'*)
        text=$(printf '%s\n' "$line" | sed 's/\\n/\n/g' |
            sh "${0%/*}/agent.sh" "$role" "$desk" acp --resume "$goes_on")
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$session" "$text"
        answer '{"stopReason":"end_turn"}'
        goes_on=$session
        ;;
    esac
done
