import { Argument, type Command } from 'commander'
import { completionScript, SHELLS } from './completion-scripts.ts'
import { fileChoices } from './file-choices.ts'
import { oneLine } from './plain-text.ts'
import { runChoices } from './run-choices.ts'
import type { Session } from './session.ts'

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
  const { completionsOf } = await import('./completions-of.ts')
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
