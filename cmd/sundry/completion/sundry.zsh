#compdef sundry
# Completion of sundry for zsh: source <(sundry completion zsh), after compinit

_sundry() {
    local -a described
    local line word help
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z $line ]] && continue
        word=${line%%$'\t'*}
        help=${${line#"$word"}#$'\t'}
        word=${word//:/\\:}${help:+:$help}
        described+=("$word")
    done
    if (( $#described )); then
        _describe -t values sundry described
    else
        _files
    fi
}

if [[ $funcstack[1] == _sundry ]]; then
    _sundry "$@"
else
    compdef _sundry sundry
fi
