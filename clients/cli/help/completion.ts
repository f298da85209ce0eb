import { readdirSync } from 'node:fs'
import { Argument, type Command } from 'commander'
import * as z from 'zod'
import { findLogin } from '../place/local-login.ts'
import { findProjectPlace } from '../place/project-place.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine } from '../terminal/text.ts'
import type { Choice, Wants } from './completion-choices.ts'

type Shell = (typeof SHELLS)[number]

/** `sluice completion SHELL`, and the hidden command its script asks at every Tab. */
export function addCompletion(root: Command, session: Session): void {
  root
    .command('completion')
    .description('print the script that lets Tab complete commands, options, files and run ids')
    .addArgument(new Argument('<shell>', 'the shell you use').choices(SHELLS))
    .action((shell: Shell) => session.write(completionScript(shell)))
  root
    .command('complete', { hidden: true })
    .description('what Tab offers: asked by the script of `completion`')
    .addArgument(new Argument('<shell>', 'which script asks').choices(SHELLS))
    .argument('[words...]', 'the words of the line after `sluice`, the last one not ended')
    .action((shell: Shell, words: readonly string[]) => complete(root, session, shell, words))
}

/** A line each; where the shell can show it, what it is after a tab. bash replaces only what stands after a `=`. */
async function complete(root: Command, session: Session, shell: Shell, words: readonly string[]): Promise<void> {
  const { completionsOf } = await import('./completion-choices.ts')
  const joined = joinedWords(words)
  const { choices, wants, partial, prefix } = completionsOf(root, joined)
  const found = [
    ...choices,
    ...(wants?.files === undefined ? [] : fileChoices(partial, wants.files)),
    ...(wants?.runs === true ? await runChoices(session) : []),
  ]
  for (const { value, says = '' } of found.filter((one) => one.value.startsWith(partial))) {
    const whole = shell === 'bash' ? value : `${prefix}${value}`
    session.say(shell === 'bash' || says === '' ? whole : `${whole}\t${oneLine(says)}`)
  }
}

/** bash takes `--status=fa` for three words. */
function joinedWords(words: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const [i, word] of words.entries()) {
    const last = joined.at(-1)
    const isValue = words[i - 1] === '=' && last?.endsWith('=') === true
    if (last !== undefined && ((word === '=' && /^--[a-z-]+$/.test(last)) || isValue)) joined.splice(-1, 1, last + word)
    else joined.push(word)
  }
  return joined
}

/** Somebody waits at a prompt; a server on a busy machine may still need more than a blink. */
const PATIENCE_MS = 2_000

const RunsSchema = z.looseObject({
  runs: z.array(z.looseObject({ run_id: z.string(), dag_name: z.string(), state: z.string() })),
})

/** The newest runs of the server, if it answers at once; no server is no error here. */
async function runChoices(session: Session): Promise<readonly Choice[]> {
  const request = { params: { query: { limit: 50 } }, signal: AbortSignal.timeout(PATIENCE_MS) }
  const place = await findProjectPlace()
  const login = findLogin(session.settings.url ?? place.url, place.dataDir)
  const here = { ...session, place, ...(login && { login }) }
  const answer = await callApi(chooseTarget(here), RunsSchema, (api) => api.GET('/api/dag/runs', request)).catch(
    () => undefined,
  )
  return (answer?.runs ?? []).map(({ run_id, dag_name, state }) => ({ value: run_id, says: `${dag_name}, ${state}` }))
}

const KINDS: Readonly<Record<NonNullable<Wants['files']>, RegExp>> = {
  documents: /\.(ya?ml|json|ndjson|ipynb|md)$/i,
  any: /./,
  folders: /\/$/,
}

/** Entries of the folder the typed beginning names; a folder ends in `/`. Hidden ones only after a dot. */
function fileChoices(partial: string, kind: NonNullable<Wants['files']>): readonly Choice[] {
  const folder = partial.slice(0, partial.lastIndexOf('/') + 1)
  const begun = partial.slice(folder.length)
  return entriesOf(folder)
    .filter((name) => name.startsWith(begun) && (begun.startsWith('.') || !name.startsWith('.')))
    .filter((name) => name.endsWith('/') || KINDS[kind].test(name))
    .map((name) => ({ value: `${folder}${name}` }))
}

function entriesOf(folder: string): readonly string[] {
  try {
    const found = readdirSync(folder === '' ? '.' : folder, { withFileTypes: true })
    return found.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort()
  } catch {
    return []
  }
}

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** The script of a shell: every Tab asks `sluice complete`, so it knows the version that is installed. */
function completionScript(shell: (typeof SHELLS)[number]): string {
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
