export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The script of a shell: every Tab asks `sluice complete`, so it knows the version that is installed. */
export function completionScript(shell: (typeof SHELLS)[number]): string {
  return SCRIPTS[shell]
}

const BASH = String.raw`# Completion of sluice for bash.
# Put  source <(sluice completion bash)  into ~/.bashrc.
_sluice() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
    sluice complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  # A folder is not the end of a path.
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace
  return 0
}
complete -o nosort -F _sluice sluice 2>/dev/null || complete -F _sluice sluice
`.replaceAll('\\$', '$')

const ZSH = String.raw`#compdef sluice
# Put  source <(sluice completion zsh)  into ~/.zshrc, after compinit.
_sluice() {
  local line value
  local -a values shown folders
  while IFS= read -r line; do
    value="\${line%%$'\t'*}"
    if [[ $value == */ ]]; then
      folders+=("$value")
    elif [[ $line == *$'\t'* ]]; then
      values+=("$value"); shown+=("$value  \${line#*$'\t'}")
    else
      values+=("$value"); shown+=("$value")
    fi
  done < <(sluice complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#folders )) && compadd -S '' -- "\${folders[@]}"
  (( $#values )) && compadd -l -d shown -- "\${values[@]}"
}
(( $+functions[compdef] )) && compdef _sluice sluice
`.replaceAll('\\$', '$')

const FISH = `# Completion of sluice for fish.
# Put it there:  sluice completion fish > ~/.config/fish/completions/sluice.fish
complete -c sluice -f -a '(sluice complete fish -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH }
