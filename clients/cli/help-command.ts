import type { Command } from 'commander'
import { suggest } from '../../shared/dag/suggest.ts'
import { type Refused, usage } from './refused.ts'

/** `sluice help run start`: the words of any command, however deep. */
export function addHelp(sluice: Command): void {
  sluice
    .helpCommand(false)
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'as in `sluice help run start`')
    .action((words: readonly string[]) => {
      let found = sluice
      for (const word of words) {
        const next = found.commands.find((one) => one.name() === word)
        if (next === undefined) throw noCommand(found, words, word)
        found = next
      }
      found.outputHelp()
    })
}

function noCommand(group: Command, words: readonly string[], word: string): Refused {
  const known = group.createHelp().visibleCommands(group)
  const near = suggest(
    word,
    known.map((one) => one.name()),
  )
  const hint = near === undefined ? '`sluice --help` lists them.' : `Did you mean "${near}"?`
  return usage(`There is no command "${words.join(' ')}". ${hint}`)
}
