# Completion of sundry for bash: source <(sundry completion bash)

_sundry() {
    local line=${COMP_LINE:0:COMP_POINT} words current candidate
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        # bash replaces what follows the last = or : only.
        COMPREPLY+=("${candidate#"${current%"${current##*[=:]}"}"}")
    done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _sundry sundry
