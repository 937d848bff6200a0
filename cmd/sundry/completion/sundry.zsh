#compdef sundry
# Completion of sundry for zsh: source <(sundry completion zsh), after compinit

_sundry() {
    local -a described undivided
    local line word help
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z $line ]] && continue
        word=${line%%$'\t'*}
        help=${${line#"$word"}#$'\t'}
        word=${word//:/\\:}${help:+:$help}
        if [[ ${line%%$'\t'*} == *= ]]; then
            undivided+=("$word")
        else
            described+=("$word")
        fi
    done
    if (( ! $#described && ! $#undivided )); then
        _files
        return
    fi
    (( $#described )) && _describe -t values sundry described
    (( $#undivided )) && _describe -t parameters parameter undivided -S ''
}

if [[ $funcstack[1] == _sundry ]]; then
    _sundry "$@"
else
    compdef _sundry sundry
fi
