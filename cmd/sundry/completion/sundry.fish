# Completion of sundry for fish: sundry completion fish > ~/.config/fish/completions/sundry.fish

function __sundry_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l candidates ($words[1] __complete $words[2..] "$current" 2>/dev/null)
    if test (count $candidates) -eq 0
        __fish_complete_path $current
    else
        printf '%s\n' $candidates
    end
end
complete -c sundry -f -a '(__sundry_complete)'
